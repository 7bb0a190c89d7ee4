"""Two flows in one picture: all of both, and marks on exactly what differs."""

from __future__ import annotations

from collections import Counter
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests.render.random_flows import flows

from flowcore.diff import diff_flows, merged_drawing, render_diff
from flowcore.recording import FlowData
from flowcore.render import Drawing, draw

from .test_flows import data, fan, triage

THOROUGH = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


def kinds(flow: FlowData) -> dict[str, str]:
    return {path: node.kind for path, node in flow.walk()}


def items(drawing: Drawing, without: str) -> Counter[tuple[str, str]]:
    """Returns what stands in a drawing by path and kind, but for what has one kind of mark."""
    found = [*drawing.nodes, *drawing.frames]
    left = [item for item in found if item.id not in drawing.marks or drawing.marks[item.id].kind != without]
    return Counter((item.path, item.kind) for item in left)


def edges(drawing: Drawing, without: str) -> Counter[tuple[str, str, str, str]]:
    paths = {item.id: item.path for item in (*drawing.nodes, *drawing.frames)}
    found: Counter[tuple[str, str, str, str]] = Counter()
    for edge in drawing.edges:
        mark = drawing.marks.get(edge.id)
        if mark is None or mark.kind != without:
            label = (
                mark.note.removeprefix("was ") if mark and mark.kind == "changed" and without == "added" else None
            )
            found[edge.kind, paths[edge.source], paths[edge.target], edge.label if label is None else label] += 1
    return found


@pytest.mark.behaviour("DIFF-3")
@THOROUGH
@given(flows())
def test_a_flow_beside_itself_is_its_drawing_without_marks(flow: Any) -> None:
    assert merged_drawing(diff_flows(data(flow), data(flow))) == draw(data(flow))


@pytest.mark.behaviour("DIFF-3")
@THOROUGH
@given(flows(), flows())
def test_without_what_was_removed_it_is_the_new_flow_and_without_what_was_added_the_old_one(
    a: Any, b: Any
) -> None:
    old, new = data(a), data(b)
    assume(all(kinds(new).get(path, kind) == kind for path, kind in kinds(old).items()))
    diff = diff_flows(old, new)
    assume(not any(change.words.startswith("renamed") for change in diff.changes))
    merged = merged_drawing(diff)
    assert items(merged, "removed") == items(draw(new), "removed")
    assert items(merged, "added") == items(draw(old), "added")
    assert edges(merged, "removed") == edges(draw(new), "removed")
    assert edges(merged, "added") == edges(draw(old), "added")
    assert len({item.id for item in (*merged.nodes, *merged.frames, *merged.edges)}) == sum(
        map(len, (merged.nodes, merged.frames, merged.edges))
    )


@FEW
@given(flows(), flows())
def test_every_merged_drawing_can_be_laid_out(a: Any, b: Any) -> None:
    root = ElementTree.fromstring(render_diff(diff_flows(data(a), data(b)), "svg"))
    assert root.tag.endswith("svg")


def marked(old: FlowData, new: FlowData) -> dict[str, tuple[str, str]]:
    """Returns the marks of nodes and frames by their path."""
    drawing = merged_drawing(diff_flows(old, new))
    names = {item.id: item.path for item in (*drawing.nodes, *drawing.frames) if item.kind not in ("start", "end")}
    return {names[id]: (mark.kind, mark.note) for id, mark in drawing.marks.items() if id in names}


@pytest.mark.behaviour("DIFF-3")
def test_marks_say_what_was_added_removed_and_changed() -> None:
    assert marked(fan("a", "b"), fan("c", "d", join="any")) == {
        "fan": ("changed", "join all to any"),
        "fan/a": ("removed", ""),
        "fan/b": ("removed", ""),
        "fan/c": ("added", ""),
        "fan/d": ("added", ""),
    }
    assert marked(data(triage()), data(triage(timeout=3))) == {"draft": ("changed", "timeout none to 3 s")}
    assert marked(data(triage()), data(triage(check="judge"))) == {"judge": ("changed", "renamed, was check")}


def test_another_limit_changes_the_words_of_its_route_and_no_line() -> None:
    flow = data(triage())
    route = {"from": "draft", "to": "sorry", "kind": "over_limit"}
    whole = flow.model_dump(by_alias=True)
    whole["routes"] = [*whole["routes"], route]
    old, new = (FlowData.model_validate(_with_limit(whole, limit)) for limit in (2, 3))
    drawing = merged_drawing(diff_flows(old, new))
    assert sorted((mark.kind, mark.note) for mark in drawing.marks.values()) == [
        ("changed", "max visits 2 to 3"),
        ("changed", "was over 2 visits"),
    ]


def _with_limit(whole: dict[str, Any], limit: int) -> dict[str, Any]:
    first, *rest = whole["nodes"]
    return {**whole, "nodes": [{**first, "max_visits": limit}, *rest]}


def test_mermaid_says_the_signs_in_words() -> None:
    text = render_diff(diff_flows(fan("a", "b", "c"), fan("a", "d", "e", "f")), "mermaid", "LR")
    assert text.startswith("flowchart LR\n")
    assert '("#43; d")' in text
    assert '("#45; b")' in text
