"""Repair: local, bounded, and told what is wrong."""

from __future__ import annotations

from types import SimpleNamespace as Kit

import pytest

from flowcore import Budget
from flowcore_answering import Review, answer_flow


@pytest.mark.behaviour("S2-68")
async def test_only_the_failing_item_is_redone(kit: Kit) -> None:
    repair = kit.Port(kit.drafts(text="again"))
    generate = kit.Port(kit.drafts("b"))
    run = await kit.run(answer_flow(generate=generate, repair=repair), kit.state("a", "b", "c"))
    assert (generate.asked, repair.asked) == ([["a", "b", "c"]], [["b"]])
    first = {visit.node: visit.patch["drafts"] for visit in run.trace if "drafts" in visit.patch}
    assert list(first) == ["generate", "repair"]
    for item_id in "ac":
        assert first["repair"][item_id] == first["generate"][item_id]
        assert first["repair"][item_id].text is first["generate"][item_id].text
    assert [each.text for each in run.value.items] == ["a is good.", "b again", "c is good."]


async def test_the_repairer_is_told_what_is_wrong(kit: Kit) -> None:
    repair = kit.Port(kit.drafts())
    generate = kit.Port([kit.draft("a"), kit.poor("b")])
    review = kit.Port(kit.verdicts(a=Review.failed("not what was asked")), kit.verdicts())
    run = await kit.run(answer_flow(generate=generate, repair=repair, review=review), kit.state("a", "b", "c"))
    items, drafts, faults = repair.calls[0]
    assert [each.id for each in items] == ["a", "b", "c"]
    assert drafts == {"a": kit.draft("a"), "b": kit.poor("b")}
    assert faults == {
        "a": ("not what was asked",),
        "b": ("cites none of its evidence",),
        "c": ("missing from the reply",),
    }
    assert set(kit.statuses(run.value).values()) == {"answered"}


async def test_reviews_come_first_so_that_one_repair_redoes_all_that_fails(kit: Kit) -> None:
    repair, generate = kit.Port(kit.drafts()), kit.Port(kit.drafts("b"))
    review = kit.Port(kit.verdicts(a=Review.failed("wrong")), kit.verdicts())
    run = await kit.run(answer_flow(generate=generate, repair=repair, review=review), kit.state("a", "b", "c"))
    path = "prepare > generate > check > review > repair > check > review > finalize"
    assert run.trace.path == path
    assert (repair.asked, review.asked) == ([["a", "b"]], [["a", "c"], ["a", "b"]])


@pytest.mark.behaviour("S2-59")
@pytest.mark.parametrize(("most", "rounds", "repairs"), [(1, 9, 1), (0, 9, 0), (3, 9, 3), (5, 2, 1), (5, 1, 0)])
async def test_the_tighter_of_max_repairs_and_rounds_wins(kit: Kit, most: int, rounds: int, repairs: int) -> None:
    repair, fallback = kit.Port(kit.drafts("a")), kit.Port(kit.words())
    flow = answer_flow(generate=kit.Port(kit.drafts("a")), repair=repair, fallback=fallback, max_repairs=most)
    run = await kit.run(flow, kit.state("a", "b"), budget=Budget(rounds=rounds))
    assert len(repair.calls) == repairs
    assert run.usage.rounds == 1 + repairs
    assert fallback.asked == [["a"]]
    assert kit.statuses(run.value) == {"a": "fallback", "b": "answered"}


async def test_without_a_repairer_nothing_is_repaired(kit: Kit) -> None:
    run = await kit.run(answer_flow(generate=kit.Port(kit.drafts("a")), max_repairs=3), kit.state("a", "b"))
    assert run.trace.path == "prepare > generate > check > fallback > finalize"
    assert kit.statuses(run.value) == {"a": "blocked", "b": "answered"}


async def test_a_missing_item_is_repaired(kit: Kit) -> None:
    repair = kit.Port(kit.drafts())
    run = await kit.run(answer_flow(generate=kit.Port([kit.draft("b")]), repair=repair), kit.state("a", "b"))
    assert (repair.asked, repair.calls[0][1]) == ([["a"]], {})
    assert kit.statuses(run.value) == {"a": "answered", "b": "answered"}


async def test_an_item_that_stays_missing_falls_back(kit: Kit) -> None:
    flow = answer_flow(generate=kit.Port([]), repair=kit.Port([]), fallback=kit.Port(kit.words()))
    run = await kit.run(flow, kit.state("a"))
    assert run.trace.path == "prepare > generate > check > repair > check > fallback > finalize"
    assert run.value.items[0].reason == "missing from the reply"


async def test_a_failed_repair_leaves_the_accepted_answers_in_place(kit: Kit) -> None:
    flow = answer_flow(
        generate=kit.Port(kit.drafts("b")), repair=kit.Port(OSError("down")), fallback=kit.Port(kit.words())
    )
    run = await kit.run(flow, kit.state("a", "b"))
    assert run.trace.path == "prepare > generate > check > repair! > fallback > finalize"
    assert kit.statuses(run.value) == {"a": "answered", "b": "fallback"}
    assert run.value.items[1].reason == "cites none of its evidence; ended by OSError"
    assert run.usage.rounds == 2
