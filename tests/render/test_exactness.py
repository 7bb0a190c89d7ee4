"""A drawing is the declared graph, exactly: what is drawn is read back and held against the flow."""

from __future__ import annotations

from collections import Counter
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowcore.render import render

from .pictures import Picture, declared, read_dot, read_mermaid
from .random_flows import flows

SVG = "{http://www.w3.org/2000/svg}"


def read_svg(text: str) -> Picture:
    """Returns the labels of nodes, frames and joins, and the kinds and labels of edges."""
    picture = Picture()
    for group in ElementTree.fromstring(text).iter(f"{SVG}g"):
        classes = group.get("class", "").split()
        words = [element.text for element in group.findall(f"{SVG}text")]
        if "edge" in classes:
            assert len(group.findall(f"{SVG}path")) == 1
            picture.edges[classes[1], words[0] if words else ""] += 1
        elif "frame" in classes:
            assert len(group.findall(f"{SVG}path")) == (2 if "each" in classes else 0)
            picture.frames[words[0], words[1] if words[1:] else ""] += 1
        elif "join" in classes:
            picture.joins[words[0]] += 1
        elif "node" in classes:
            assert len(group.findall(f"{SVG}rect")) == (2 if "round" in classes else 1)
            picture.nodes[words[0], words[1:] == ["starts round"]] += 1
    return picture


def last_name(path: tuple[str, ...]) -> str:
    return path[-1].partition(" ")[2]


plenty = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
some = settings(plenty, max_examples=40)


@pytest.mark.behaviour("A125", "A127", "A129", "A133")
@plenty
@given(flow=flows(), direction=st.sampled_from(["TB", "LR"]))
def test_mermaid_shows_what_is_declared_and_nothing_else(flow: Any, direction: Any) -> None:
    assert read_mermaid(render(flow, "mermaid", direction)) == declared(flow)


@pytest.mark.behaviour("A125", "A127", "A129", "A133")
@plenty
@given(flow=flows(), direction=st.sampled_from(["TB", "LR"]))
def test_dot_shows_what_is_declared_and_nothing_else(flow: Any, direction: Any) -> None:
    assert read_dot(render(flow, "dot", direction)) == declared(flow)


@pytest.mark.behaviour("A125", "A127", "A129", "A133")
@some
@given(flow=flows())
def test_the_layout_engine_takes_it_and_svg_shows_all_of_it_as_text(flow: Any) -> None:
    expected, drawn = declared(flow), read_svg(render(flow, "svg"))
    assert drawn.nodes == Counter((last_name(path), pays) for path, pays in expected.nodes.elements())
    assert drawn.frames == Counter((last_name(path), note) for path, note in expected.frames.elements())
    assert drawn.joins == Counter(badge for _, badge in expected.joins.elements())
    assert drawn.edges == Counter((kind, words) for _, _, kind, words in expected.edges.elements())


@settings(plenty, max_examples=20)
@given(flow=flows())
def test_a_flow_is_drawn_the_same_each_time(flow: Any) -> None:
    for format in ("mermaid", "dot", "json", "svg"):
        assert render(flow, format) == render(flow, format)
