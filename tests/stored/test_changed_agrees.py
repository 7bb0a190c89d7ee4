"""What a comparison of two flows says of stored runs is what becomes of them: tried at every place of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.stored.test_changed import Leaving

from flowcore import Budget, Complete, Continue, Flow, Reserve, Step, approve, each, node, parallel
from flowcore.diff import diff_flows
from flowcore.errors import FlowChanged
from flowcore.recording import flow_data
from flowcore.runtime.opening import codec_of, lenient_codec_of
from flowcore.runtime.taking_up import TakenUp
from flowcore.store import MemoryRunStore, Stored


@dataclass
class Work:
    n: int = 0
    log: list[str] = field(default_factory=list[str])


@dataclass
class Part:
    x: int = 0


class Crash(BaseException):
    """The process is gone."""


DIES: set[str] = set()


def work(id: str, **options: Any) -> Any:
    @node(id=id, **options)
    async def fn(step: Step[Work]) -> Continue:
        if step.path in DIES:
            for _ in range(20 if id == "r" else 0):  # the branch beside it ends first
                await anyio.lowlevel.checkpoint()
            raise Crash
        return Continue()

    return fn


def part(id: str, *, last: bool = False) -> Any:
    async def fn(step: Step[Part]) -> Any:
        if step.path in DIES:
            raise Crash
        return Complete(step.state.x) if last else Continue()

    fn.__annotations__["return"] = Complete[int] if last else Continue
    return node(id=id)(fn)


@node(id="end")
async def end(step: Step[Work]) -> Complete[int]:
    if step.path in DIES:
        raise Crash
    return Complete(step.state.n)


def show(state: Work) -> str:
    return "?"


def over(state: Work) -> list[Part]:
    return [Part(1), Part(2)]


def collect(draft: Work, found: list[int]) -> Continue:
    draft.n += sum(found)
    return Continue()


def enter(state: Work) -> Part:
    return Part(state.n)


def leave(draft: Work, found: int) -> Continue:
    draft.n += found
    return Continue()


def flow(**changes: Any) -> Flow[Any, Any, Any]:
    """Returns a flow with every kind of node, other than it usually is where `changes` says so."""
    known: dict[str, Any] = {
        "name": "whole",
        "begin": "begin",
        "charge": "charge",
        "effects": True,
        "one": "one",
        "two": "two",
        "branches": ("l", "r"),
        "join": "all",
        "items": "each",
        "denied": True,
        "finish": True,
        "extra": False,
        "former": {},
        "call": "call",
        **changes,
    }

    def former(made: Any) -> Any:
        old = known["former"].get(made.id)
        return made.renamed_from(old) if old else made

    first, last = former(part(known["one"])), former(part(known["two"], last=True))
    inner = Flow("part", first.to(last), last)
    begin, charge = work(known["begin"]), work(known["charge"], effects=known["effects"])
    call: Any = inner.as_node(known["call"], state=Work, enter=enter, leave=leave)
    items: Any = each("items", over=over, do=inner, collect=collect, limit=1)
    if known["items"] == "function":
        items = work("items")
    fan: Any = parallel("fan", *(former(work(id)) for id in known["branches"]), join=known["join"])
    extra = work("extra")
    consent: Any = approve("consent", show=show)
    told = {"denied": end, "expired": end} if known["denied"] == "both" else {"denied": end}
    rows = [
        former(begin).to(charge),
        former(charge).to(call),
        former(call).to(items),
        items.to(fan),
        fan.to(extra if known["extra"] else consent),
        consent.to(approved=end, **told),
        end,
    ]
    if known["extra"]:
        rows.append(extra.to(consent))
    options: dict[str, Any] = {"finish": end, "reserve": Reserve(rounds=1)} if known["finish"] else {}
    return Flow(known["name"], *rows, **options)


NEVER_STOOD_AT = {"one": "uno"}
"""Nothing is written of a walk inside before its first visit has ended: it is begun anew."""
PLACES = [
    "begin#1", "charge#1", "call#1/one#1", "call#1/two#1", "items#1[0]/one#1", "items#1[1]/two#1", "fan#1/l#1",
    "fan#1/r#1", "consent#1", "end#1",
]  # fmt: skip

CHANGES: list[dict[str, Any]] = [
    {},
    {"name": "other"},
    {"begin": "start"},
    {"begin": "start", "former": {"start": "begin"}},
    {"charge": "pay"},
    {"charge": "pay", "former": {"pay": "charge"}},
    {"effects": False},
    {"one": "uno"},
    {"one": "uno", "former": {"uno": "one"}},
    {"two": "due"},
    {"two": "due", "former": {"due": "two"}},
    {"call": "phone"},
    {"call": "phone", "former": {"phone": "call"}},
    {"branches": ("r", "l")},
    {"branches": ("l", "q")},
    {"branches": ("l", "q"), "former": {"q": "r"}},
    {"branches": ("l", "r", "more")},
    {"branches": ("l",)},
    {"join": "any"},
    {"join": 1},
    {"items": "function"},
    {"extra": True},
    {"denied": "both"},
]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


async def stored_at(made: Flow[Any, Any, Any], place: str) -> Stored:
    """Returns the record of a run whose process died at a place."""
    store: Any = MemoryRunStore()
    DIES.add(place)
    try:
        async with made.start(Work(), store=Leaving(store), run_id="run", budget=Budget(rounds=9)) as run:
            if place in ("consent#1", "end#1"):
                with anyio.fail_after(10):
                    while not run.requests:  # noqa: ASYNC110 - there is no event for it
                        await anyio.sleep(0.002)
                if place == "end#1":
                    await run.answer(None, True)
            if place == "consent#1":
                await run.pause()
            else:
                await run.wait()
    finally:
        DIES.clear()
    stored: Stored = await store.load("run")
    assert stored.run.end is None
    return stored


def is_refused(stored: Stored, today: Flow[Any, Any, Any]) -> bool:
    lenient_codec_of.cache_clear()
    try:
        TakenUp(stored, today.plan, codec_of(today.plan), last=0)
    except FlowChanged:
        return True
    return False


async def test_a_comparison_and_a_resume_agree() -> None:
    records: dict[str, tuple[Flow[Any, Any, Any], list[Stored]]] = {}
    for options in CHANGES:
        if not options.get("former"):
            names = [place for place in PLACES if _is_there(place, options)]
            records[repr(options)] = (
                flow(**options),
                [await stored_at(flow(**options), place) for place in names],
            )
    tried = 0
    for name, (old, stored) in records.items():
        for options in CHANGES:
            today = flow(**options)
            said = diff_flows(flow_data(old.plan), flow_data(today.plan)).breaking
            refused = [record for record in stored if is_refused(record, today)]
            assert said or not refused, (name, options, len(refused))
            if name == "{}" and options != NEVER_STOOD_AT:
                assert bool(said) == bool(refused), (options, said)
            tried += len(stored)
    assert tried > 2_000


def _is_there(place: str, options: dict[str, Any]) -> bool:
    names = {"begin": "begin", "charge": "charge", "call": "call", "one": "one", "two": "two"}
    given = {**names, **{key: value for key, value in options.items() if key in names}}
    return (
        all(f"{name}#" not in place or given[name] == name for name in names)
        and ("fan" not in place or options.get("branches", ("l", "r")) == ("l", "r"))
        and not (options.get("items") == "function" and "items" in place)
        and not ("join" in options and "/r#" in place)
    )
