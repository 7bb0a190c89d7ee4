"""Views: a depth, a focus, types and a legend. What is left of a drawing is as it was declared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from flowcore import Complete, Continue, Flow, Step, node, parallel
from flowcore.errors import RenderError
from flowcore.render import Drawing, Mark, collapsed, draw, focused, render

from .random_flows import flows

SVG = "{http://www.w3.org/2000/svg}"


def boxes(drawing: Drawing) -> dict[str, tuple[str, ...]]:
    return {node.path: node.details for node in drawing.nodes if node.kind == "folded"}


def names(drawing: Drawing) -> list[str]:
    return [node.path for node in drawing.nodes if node.kind == "node"]


def ways(drawing: Drawing) -> list[tuple[str, str, str]]:
    paths = {item.id: item.path for item in drawing.items()}
    return [(paths[edge.source], edge.label, paths[edge.target]) for edge in drawing.edges if edge.kind != "cut"]


def stubs(drawing: Drawing) -> list[tuple[str, str]]:
    """Returns what each stub says, with the arrow on the side of the node."""
    items = {item.id: item for item in drawing.items()}
    found = []
    for edge in drawing.edges:
        if edge.kind == "cut":
            source, target = items[edge.source], items[edge.target]
            out = getattr(target, "kind", "") == "cut"
            found.append((f"{source.path} >", target.label) if out else (f"> {target.path}", source.label))
    return found


@pytest.mark.behaviour("DRAW-3")
def test_a_depth_closes_composites_below_it_and_says_what_is_inside(nested: Any, composed: Any) -> None:
    assert boxes(collapsed(draw(nested), 1)) == {
        "first": ("sub-flow", "3 nodes inside"),
        "second": ("sub-flow", "3 nodes inside"),
        "loop": ("sub-flow", "1 node inside"),
    }
    second = collapsed(draw(nested), 2)
    assert boxes(second) == {f"{path}/two": ("sub-flow", "2 nodes inside") for path in ("first", "second")}
    assert names(second) == ["first/deliver", "second/deliver", "loop/deliver"]
    assert boxes(collapsed(draw(composed), 1)) == {
        "search": ("side by side (2 of 3)", "4 nodes inside"),
        "write": ("for each, 2 at a time, failures collected", "1 node inside"),
    }
    assert collapsed(draw(nested), 9) == draw(nested)


@pytest.mark.behaviour("DRAW-3")
def test_the_routes_of_a_level_stay_as_declared_when_composites_are_closed(nested: Any) -> None:
    assert ways(collapsed(draw(nested), 1)) == [
        ("", "", "first"),
        ("first", "", "second"),
        ("second", "", "loop"),
        ("loop", "again", "loop"),
        ("loop", "", ""),
    ]


def test_a_depth_of_less_than_one_is_refused(nested: Any) -> None:
    with pytest.raises(RenderError, match="a depth of 0 shows nothing: 1 is the flow with its composites closed"):
        render(nested, "mermaid", depth=0)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(flow=flows(), depth=st.integers(1, 3))
@pytest.mark.behaviour("DRAW-3")
def test_at_any_depth_what_is_drawn_is_the_declared_part(flow: Any, depth: int) -> None:
    whole, part = draw(flow), collapsed(draw(flow), depth)
    ids = {item.id for item in part.items()}
    assert {edge.id for edge in part.edges} == {
        edge.id for edge in whole.edges if {edge.source, edge.target} <= ids
    }
    around = {frame.id: frame.frame for frame in whole.frames}
    for item in whole.items():
        above, frame = 0, item.frame
        while frame is not None:
            above, frame = above + 1, around[frame]
        assert (item.id in ids) == (above < depth)
    for format in ("mermaid", "dot"):
        assert render(flow, format, depth=depth)


@pytest.mark.behaviour("DRAW-4")
def test_a_focus_shows_what_leads_to_a_node_and_what_it_leads_to_and_counts_the_rest(triage: Any) -> None:
    near = focused(draw(triage), "check", 1)
    assert names(near) == ["draft", "check", "deliver", "apologise"]
    deliver = focused(draw(triage), "deliver", 1)
    assert names(deliver) == ["check", "deliver", "apologise"]
    assert ways(deliver) == [
        ("check", "good", "deliver"),
        ("check", "fine", "deliver"),
        ("check", "any error, by default", "apologise"),
        ("deliver", "any error, by default", "apologise"),
        ("deliver", "", ""),
        ("apologise", "", ""),
    ]
    assert stubs(deliver) == [("> check", "1 more"), ("check >", "1 more"), ("> apologise", "3 more")]


@pytest.mark.behaviour("DRAW-4")
def test_no_hop_is_the_node_alone_with_the_number_of_its_routes(triage: Any) -> None:
    alone = focused(draw(triage), "check", 0)
    assert (names(alone), ways(alone)) == (["check"], [])
    assert stubs(alone) == [("> check", "1 more"), ("check >", "4 more")]


@pytest.mark.behaviour("DRAW-4")
def test_a_focus_inside_a_composite_keeps_the_composite_around_it_and_closes_the_others(composed: Any) -> None:
    web = focused(draw(composed), "search/web", 1)
    assert [frame.path for frame in web.frames] == ["search"]
    assert names(web) == ["search/web", "search/cached"]
    assert stubs(web) == [
        ("> search", "1 more"),
        ("search >", "2 more"),
        ("search/ >", "2 more"),
        ("> search/", "2 more"),
    ]
    far = focused(draw(composed), "search/web", 2)
    assert boxes(far) == {"write": ("for each, 2 at a time, failures collected", "1 node inside")}
    assert [frame.path for frame in far.frames] == ["search"]


def test_a_focus_on_a_composite_shows_all_that_is_inside(composed: Any) -> None:
    search = focused(draw(composed), "search", 1)
    assert [path for path in names(search) if path.startswith("search/")] == [
        f"search/{name}" for name in ("web", "docs", "mail", "cached")
    ]
    assert names(search)[-1] == "apologise"
    assert boxes(search) == {"write": ("for each, 2 at a time, failures collected", "1 node inside")}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(flow=flows(), data=st.data(), hops=st.integers(0, 3))
@pytest.mark.behaviour("DRAW-4")
def test_around_any_node_each_route_is_drawn_or_counted(flow: Any, data: st.DataObject, hops: int) -> None:
    whole = draw(flow)
    item = data.draw(
        st.sampled_from([item for item in whole.items() if item.path and not item.path.endswith("/")])
    )
    part = focused(whole, item.path, hops)
    declared = {edge.id: edge for edge in whole.edges}
    drawn = [edge for edge in part.edges if edge.kind != "cut"]
    assert all(declared[edge.id] == edge for edge in drawn)
    labels = {node.id: node.label for node in part.nodes if node.kind == "cut"}
    for edge in part.edges:
        if edge.kind == "cut":
            out = edge.target in labels
            here, stub = (edge.source, edge.target) if out else (edge.target, edge.source)
            there = [e for e in whole.edges if (e.source if out else e.target) == here]
            assert (
                labels[stub] == f"{len(there) - sum((e.source if out else e.target) == here for e in drawn)} more"
            )
    assert item.id in {found.id for found in part.items()}
    for format in ("mermaid", "dot"):
        assert render(flow, format, focus=item.path, hops=hops)


def test_an_unknown_focus_is_told_with_names_like_it(nested: Any, triage: Any) -> None:
    with pytest.raises(RenderError, match=r"there is no node 'chek' in triage: name one by its path \(check\)"):
        focused(draw(triage), "chek", 1)
    with pytest.raises(
        RenderError, match=r"first/two/one stands inside first, which the depth closes: allow more"
    ):
        render(nested, "mermaid", depth=1, focus="first/two/one")
    with pytest.raises(RenderError, match=r"-1 hops show nothing: 0 is the node alone"):
        focused(draw(triage), "check", -1)


def test_marks_stay_where_they_were_in_a_part_of_a_drawing(composed: Any) -> None:
    drawing = draw(composed)
    (search,) = [frame for frame in drawing.frames if frame.path == "search"]
    marks = {item.id: Mark("ok") for item in drawing.items()}
    part = collapsed(replace(drawing, marks=marks), 1)
    assert part.marks == {item.id: Mark("ok") for item in part.items()}
    assert search.id in part.marks


class Paper(BaseModel):
    title: str = ""
    pages: list[str] = []


@node(writes=["title", "pages"])
async def write(step: Step[Paper]) -> Continue:
    return Continue()


@node(writes=[])
async def look(step: Step[Paper]) -> Continue:
    return Continue()


@node
async def done(step: Step[Paper]) -> Complete[str] | Complete[int]:
    return Complete("")


@pytest.mark.behaviour("DRAW-5")
def test_types_stand_on_the_ways_in_and_out_and_below_what_writes() -> None:
    fan = parallel("fan", write, look)
    flow = Flow[Paper, object, str | int]("typed", fan.to(done), done)
    drawing = draw(flow, types=True)
    details = {node.path: node.details for node in drawing.nodes if node.kind == "node"}
    assert details == {
        "fan/write": ("writes title: str", "writes pages: list[str]"),
        "fan/look": ("writes nothing",),
        "done": (),
    }
    assert [(edge.kind, edge.label) for edge in drawing.edges if edge.kind in ("start", "end")] == [
        ("start", "Paper"),
        ("end", "str | int"),
        ("start", ""),
        ("start", ""),
    ]
    root = ElementTree.fromstring(render(flow, "svg", types=True))
    spoken = root.findtext(f"{SVG}desc") or ""
    assert "It starts with fan (Paper)." in spoken
    assert "done may complete (str | int)." in spoken
    assert "fan/write: writes title: str, writes pages: list[str]." in spoken
    assert "Paper" not in render(flow, "svg")


@pytest.mark.behaviour("DRAW-6")
def test_a_legend_names_the_kinds_that_occur_and_no_others(triage: Any, composed: Any) -> None:
    def legend(source: Any) -> list[str | None]:
        root = ElementTree.fromstring(render(source, "svg", legend=True))
        (key,) = [group for group in root.iter(f"{SVG}g") if group.get("class") == "legend"]
        return [text.text for text in key.findall(f"{SVG}text")]

    assert legend(triage) == [
        "start",
        "may complete",
        "starts a round",
        "route",
        "error route",
        "route at a limit",
    ]
    assert legend(composed) == [
        *(
            "start",
            "may complete",
            "starts a round",
            "composite, open",
            "branches waited for",
            "route",
            "error route",
        ),
    ]
    marked = replace(draw(triage), marks={"n2": Mark("failed"), "e5": Mark("taken")})
    assert legend(marked)[-2:] == ["failed", "taken"]
    assert "dashed line: error route\\l" in render(triage, "dot", legend=True)
    assert render(triage, "png", legend=True) != render(triage, "png")
    with pytest.raises(RenderError, match="Mermaid text has no place for a legend: draw it as SVG, PNG or DOT"):
        render(triage, "mermaid", legend=True)


@pytest.mark.parametrize("options", [{"depth": 1}, {"focus": "check"}, {"types": True}, {"legend": True}])
def test_json_is_the_whole_flow(triage: Any, options: Any) -> None:
    with pytest.raises(
        RenderError, match="JSON is the whole declared flow: parts, types, marks and legends are for"
    ):
        render(triage, "json", **options)


def test_a_drawing_is_rendered_as_it_is_and_has_its_types_already(triage: Any) -> None:
    assert render(draw(triage), "mermaid") == render(triage, "mermaid")
    assert render(draw(triage, types=True), "dot") == render(triage, "dot", types=True)
    with pytest.raises(RenderError, match=r"drawn already: the types are a matter of `draw\(flow, types=True\)`"):
        render(draw(triage), "svg", types=True)
