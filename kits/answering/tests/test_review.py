"""Review: three verdicts, and a failure that sticks."""

from __future__ import annotations

from types import SimpleNamespace as Kit

import pytest

from flowcore_answering import Review, answer_flow

AWAY, FAILED = Review.unavailable("closed"), Review.failed("wrong")


@pytest.mark.behaviour("S2-63")
@pytest.mark.parametrize("unreviewed", ["accept", "fallback"])
async def test_a_failed_item_cannot_pass_because_the_reviewer_went_away(kit: Kit, unreviewed: str) -> None:
    review = kit.Port(kit.verdicts(a=FAILED), kit.verdicts(a=AWAY))
    flow = answer_flow(
        generate=kit.Port(kit.drafts()), repair=kit.Port(kit.drafts()), review=review, unreviewed=unreviewed
    )
    run = await kit.run(flow, kit.state("a", "b"))
    assert review.asked == [["a", "b"], ["a"]]
    assert kit.statuses(run.value) == {"a": "blocked", "b": "answered"}
    assert run.value.items[0].reason == "review failed: wrong"


async def test_a_rejection_is_lifted_by_a_pass_even_after_the_reviewer_was_away(kit: Kit) -> None:
    review = kit.Port(kit.verdicts(a=FAILED), kit.verdicts(a=AWAY), kit.verdicts())
    repair = kit.Port(kit.drafts())
    flow = answer_flow(generate=kit.Port(kit.drafts()), repair=repair, review=review, max_repairs=2)
    run = await kit.run(flow, kit.state("a"))
    assert [faults["a"] for _, _, faults in repair.calls] == [("wrong",), ("wrong",)]
    assert kit.statuses(run.value) == {"a": "answered"}


@pytest.mark.behaviour("S2-64")
@pytest.mark.parametrize(
    ("verdict", "unreviewed", "status"),
    [
        (Review.passed(), "fallback", "answered"),
        (Review.passed(), "accept", "answered"),
        (FAILED, "fallback", "blocked"),
        (FAILED, "accept", "blocked"),
        (AWAY, "fallback", "blocked"),
        (AWAY, "accept", "answered"),
    ],
)
async def test_three_verdicts(kit: Kit, verdict: Review, unreviewed: str, status: str) -> None:
    review = kit.Port(kit.verdicts(a=verdict))
    flow = answer_flow(generate=kit.Port(kit.drafts()), review=review, unreviewed=unreviewed)
    assert kit.statuses(await flow.run(kit.state("a"))) == {"a": status}


@pytest.mark.behaviour("S2-64")
async def test_an_item_that_was_not_looked_at_is_not_repaired_but_asked_about_again(kit: Kit) -> None:
    review = kit.Port(kit.verdicts(a=AWAY, b=FAILED), kit.verdicts())
    repair = kit.Port(kit.drafts())
    run = await kit.run(
        answer_flow(generate=kit.Port(kit.drafts()), repair=repair, review=review), kit.state("a", "b", "c")
    )
    assert (review.asked, repair.asked) == ([["a", "b", "c"], ["a", "b"]], [["b"]])
    assert set(kit.statuses(run.value).values()) == {"answered"}


async def test_only_drafts_that_passed_the_check_are_reviewed(kit: Kit) -> None:
    review = kit.Port(kit.verdicts())
    await answer_flow(generate=kit.Port(kit.drafts("b")), review=review).run(
        kit.state("a", "b", kit.item("c", "denied"))
    )
    assert review.asked == [["a"]]
    assert review.calls[0][1] == {"a": kit.draft("a")}


async def test_an_item_that_the_reviewer_left_out_was_not_looked_at(kit: Kit) -> None:
    flow = answer_flow(generate=kit.Port(kit.drafts()), review=kit.Port({}))
    run = await kit.run(flow, kit.state("a"))
    assert run.value.items[0].reason == "review unavailable: the reviewer left it out"
