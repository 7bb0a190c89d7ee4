"""Sources that are not ready, and what is said instead of an answer: the app's words or nothing."""

from __future__ import annotations

from types import SimpleNamespace as Kit

import pytest

from flowcore_answering import Citation, ItemAnswer, ItemDraft, answer_flow


@pytest.mark.behaviour("S2-62")
async def test_what_is_not_ready_is_neither_generated_nor_repaired(kit: Kit) -> None:
    generate, repair, fallback = kit.Port(kit.drafts("b")), kit.Port(kit.drafts()), kit.Port(kit.words())
    review = kit.Port(kit.verdicts())
    flow = answer_flow(generate=generate, repair=repair, review=review, fallback=fallback)
    items = ["a", kit.item("p", "pending"), "b", kit.item("f", "failed"), kit.item("d", "denied")]
    run = await kit.run(flow, kit.state(*items))
    assert (generate.asked, repair.asked, fallback.asked) == ([["a", "b"]], [["b"]], [["p", "f", "d"]])
    assert review.asked == [["a"], ["b"]]
    assert [(each.item_id, each.status, each.reason) for each in run.value.items] == [
        ("a", "answered", ""),
        ("p", "fallback", "source pending"),
        ("b", "answered", ""),
        ("f", "fallback", "source failed"),
        ("d", "fallback", "source denied"),
    ]


@pytest.mark.behaviour("S2-72")
async def test_words_and_evidence_are_the_apps(kit: Kit) -> None:
    cited = (Citation(source="desk", where="rule 7"),)
    allowed = ItemDraft(item_id="a", text="Please ask at the desk. ", citations=cited)
    flow = answer_flow(generate=kit.Port([]), fallback=kit.Port({"a": allowed}))
    answer = (await flow.run(kit.state("a"))).items[0]
    assert (answer.status, answer.text, answer.citations) == ("fallback", allowed.text, cited)


@pytest.mark.behaviour("S2-72", "S2-73")
async def test_without_words_of_the_app_there_is_no_text(kit: Kit) -> None:
    run = await kit.run(answer_flow(generate=kit.Port([])), kit.state("a"))
    assert run.value.items == (ItemAnswer(item_id="a", status="blocked", reason="missing from the reply"),)
    assert run.value.items[0].text == ""
    assert run.status == "completed"


@pytest.mark.behaviour("S2-73")
@pytest.mark.parametrize("said", [{}, {"a": None}, {"a": ItemDraft(item_id="a", text=" ")}])
async def test_an_app_with_nothing_to_say_blocks_the_item(kit: Kit, said: dict[str, ItemDraft]) -> None:
    flow = answer_flow(generate=kit.Port([kit.draft("b")]), fallback=kit.Port(said))
    run = await kit.run(flow, kit.state("a", "b"))
    assert kit.statuses(run.value) == {"a": "blocked", "b": "answered"}


async def test_answers_fallbacks_and_blocks_stand_in_one_result(kit: Kit) -> None:
    flow = answer_flow(generate=kit.Port(kit.drafts("c", "a")), fallback=kit.Port(kit.words("a")))
    run = await kit.run(flow, kit.state("d", "c", "b", "a"))
    assert kit.statuses(run.value) == {"d": "answered", "c": "fallback", "b": "answered", "a": "blocked"}
    assert [each.item_id for each in run.value.items] == ["d", "c", "b", "a"]
