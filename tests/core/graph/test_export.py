"""A flow as data: its JSON, its signature, its graph."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from flowcore import Flow, Node

from .problem_examples import again, choose, finish, inner, other, start


def flow(**using: Any) -> Flow[Any, Any, Any]:
    embedded = inner.as_node("in")
    return Flow(
        "f",
        start.to(choose).on_error(other, KeyError).using(**using),
        choose.to(a=start, b=embedded).on_error(finish),
        embedded.to(finish),
        finish,
        other,
        on_error=other,
    )


def edges(of: Flow[Any, Any, Any]) -> list[tuple[Any, ...]]:
    return [(source, target, data["kind"], data["label"]) for source, target, data in of.graph.edges(data=True)]


@pytest.mark.behaviour("A03")
def test_the_graph_has_exactly_the_declared_routes() -> None:
    assert edges(flow()) == [
        ("start", "choose", "next", ""),
        ("start", "other", "error", "KeyError"),
        ("start", "other", "error", ""),
        ("choose", "start", "label", "a"),
        ("choose", "in", "label", "b"),
        ("choose", "finish", "error", ""),
        ("in", "finish", "next", ""),
        ("in", "other", "error", ""),
        ("finish", "other", "error", ""),
    ]
    assert set(flow().graph.nodes["in"]["graph"]) == set(inner.nodes)


def test_json_holds_the_same_nodes_and_routes_in_the_order_of_the_rows() -> None:
    data = json.loads(flow().to_json())
    assert [item["id"] for item in data["nodes"]] == ["start", "choose", "in", "finish", "other"]
    assert [(route["from"], route["to"], route["kind"], route["label"]) for route in data["routes"]] == edges(
        flow()
    )
    assert data["entry"] == "start"
    assert [item["id"] for item in data["nodes"][2]["flow"]["nodes"]] == list(inner.nodes)


def test_equal_declarations_have_equal_signatures_and_others_have_not() -> None:
    assert flow().signature == flow().signature
    others = {flow(timeout=5).signature, flow(max_visits=3).signature, inner.signature}
    assert len(others | {flow().signature}) == 4


def test_a_timeout_without_end_is_none_in_json() -> None:
    assert flow(timeout=math.inf).to_json() == flow().to_json()


def test_to_change_what_was_given_away_changes_no_flow() -> None:
    declared = flow()
    before = declared.signature
    declared.graph.clear()
    assert declared.signature == before
    assert len(edges(declared)) == 9


def test_a_node_is_a_value() -> None:
    row: Node[Any, Any, Any, Any] = again.to(finish)
    assert row == again.to(finish)
    assert row != again.to(other)
    assert again.is_reference
    assert not row.is_reference
