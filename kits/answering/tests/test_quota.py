"""Quota: the app's own, asked freshly before each generation and repair."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace as Kit

import pytest

from flowcore import Budget, current_scope
from flowcore_answering import AnswerItem, ItemDraft, Review, answer_flow


@pytest.mark.behaviour("S2-60")
async def test_no_quota_at_the_start_leads_to_the_fallback(kit: Kit) -> None:
    generate, quota = kit.Port(kit.drafts()), kit.Quota(False)
    flow = answer_flow(generate=generate, fallback=kit.Port(kit.words()), can_invoke=quota)
    run = await kit.run(flow, kit.state("a"))
    assert run.trace.path == "prepare > fallback > finalize"
    assert (generate.calls, quota.asked) == ([], [{"requests": 0, "rounds": 1}])
    assert (run.value.items[0].status, run.value.items[0].reason) == ("fallback", "no quota")


@pytest.mark.behaviour("S2-60")
async def test_the_quota_is_asked_freshly_each_time(kit: Kit) -> None:
    repair, quota = kit.Port(kit.drafts("a")), kit.Quota(True, True, False)
    flow = answer_flow(
        generate=kit.Port(kit.drafts("a")), repair=repair, max_repairs=9, requests=2, can_invoke=quota
    )
    run = await kit.run(flow, kit.state("a"))
    assert quota.asked == [{"requests": 2, "rounds": 1}] * 3
    assert len(repair.calls) == 1
    assert run.trace.path == "prepare > generate > check > repair > check > fallback > finalize"


@pytest.mark.behaviour("S2-60")
async def test_after_a_review_the_quota_is_asked_too(kit: Kit) -> None:
    quota, repair = kit.Quota(True, False), kit.Port(kit.drafts())
    review = kit.Port(kit.verdicts(a=Review.failed("wrong")))
    flow = answer_flow(generate=kit.Port(kit.drafts()), repair=repair, review=review, can_invoke=quota)
    run = await kit.run(flow, kit.state("a"))
    assert run.trace.path == "prepare > generate > check > review > fallback > finalize"
    assert (len(quota.asked), repair.calls) == (2, [])


@pytest.mark.behaviour("S2-60")
async def test_the_quota_is_not_asked_when_nothing_needs_it(kit: Kit) -> None:
    quota = kit.Quota(True)
    flow = answer_flow(
        generate=kit.Port(kit.drafts()),
        repair=kit.Port(kit.drafts()),
        review=kit.Port(kit.verdicts()),
        can_invoke=quota,
    )
    await flow.run(kit.state(kit.item("a", "denied")))
    assert quota.asked == []
    await flow.run(kit.state("a"))
    assert len(quota.asked) == 1


@pytest.mark.behaviour("S2-60", "S2-61")
@pytest.mark.parametrize(("limit", "repairs"), [(0, 0), (1, 0), (2, 1), (3, 1)])
async def test_the_scope_of_the_run_is_the_quota(kit: Kit, limit: int, repairs: int) -> None:
    async def generate(items: Sequence[AnswerItem]) -> Sequence[ItemDraft]:
        current_scope().charge(requests=1)
        return [kit.poor(each.id) for each in items]

    async def repair(items: Sequence[AnswerItem], *_: object) -> Sequence[ItemDraft]:
        return await generate(items)

    flow = answer_flow(generate=generate, repair=repair, requests=1)
    run = await kit.run(flow, kit.state("a"), budget=Budget(requests=limit))
    assert run.usage.requests == min(limit, 2)
    assert run.usage.rounds == min(limit, 1 + repairs)
    assert kit.statuses(run.value) == {"a": "blocked"}


@pytest.mark.behaviour("S2-61")
async def test_the_kit_spends_nothing_but_rounds(kit: Kit) -> None:
    flow = answer_flow(
        generate=kit.Port(kit.drafts("a")), repair=kit.Port(kit.drafts()), review=kit.Port(kit.verdicts())
    )
    run = await kit.run(flow, kit.state("a"), budget=Budget(requests=0, tool_calls=0, tokens=0, cost=0))
    used = run.usage
    assert (used.rounds, used.requests, used.tool_calls, used.tokens, used.cost) == (2, 0, 0, 0, 0)
    assert kit.statuses(run.value) == {"a": "answered"}
