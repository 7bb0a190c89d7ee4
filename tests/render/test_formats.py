"""Each format by itself: what it holds besides the graph, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import pytest
from pydantic import BaseModel

from flowcore import Complete, Continue, Flow, Step, node
from flowcore.errors import RenderError
from flowcore.render import FORMATS, draw, render, shown, visible
from flowcore.render.layout import Curve, Point
from flowcore.render.shapes import arrow_of

SVG = "{http://www.w3.org/2000/svg}"
NO_ENGINE = 'no layout engine for SVG and PNG: install one with `pip install "flowcore[render]"`'


class Count(BaseModel):
    number: int = 0


def long_flow(nodes: int) -> Flow[Count, object, int]:
    @node
    async def stop(step: Step[Count]) -> Complete[int]:
        return Complete(0)

    @node
    async def go(step: Step[Count]) -> Continue:
        return Continue()

    names = [go.named(f"go {number}") for number in range(nodes - 1)]
    return Flow("long", *(a.to(b) for a, b in zip(names, [*names[1:], stop], strict=True)), stop)


def test_mermaid_reads_as_a_person_would_write_it(triage: Any) -> None:
    text = render(triage, "mermaid", "LR")
    assert text.splitlines()[:11] == [
        "flowchart LR",
        '  n0((" "))',
        '  n1[["draft<br>starts round"]]',
        '  n2("check")',
        '  n3("deliver")',
        '  n4("apologise")',
        '  n5(((" ")))',
        "  n0 --> n1",
        "  n1 --> n2",
        '  n1 -.->|"ValueError | KeyError"| n4',
        '  n1 -.->|"any error, by default"| n4',
    ]


def test_mermaid_names_joins_and_how_items_run(composed: Any) -> None:
    lines = render(composed, "mermaid").splitlines()
    assert '  subgraph n1["search (side by side)"]' in lines
    assert '    n7(["2 of 3"])' in lines
    assert '  subgraph n8["write (for each, 2 at a time, failures collected)"]' in lines


def test_json_is_the_declared_flow(triage: Any) -> None:
    assert json.loads(render(triage, "json")) == json.loads(triage.to_json())


def test_svg_speaks_follows_the_theme_and_loads_nothing(triage: Any) -> None:
    text = render(triage, "svg")
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "title desc"
    assert root.findtext(f"{SVG}title") == "triage"
    spoken = root.findtext(f"{SVG}desc") or ""
    assert spoken.startswith("It starts with draft. draft leads to check.")
    assert "draft leads to apologise on error (ValueError | KeyError)." in spoken
    assert "check leads to draft on poor." in spoken
    assert "draft leads to apologise over 3 visits." in spoken
    assert spoken.endswith("apologise may complete.")
    assert "@media (prefers-color-scheme: dark)" in text
    assert text.count("http") == 1
    assert "<script" not in text


def test_svg_tells_where_a_flow_goes_on_out_of_budget(bounded: Any) -> None:
    root = ElementTree.fromstring(render(bounded, "svg"))
    assert "Out of budget, it goes on with apologise." in (root.findtext(f"{SVG}desc") or "")
    (group,) = [group for group in root.iter(f"{SVG}g") if group.get("class") == "edge finish"]
    assert group.findtext(f"{SVG}text") == "out of budget"


def test_svg_marks_what_starts_a_round_by_a_second_border_and_by_words(triage: Any) -> None:
    root = ElementTree.fromstring(render(triage, "svg"))
    (group,) = [group for group in root.iter(f"{SVG}g") if group.get("class") == "node round"]
    assert len(group.findall(f"{SVG}rect")) == 2
    assert [text.text for text in group.findall(f"{SVG}text")] == ["draft", "starts round"]
    assert group.findtext(f"{SVG}title") == "draft: Write an answer."


def test_svg_shows_a_join_by_its_badge_and_an_each_by_a_stack(composed: Any) -> None:
    groups = list(ElementTree.fromstring(render(composed, "svg")).iter(f"{SVG}g"))
    (join,) = [group for group in groups if group.get("class") == "join"]
    assert [text.text for text in join.findall(f"{SVG}text")] == ["2 of 3"]
    (stack,) = [group for group in groups if group.get("class") == "frame each"]
    assert [text.text for text in stack.findall(f"{SVG}text")] == [
        "write",
        "for each, 2 at a time, failures collected",
    ]
    assert [path.get("class") for path in stack.findall(f"{SVG}path")] == ["sheet", "sheet"]


def test_svg_tells_of_branches_and_items(composed: Any) -> None:
    spoken = ElementTree.fromstring(render(composed, "svg")).findtext(f"{SVG}desc") or ""
    assert "search starts with search/web." in spoken
    assert "search/web leads to search/cached on error (TimeoutError)." in spoken
    assert "search/cached joins search (2 of 3)." in spoken
    assert "search runs side by side. write runs for each, 2 at a time, failures collected." in spoken


def test_an_arrow_that_leads_back_has_its_tip_where_it_leads(triage: Any) -> None:
    root = ElementTree.fromstring(render(triage, "svg"))
    (back,) = [group for group in root.iter(f"{SVG}g") if group.findtext(f"{SVG}text") == "poor"]
    (box,) = [group for group in root.iter(f"{SVG}g") if group.findtext(f"{SVG}text") == "draft"]
    (arrow,) = back.iter(f"{SVG}polygon")
    tip, rect = arrow.attrib["points"].split()[0].split(","), box[1].attrib
    assert abs(float(tip[1]) - float(rect["y"]) - float(rect["height"])) < 3


@pytest.mark.parametrize("end", [Point(40, 0), Point(39.9, 0), Point(33, 0)])
def test_an_arrow_has_its_size_wherever_an_engine_ends_the_line(end: Point) -> None:
    corners = re.findall(
        r"[-\d.]+,[-\d.]+", arrow_of(Curve((Point(0, 0), Point(10, 0), Point(20, 0), end), Point(40, 0), None))
    )
    assert corners == ["40,0", "33,2.8", "33,-2.8"]


def test_many_long_ways_are_drawn_in_a_moment_all_of_them() -> None:
    @node
    async def stop(step: Step[Count]) -> Complete[int]:
        return Complete(0)

    @node
    async def go(step: Step[Count]) -> Continue:
        return Continue()

    names = [go.named(f"go {number}") for number in range(150)]
    rows = [a.to(b) for a, b in zip(names, [*names[1:], stop], strict=True)]
    flow = Flow("long ways", *rows, stop, on_error=stop)
    groups = ElementTree.fromstring(render(flow, "svg")).iter(f"{SVG}g")
    assert sum(group.get("class") == "edge error" for group in groups) == 150


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def test_png_is_drawn_in_the_direction_that_is_asked_for(triage: Any) -> None:
    down, right = size_of(render(triage, "png", "TB")), size_of(render(triage, "png", "LR"))
    assert down != right


def test_png_never_has_more_pixels_than_a_machine_can_bear() -> None:
    width, height = size_of(render(long_flow(300), "png"))
    assert 0 < width * height <= 13_000_000


def test_a_png_of_more_than_300_nodes_is_refused_with_advice() -> None:
    with pytest.raises(RenderError, match=r"a PNG of 301 nodes .* draw it as SVG"):
        render(long_flow(301), "png")


def test_an_unknown_format_is_refused_with_those_there_are(triage: Any) -> None:
    with pytest.raises(RenderError, match="unknown format 'pdf': choose one of mermaid, dot, json, svg, png"):
        render(triage, "pdf")


@pytest.fixture
def bare_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A PATH that leads to one empty folder."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_the_engine_of_the_wheel_is_found_though_it_is_on_no_path(triage: Any, bare_path: Path) -> None:
    assert "<svg" in render(triage, "svg")


def test_an_installed_dot_is_preferred(triage: Any, bare_path: Path) -> None:
    dot = bare_path / "dot"
    dot.write_text("#!/bin/sh\necho it is me >&2\nexit 3\n")
    dot.chmod(0o755)
    with pytest.raises(RenderError, match=rf"{dot} cannot lay this drawing out: it is me"):
        render(triage, "svg")


def test_without_an_engine_the_error_names_the_one_command(
    triage: Any, bare_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowcore.render.engine.files", lambda name: None)
    for format in ("svg", "png"):
        with pytest.raises(RenderError) as caught:
            render(triage, format)
        assert str(caught.value) == NO_ENGINE
    for format in ("mermaid", "dot", "json"):
        assert render(triage, format)


def test_a_layout_that_takes_too_long_is_ended_and_the_remedies_are_named(
    triage: Any, bare_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dot = bare_path / "dot"
    dot.write_text("#!/bin/sh\nwhile :; do :; done\n")
    dot.chmod(0o755)
    monkeypatch.setattr("flowcore.render.engine._PATIENCE", 0.2)
    with pytest.raises(
        RenderError, match=r"longer than 0.2 seconds .* \(--depth 1, depth=1\).*\(--focus NODE, focus"
    ):
        render(triage, "svg")


def many_routes(nodes: int) -> Flow[Any, Any, Any]:
    """Nodes in a row, every fifth of which may lead five back as well."""

    @node(starts_round=True)
    async def turn(step: Step[Count]) -> Continue[Literal["on", "back"]]:
        return Continue("on")

    @node
    async def go(step: Step[Count]) -> Continue[Literal["on", "also"]]:
        return Continue("on")

    @node
    async def stop(step: Step[Count]) -> Complete[int]:
        return Complete(0)

    names = [(turn if place % 5 == 4 else go).named(f"node {place}") for place in range(nodes - 1)]
    following = [*names[1:], stop]
    rows = [
        name.to(on=after, back=names[place - 4]) if place % 5 == 4 else name.to(on=after, also=after)
        for place, (name, after) in enumerate(zip(names, following, strict=True))
    ]
    return Flow("many", *rows, stop)


@pytest.mark.behaviour("A131")
def test_a_graph_of_200_nodes_is_drawn_on_this_machine_and_its_text_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    flow = many_routes(200)
    golden = Path(__file__).parent / "golden" / "200-nodes.mmd"
    assert render(flow, "mermaid") == golden.read_text("utf-8"), "look at the change, then write the file anew"
    groups = list(ElementTree.fromstring(render(flow, "svg")).iter(f"{SVG}g"))
    assert sum(group.get("class") in ("node", "node round") for group in groups) == 200
    assert sum(group.get("class") == "edge label" for group in groups) == 2 * 199
    assert render(flow, "png").startswith(b"\x89PNG")


@pytest.mark.behaviour("A137")
def test_what_two_nodes_share_is_one_box_with_one_way_from_each(triage: Any) -> None:
    drawing = draw(triage)
    assert sum(item.path == "apologise" for item in drawing.nodes) == 1
    (shared,) = [item.id for item in drawing.nodes if item.path == "apologise"]
    ways = [(edge.source, edge.kind, edge.label) for edge in drawing.edges if edge.target == shared]
    assert len(ways) == len(set(ways)) == 5


def test_nothing_opens_a_socket_to_draw(triage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    for format in FORMATS:
        assert render(triage, format)


def test_building_a_flow_loads_nothing_that_draws() -> None:
    code = "import sys, flowcore; print('graphviz' in sys.modules, 'flowcore.render' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ})
    assert run.stdout.split() == ["False", "False"]


def test_what_cannot_be_seen_stands_as_its_escape() -> None:
    assert visible("a\nb\x1b[0m\u202ec\ud800") == r"a\nb\x1b[0m\u202ec\ud800"
    assert visible("é 漢字 שלום") == "é 漢字 שלום"


def test_of_a_long_text_the_beginning_is_shown_and_a_mark_that_tells_it_apart() -> None:
    one, other = shown("x" * 10_000), shown("x" * 9_999 + "y")
    assert one.startswith("x" * 80 + "... (10000 characters, ")
    assert one != other
    assert shown("x" * 80) == "x" * 80
