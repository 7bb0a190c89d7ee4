"""A flow as data, with what stands inside its composites."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flowcore import Budget, Flow, each, parallel

from .conftest import apologise, bind, deliver, look, parts


def data_of(flow: Flow[Any, Any, Any]) -> dict[str, dict[str, Any]]:
    return {item["id"]: item for item in json.loads(flow.to_json())["nodes"]}


def fan(**options: Any) -> Flow[Any, Any, Any]:
    web = look.named("web").on_error(look.named("cached"), TimeoutError)
    return Flow("fan", parallel("search", web, look.named("docs"), **options).to(deliver), deliver)


def items(do: Flow[Any, Any, Any] | None = None, **options: Any) -> Flow[Any, Any, Any]:
    do = do or Flow("part", deliver)
    write: Any = each("write", over=parts, do=do, collect=bind, **options)
    return Flow("items", write.to(deliver), deliver)


@pytest.mark.behaviour("A03")
def test_a_parallel_holds_its_branches_and_what_their_error_routes_lead_to() -> None:
    search = data_of(fan())["search"]
    assert (search["kind"], search["join"]) == ("parallel", "all")
    assert search["branches"]["starts"] == ["web", "docs"]
    assert [item["id"] for item in search["branches"]["nodes"]] == ["web", "docs", "cached"]
    (route,) = search["branches"]["routes"]
    assert (route["from"], route["to"], route["label"]) == ("web", "cached", "TimeoutError")


@pytest.mark.behaviour("A03")
def test_an_each_holds_the_flow_of_its_items_and_how_they_run() -> None:
    write = data_of(items(limit=2, on_item_error="collect", budget=Budget(requests=3)))["write"]
    assert (write["kind"], write["limit"], write["on_item_error"]) == ("each", 2, "collect")
    assert write["budget"] == {"rounds": 25, "requests": 3}
    assert write["flow"]["name"] == "part"
    assert [item["id"] for item in write["flow"]["nodes"]] == ["deliver"]


def test_a_sub_flow_holds_its_budget() -> None:
    part = Flow("part", deliver)
    plain = Flow("f", part.as_node("part").to(deliver), deliver)
    tight = Flow("f", part.as_node("part", budget=Budget(rounds=None)).to(deliver), deliver)
    assert data_of(plain)["part"]["budget"] is None
    assert data_of(tight)["part"]["budget"] == {}
    assert plain.signature != tight.signature


def test_what_stands_inside_stands_in_the_graph() -> None:
    search = fan().graph.nodes["search"]["graph"]
    assert list(search.nodes) == ["web", "docs", "cached"]
    assert list(search.edges(data="label")) == [("web", "cached", "TimeoutError")]
    assert list(items().graph.nodes["write"]["graph"].nodes) == ["deliver"]


def test_a_route_names_the_errors_that_its_row_opted_out_of_before() -> None:
    row = (
        look.to(deliver)
        .on_error(None, KeyError, OSError)
        .on_error(deliver, LookupError)
        .on_error(None, ValueError)
    )
    data = json.loads(Flow("f", row, deliver, apologise, on_error=apologise).to_json())
    assert [(route["label"], route["except"]) for route in data["routes"] if route["from"] == "look"] == [
        ("", ""),
        ("LookupError", "KeyError"),
        ("", "KeyError | OSError | ValueError"),
    ]


def test_nested_composites_are_data_at_any_depth() -> None:
    part = Flow("part", parallel("inner", look.named("a"), look.named("b"), join="any").to(deliver), deliver)
    outer = parallel("outer", items(do=part).as_node("items"), look)
    data = data_of(Flow("deep", outer.to(deliver), deliver))
    write = data["outer"]["branches"]["nodes"][0]["flow"]["nodes"][0]
    assert write["flow"]["nodes"][0]["join"] == "any"


def test_the_signature_covers_all_that_composites_declare() -> None:
    flows = [fan(), fan(join="any"), fan(join=1), items(), items(limit=2), items(on_item_error="collect")]
    flows += [items(budget=Budget()), items(do=Flow("part", deliver, description="other"))]
    flows += [items(do=Flow("part", deliver.on_error(apologise), apologise))]
    assert len({flow.signature for flow in flows}) == len(flows)
    assert fan().signature == fan().signature
