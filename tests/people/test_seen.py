"""Seen: what waits for a person in pictures and as data, what was asked in recordings and on pages."""

from __future__ import annotations

from typing import Any

import pytest
from tests.people.desk import (
    Changes,
    Letter,
    Where,
    drop,
    formal,
    in_words,
    late,
    note_form,
    note_place,
    pending,
    send,
    shown,
)

from flowcore import Approval, Flow, Node, approve, ask
from flowcore.diff import diff_flows, flow_text
from flowcore.recording import Recording, dump_runs, flow_data, load_runs, recording_of
from flowcore.render import draw
from flowcore.render.dot import dot_text
from flowcore.render.legend import entries_of
from flowcore.render.mermaid import mermaid_text
from flowcore.render.page.entries import entries
from flowcore.render.spoken import spoken
from flowcore.render.svg import svg_text

place: Node[Letter, object, Any, Any] = ask("place", show=in_words, form=Where, take=note_place, expires=60)
FLOW = Flow(
    "letters", formal.to(approved=place, denied=drop), place.to(answered=send, expired=late), send, drop, late
)


async def recorded(answers: list[Any]) -> Recording:
    async with FLOW.start(Letter()) as run:
        for answer in answers:
            await pending(run)
            await run.answer(None, answer, by="ann")
        await run.wait()
    return recording_of(run.trace)


@pytest.mark.behaviour("PEOPLE-4")
def test_what_waits_is_another_box_in_every_picture() -> None:
    drawing = draw(FLOW)
    assert [node.label for node in drawing.nodes if node.waits] == ["consent", "place"]
    mermaid = mermaid_text(drawing, "TB")
    assert mermaid.count('[/"') == mermaid.count('"/]') == 2
    assert 'n1[/"consent<br>' in mermaid.replace("<small>", "").replace("</small>", "")
    dot = dot_text(drawing, "TB")
    assert dot.count("shape=parallelogram") == 2
    picture = svg_text(drawing, "TB")
    assert picture.count('<path class="dot" d="M') == 2
    assert picture.count(">waits for a person</text>") == 2
    assert "consent waits for a person. place waits for a person." in spoken(drawing)
    assert ("waits", "waits for a person") in [(entry.kind, entry.meaning) for entry in entries_of(drawing)]
    assert svg_text(drawing, "TB", legend=True).count('<path class="dot" d="M') == 3


def test_without_people_nothing_says_so() -> None:
    flow = Flow("alone", send)
    assert "waits" not in {entry.kind for entry in entries_of(draw(flow))}
    assert "parallelogram" not in dot_text(draw(flow), "TB")


def test_the_declared_flow_says_what_is_asked() -> None:
    nodes = {node.id: node for node in flow_data(FLOW.plan).nodes}
    told = {id: (nodes[id].kind, nodes[id].expires, nodes[id].form) for id in nodes}
    assert told == {
        "consent": ("approve", 300, "Changes"),
        "place": ("ask", 60, "Where"),
        "send": ("function", None, None),
        "drop": ("function", None, None),
        "late": ("function", None, None),
    }


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (
            approve("consent", show=shown, form=Changes, take=note_form, expires=60),
            "expires after 60 s, was 300 s",
        ),
        (approve("consent", show=shown), "form none, was Changes"),
    ],
)
def test_another_wait_is_a_change(other: Node[Letter, Any, Any, Any], words: str) -> None:
    changed = diff_flows(flow_data(FLOW.plan), flow_data(FLOW.replace(consent=other).plan))
    assert words in flow_text(changed)


@pytest.mark.behaviour("PEOPLE-4")
async def test_a_recording_tells_who_was_asked_and_answered_what() -> None:
    run = await recorded([Approval(True, "fine"), {"city": "Bonn"}])
    first, second, _ = run.visits
    (consent,), (question,) = first.asked, second.asked
    assert (consent.kind, consent.question, consent.answer, consent.by) == (
        "approve",
        "consent",
        "approved",
        "ann",
    )
    assert consent.shown == '{"text":"Dear all","words":2}'
    assert (question.kind, question.question) == ("ask", "May this go out: Dear all?")
    assert (question.answer, question.closed is not None, first.tools) == ("answered", True, ())
    assert load_runs(dump_runs([run])) == [run]
    (entry,) = entries(first)
    assert (entry.sign, entry.what, entry.name, entry.words) == ("✓", "asked", "consent", "approved by ann")
    assert entry.texts == ('{"text":"Dear all","words":2}',)
    (entry,) = entries(second)
    assert (entry.name, entry.words, entry.texts) == ("May this go out: Dear all?", "answered by ann", ())
    assert dict(first.why or {})["reason"] == '"fine"'


async def test_what_still_waits_is_told_so() -> None:
    async with FLOW.start(Letter()) as run:
        await pending(run)
        record = recording_of(run.trace)
        await run.cancel("user")
    closed = recording_of(run.trace)
    assert [entry.words for visit in closed.visits for entry in entries(visit)] == ["withdrawn"]
    assert [entry.words for visit in record.visits for entry in entries(visit)] in ([], ["waits for an answer"])


async def test_a_denial_is_crossed() -> None:
    run = await recorded([False])
    assert [(entry.sign, entry.words) for entry in entries(run.visits[0])] == [("✕", "denied by ann")]
