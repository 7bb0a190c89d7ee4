"""Any outcomes of checks and reviews: the bounds hold, and nothing unchecked is delivered."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from types import SimpleNamespace as Kit
from typing import Any

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowcore import Budget
from flowcore_answering import AnswerItem, ItemDraft, Review, answer_flow

IDS = ("a", "b", "c")
PLAN = st.lists(st.sampled_from(["good", "poor", "missing"]), min_size=5, max_size=5)
VERDICTS = st.lists(st.sampled_from(["passed", "failed", "unavailable"]), min_size=5, max_size=5)


@dataclass
class World:
    """Ports that follow a plan for each item, and a note of what was said of each draft."""

    kit: Kit
    plans: dict[str, list[str]]
    verdicts: dict[str, list[str]]
    failing_round: int
    rounds: int = 0
    made: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    said: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    async def generate(self, items: Any) -> list[ItemDraft]:
        self.rounds += 1
        if self.rounds == self.failing_round:
            raise OSError("down")
        drafts = []
        for item in items:
            kind = self.plans[item.id].pop(0)
            if kind != "missing":
                self.made[item.id].append(kind)
                drafts.append(self.kit.draft(item.id) if kind == "good" else self.kit.poor(item.id))
        return drafts

    async def repair(self, items: Any, *_: Any) -> list[ItemDraft]:
        return await self.generate(items)

    async def review(self, items: Any, drafts: Any) -> dict[str, Review]:
        assert set(drafts) == {item.id for item in items}
        assert all(self.made[item.id][-1] == "good" for item in items)
        said = {}
        for item in items:
            verdict: Any = self.verdicts[item.id].pop(0)
            self.said[item.id].append(verdict)
            said[item.id] = Review(verdict=verdict)
        return said


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(
    plans=st.fixed_dictionaries(dict.fromkeys(IDS, PLAN)),
    verdicts=st.fixed_dictionaries(dict.fromkeys(IDS, VERDICTS)),
    failing_round=st.integers(0, 6),
    reviewed=st.booleans(),
    unreviewed=st.sampled_from(["accept", "fallback"]),
    max_repairs=st.integers(0, 4),
    budget=st.integers(0, 6),
    denied=st.sampled_from([(), ("b",), IDS]),
)
def test_whatever_happens(
    kit: Kit,
    anyio_backend: str,
    plans: dict[str, list[str]],
    verdicts: dict[str, list[str]],
    failing_round: int,
    reviewed: bool,
    unreviewed: Any,
    max_repairs: int,
    budget: int,
    denied: tuple[str, ...],
) -> None:
    world = World(kit, plans, verdicts, failing_round)
    flow = answer_flow(
        generate=world.generate,
        repair=world.repair,
        review=world.review if reviewed else None,
        fallback=kit.Port(kit.words("c")),
        unreviewed=unreviewed,
        max_repairs=max_repairs,
    )
    items: list[AnswerItem] = [kit.item(each, "denied" if each in denied else "ready") for each in IDS]

    async def run() -> Any:
        return await kit.run(flow, kit.state(*items), budget=Budget(rounds=budget))

    ran = anyio.run(run, backend=anyio_backend)
    repairs = max(0, world.rounds - 1)
    assert ran.usage.rounds == world.rounds
    assert repairs <= max_repairs
    assert world.rounds <= budget
    assert [each.item_id for each in ran.value.items] == list(IDS)
    for each in ran.value.items:
        if each.status == "answered":
            assert_may_be_delivered(world, each.item_id, reviewed, unreviewed, denied)


def assert_may_be_delivered(
    world: World, item_id: str, reviewed: bool, unreviewed: str, denied: tuple[str, ...]
) -> None:
    assert item_id not in denied
    assert world.made[item_id][-1] == "good"
    if reviewed:
        said = world.said[item_id]
        assert said[-1] == "passed" or (unreviewed == "accept" and said[-1] == "unavailable")
        after_failure = said[len(said) - said[::-1].index("failed") :] if "failed" in said else ["passed"]
        assert "passed" in after_failure
