"""What a drawing holds, before it has a format."""

from __future__ import annotations

from typing import Any

import pytest

from flowcore.render import Drawing, draw


def ways(drawing: Drawing, *kinds: str) -> list[tuple[str, str, str]]:
    paths = {item.id: item.path for item in [*drawing.nodes, *drawing.frames]}
    return [(paths[edge.source], edge.label, paths[edge.target]) for edge in drawing.edges if edge.kind in kinds]


@pytest.mark.behaviour("A125")
def test_two_labels_to_one_target_are_two_edges(triage: Any) -> None:
    assert ways(draw(triage), "label") == [
        ("check", "good", "deliver"),
        ("check", "fine", "deliver"),
        ("check", "poor", "draft"),
    ]


def test_error_routes_and_limits_are_drawn_the_default_one_too(triage: Any) -> None:
    drawing = draw(triage)
    assert ways(drawing, "error") == [
        ("draft", "ValueError | KeyError", "apologise"),
        ("draft", "any error, by default", "apologise"),
        ("check", "any error, by default", "apologise"),
        ("deliver", "any error, by default", "apologise"),
    ]
    assert ways(drawing, "over_limit") == [("draft", "over 3 visits", "apologise")]


def test_a_flow_starts_at_a_dot_and_ends_at_another(triage: Any) -> None:
    drawing = draw(triage)
    assert ways(drawing, "start") == [("", "", "draft")]
    assert ways(drawing, "end") == [("deliver", "", ""), ("apologise", "", "")]
    assert [node.kind for node in drawing.nodes] == ["start", "node", "node", "node", "node", "end"]


def test_a_finish_path_begins_at_a_dot_of_its_own(triage: Any, bounded: Any) -> None:
    assert "finish" not in {edge.kind for edge in draw(triage).edges}
    drawing = draw(bounded)
    assert ways(drawing, "finish") == [("", "out of budget", "apologise")]
    assert [node.kind for node in drawing.nodes] == ["start", "node", "node", "out", "end"]


def test_ids_are_numbers_in_order_and_owe_nothing_to_names(triage: Any) -> None:
    drawing = draw(triage)
    assert [node.id for node in drawing.nodes] == ["n0", "n1", "n2", "n3", "n4", "n5"]
    assert [edge.id for edge in drawing.edges] == [f"e{number}" for number in range(len(drawing.edges))]


def test_only_ways_that_close_a_cycle_lead_backward(triage: Any) -> None:
    drawing = draw(triage)
    assert [edge.label for edge in drawing.edges if edge.backward] == ["poor"]


@pytest.mark.behaviour("A133")
def test_each_use_of_a_sub_flow_has_a_frame_of_its_own_at_any_depth(nested: Any) -> None:
    frames = {frame.path: frame for frame in draw(nested).frames}
    assert set(frames) == {
        *("first", "first/two", "first/two/one"),
        *("second", "second/two", "second/two/one"),
        "loop",
    }
    assert len({frame.id for frame in frames.values()}) == 7
    assert frames["first/two/one"].frame == frames["first/two"].id
    assert frames["loop"].frame is None


@pytest.mark.behaviour("A133")
def test_a_sub_flow_of_one_node_is_framed_with_its_dots(nested: Any) -> None:
    drawing = draw(nested)
    (frame,) = [frame for frame in drawing.frames if frame.path == "loop"]
    inside = [node for node in drawing.nodes if node.frame == frame.id]
    assert [node.path for node in inside] == ["loop/", "loop/deliver", "loop/"]
    assert (frame.start, frame.end) == (inside[0].id, inside[2].id)


def test_ways_to_and_from_a_sub_flow_end_at_its_frame(nested: Any) -> None:
    drawing = draw(nested)
    assert ways(drawing, "next")[:2] == [("first", "", "second"), ("second", "", "loop")]
    assert ways(drawing, "label") == [("loop", "again", "loop")]
    assert ("loop", "", "") in ways(drawing, "end")


def test_a_way_from_a_frame_to_itself_goes_from_its_end_to_its_start(nested: Any) -> None:
    drawing = draw(nested)
    (again,) = [edge for edge in drawing.edges if edge.label == "again"]
    (frame,) = [frame for frame in drawing.frames if frame.path == "loop"]
    assert drawing.anchors(again) == (frame.end, frame.start)
    (first, *_) = [edge for edge in drawing.edges if edge.kind == "next"]
    assert drawing.anchors(first) == (first.source, first.target)


def test_branches_begin_at_one_port_and_meet_at_a_join_with_its_badge(composed: Any) -> None:
    drawing = draw(composed)
    (frame,) = [frame for frame in drawing.frames if frame.path == "search"]
    assert (frame.kind, frame.label, frame.note) == ("parallel", "search", "side by side")
    (join,) = [node for node in drawing.nodes if node.kind == "join"]
    assert (join.id, join.label, join.frame) == (frame.end, "2 of 3", frame.id)
    assert [way for way in ways(drawing, "start") if way[0] == "search/"] == [
        ("search/", "", f"search/{branch}") for branch in ("web", "docs", "mail")
    ]


def test_what_the_error_route_of_a_branch_leads_to_stands_in_the_frame_and_joins_too(composed: Any) -> None:
    drawing = draw(composed)
    assert ways(drawing, "error") == [
        ("search", "any error", "apologise"),
        ("search/web", "TimeoutError", "search/cached"),
    ]
    joined = [f"search/{branch}" for branch in ("web", "docs", "mail", "cached")]
    assert ways(drawing, "join") == [(branch, "", "search/") for branch in joined]


def test_the_frame_of_an_each_says_how_its_items_run(composed: Any) -> None:
    drawing = draw(composed)
    (frame,) = [frame for frame in drawing.frames if frame.path == "write"]
    assert (frame.kind, frame.note) == ("each", "for each, 2 at a time, failures collected")
    assert [node.path for node in drawing.nodes if node.frame == frame.id] == ["write/", "write/deliver", "write/"]


def test_ways_to_and_from_composites_end_at_their_frames(composed: Any) -> None:
    assert ways(draw(composed), "next") == [("search", "", "write"), ("write", "", "deliver")]
