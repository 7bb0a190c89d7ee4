"""The diff of two flows: nothing between a flow and itself, exactly what was changed between two others."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.render.random_flows import flows, make_node

from flowcore import Complete, Continue, Flow, Node, Retry, Step, node, parallel
from flowcore.diff import FlowDiff, diff_flows, flow_text
from flowcore.recording import BranchesData, FlowData, flow_data, read_flow

THOROUGH = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


class Ticket(BaseModel):
    question: str = ""
    draft: str = ""


class Scored(BaseModel):
    question: str = ""
    draft: str = ""
    score: float = 0


def data(flow: Flow[Any, Any, Any]) -> FlowData:
    return flow_data(flow.plan)


def made(id: str, returns: Any, state: type = Ticket, **options: Any) -> Node[Any, Any, Any, Any]:
    async def function(step: Any) -> Any: ...

    function.__annotations__ = {"step": Step[state], "return": returns}  # type: ignore[valid-type]
    return node(id=id, **options)(function)  # type: ignore[no-any-return]


def triage(state: type = Ticket, check: str = "check", **using: Any) -> Flow[Any, Any, Any]:
    draft = made("draft", Continue, state, starts_round=True)
    checked = made(check, Continue[Literal["good", "poor"]], state)
    deliver, sorry = made("deliver", Complete[str], state), made("sorry", Complete[str], state)
    rows = draft.to(checked).using(**using).on_error(sorry), checked.to(good=deliver, poor=draft), deliver, sorry
    return Flow("triage", *rows)


def told(old: FlowData, new: FlowData) -> list[str]:
    return flow_text(diff_flows(old, new)).splitlines()[1:]


def changed(flow: FlowData, path: list[Any], value: Any) -> FlowData:
    """Returns a flow with another value at one place of its JSON."""
    whole = flow.model_dump(mode="json", by_alias=True)
    part = whole
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    return read_flow(json.loads(json.dumps(whole)))


# ---- What holds of all flows -------------------------------------------------------------------------------


@pytest.mark.behaviour("DIFF-1")
@THOROUGH
@given(flows())
def test_a_flow_does_not_differ_from_itself(flow: Flow[Any, Any, Any]) -> None:
    diff = diff_flows(data(flow), read_flow(json.loads(flow.to_json())))
    assert diff.changes == ()
    assert flow_text(diff).endswith(": no difference\n")


@pytest.mark.behaviour("DIFF-1")
@THOROUGH
@given(flows(), flows())
def test_any_two_flows_that_declare_something_else_differ_and_no_others_do(a: Any, b: Any) -> None:
    old, new = data(a), data(b)
    diff = diff_flows(old, new)
    assert bool(diff.changes) == (old != new)
    assert len(flow_text(diff).splitlines()) == 1 + len(diff.changes)
    assert diff == diff_flows(old, new)


def counted(diff: FlowDiff, kind: str) -> list[tuple[str, str]]:
    return sorted((change.what, change.path) for change in diff.changes if change.kind == kind)


def paths(flow: FlowData) -> set[str]:
    return {path for path, _ in flow.walk()}


@pytest.mark.behaviour("DIFF-1")
@THOROUGH
@given(flows(), flows())
def test_swapped_what_was_added_was_removed(a: Any, b: Any) -> None:
    old, new = data(a), data(b)
    there, back = diff_flows(old, new), diff_flows(new, old)
    assume(not any(change.words.startswith("renamed") for change in there.changes))
    assert counted(there, "added") == counted(back, "removed")
    assert counted(there, "removed") == counted(back, "added")
    assert counted(there, "changed") == counted(back, "changed")


@THOROUGH
@given(flows(), flows())
def test_what_was_added_is_in_the_new_flow_alone(a: Any, b: Any) -> None:
    old, new = data(a), data(b)
    nodes = [change for change in diff_flows(old, new).changes if change.what == "node"]
    assert {change.path for change in nodes if change.kind == "added"} <= paths(new) - paths(old)
    assert {change.path for change in nodes if change.kind == "removed"} <= paths(old) - paths(new)


def places(flow: FlowData) -> list[tuple[str, list[Any]]]:
    """Returns the path of every node, with its place in the JSON of the flow."""

    def inside(nodes: Any, prefix: str, place: list[Any]) -> Any:
        for number, item in enumerate(nodes):
            at = [*place, "nodes", number]
            yield f"{prefix}{item.id}", at
            if item.inside is not None:
                key = "branches" if isinstance(item.inside, BranchesData) else "flow"
                yield from inside(item.inside.nodes, f"{prefix}{item.id}/", [*at, key])

    return list(inside(flow.nodes, "", []))


MUTATIONS = [
    ("timeout", 7.5, "timeout none to 7.5 s", ""),
    ("retry", 4, "retry none to 4", ""),
    ("effects", True, "now has effects", "a stored run may have begun it under another rule"),
    ("deps", "Shop", "wants deps Shop, was object", ""),
    ("writes", ["text"], "writes text, was any field", ""),
    ("state", "Other", "takes Other, was Paper", ""),
]


@pytest.mark.behaviour("DIFF-1", "DIFF-2")
@THOROUGH
@given(flows(), st.data(), st.sampled_from(MUTATIONS))
def test_one_change_of_a_node_at_any_depth_is_told_as_that_one(
    flow: Flow[Any, Any, Any], pick: st.DataObject, mutation: tuple[str, Any, str, str]
) -> None:
    old = data(flow)
    path, place = pick.draw(st.sampled_from(places(old)))
    key, value, words, breaks = mutation
    diff = diff_flows(old, changed(old, [*place, key], value))
    assert [(c.kind, c.what, c.path, c.words, c.breaks) for c in diff.changes] == [
        ("changed", "node", path, words, breaks)
    ]


@pytest.mark.behaviour("DIFF-1")
@settings(THOROUGH, max_examples=60)
@given(flows(), st.data())
def test_a_node_that_is_taken_out_is_told_with_its_routes_and_nothing_else(
    flow: Flow[Any, Any, Any], pick: st.DataObject
) -> None:
    new = data(flow)
    path, place = pick.draw(st.sampled_from(places(new)[::-1]))
    whole = new.model_dump(mode="json", by_alias=True)
    level = whole
    for step in place[:-2]:
        level = level[step]
    id = level["nodes"][place[-1]]["id"]
    assume(id not in (level.get("entry"), level.get("finish")))
    routes = [route for route in level["routes"] if id in (route["from"], route["to"])]
    del level["nodes"][place[-1]]
    level["routes"] = [route for route in level["routes"] if route not in routes]
    level["starts"] = [start for start in level.get("starts", []) if start != id]
    prefix = path.removesuffix(id)
    wanted = sorted([("node", path), *(("route", prefix + route["from"]) for route in routes)])
    diff = diff_flows(read_flow(whole), new)
    assert counted(diff, "added") == wanted
    assert counted(diff, "removed") == counted(diff, "changed") == []


# ---- In words ----------------------------------------------------------------------------------------------


def test_limits_are_told_from_what_to_what() -> None:
    old, new = triage(timeout=20), triage(retry=Retry(attempts=3), max_visits=2)
    assert told(data(old), data(new)) == [
        "~ draft: timeout 20 s to none",
        "~ draft: retry none to 3",
        "~ draft: max visits none to 2",
    ]


@pytest.mark.behaviour("DIFF-2")
def test_a_state_that_gains_a_field_says_so_once() -> None:
    assert told(data(triage()), data(triage(Scored))) == [
        "~ the flow: state Ticket to Scored",
        "~ the flow: state gains score: float"
        "  [breaks: a stored state has no value for it; only a default can help]",
    ]
    assert told(data(triage(Scored)), data(triage()))[1] == (
        "~ the flow: state loses score: float  [breaks: a stored state holds a value for it]"
    )


@pytest.mark.behaviour("DIFF-2")
def test_a_node_that_is_alike_in_all_but_its_name_was_renamed() -> None:
    diff = diff_flows(data(triage()), data(triage(check="judge")))
    assert flow_text(diff) == (
        "flow triage: 1 change; 1 may keep stored runs from going on\n"
        "~ judge: renamed, was check  [breaks: a stored run may stand at it]\n"
    )


@pytest.mark.parametrize("key", ["description", "timeout", "effects"])
def test_a_node_that_changed_otherwise_too_is_another_one(key: str) -> None:
    new = changed(
        data(triage(check="judge")), ["nodes", 1, key], {"description": "x", "timeout": 1}.get(key, True)
    )
    lines = told(data(triage()), new)
    assert "- check: removed  [breaks: a stored run may stand at it]" in lines
    assert "+ judge: added" in lines
    assert not any("renamed" in line for line in lines)


def twins(*names: str) -> FlowData:
    start = made("start", Continue[Literal["a", "b"]], starts_round=True)
    left, right = (made(name, Complete[str]) for name in names)
    flow = data(Flow("twins", start.to(a=left, b=right), left, right))
    return changed(flow, ["routes", 1, "label"], "a")


def test_of_two_nodes_that_could_be_the_renamed_one_neither_is() -> None:
    words = [change.words for change in diff_flows(twins("l", "r"), twins("x", "y")).changes]
    assert words.count("removed") == 2
    assert words.count("added") == 2


@pytest.mark.behaviour("DIFF-2")
def test_routes_are_told_by_when_they_are_taken() -> None:
    old = data(triage())
    poor = next(number for number, route in enumerate(old.routes) if route.label == "poor")
    assert told(old, changed(old, ["routes", poor, "to"], "sorry")) == [
        "~ check: leads to sorry on poor, led to draft on poor"
    ]
    assert told(old, changed(old, ["routes", poor, "label"], "bad")) == [
        "+ check: leads to draft on bad",
        "- check: led to draft on poor",
    ]
    error = next(number for number, route in enumerate(old.routes) if route.kind == "error")
    assert told(old, changed(old, ["routes", error, "label"], "KeyError")) == [
        "+ draft: leads to sorry on error KeyError",
        "- draft: led to sorry on any error",
    ]


def test_the_order_of_error_routes_counts_since_the_first_match_wins() -> None:
    def flow(*kinds: type[Exception]) -> FlowData:
        a, b = made("a", Continue), made("b", Complete[str])
        row = a.to(b)
        for kind in kinds:
            row = row.on_error(b, kind)
        return data(Flow("f", row, b))

    assert told(flow(KeyError, OSError), flow(OSError, KeyError)) == [
        "~ a: routes in another order: to b; b on error OSError; b on error KeyError"
    ]


def fan(*names: str, join: Any = "all") -> FlowData:
    branches = [made(name, Continue) for name in names]
    last = made("last", Complete[str])
    return data(Flow("fan", parallel("fan", *branches, join=join).to(last), last))


@pytest.mark.behaviour("DIFF-2")
def test_branches_in_flight_must_stay_the_same() -> None:
    same = "a stored run would not be the same"
    assert told(fan("a", "b"), fan("a", "b", "c")) == [f"+ fan/c: added  [breaks: the branches of {same}]"]
    assert told(fan("a", "b"), fan("a")) == [f"- fan/b: removed  [breaks: the branches of {same}]"]
    assert told(fan("a", "b"), fan("b", "a")) == [
        f"~ fan: branches in another order: b, a  [breaks: the branches of {same}]"
    ]
    assert told(fan("a", "b"), fan("a", "b", join="any")) == [
        "~ fan: join all to any  [breaks: the branches of a stored run wait for another join]"
    ]


@pytest.mark.behaviour("A145")
def test_a_node_is_known_by_its_path_and_not_by_its_name() -> None:
    def flow(outer: Any, inner: Any) -> FlowData:
        check = made("check", Complete[str]).using(timeout=inner)
        sub = Flow("sub", check).as_node("sub", state=Ticket)
        last = made("check", Complete[str])
        return data(Flow("flow", sub.to(last), last.using(timeout=outer)))

    assert told(flow(None, None), flow(None, 3)) == ["~ sub/check: timeout none to 3 s"]
    assert told(flow(None, None), flow(3, None)) == ["~ check: timeout none to 3 s"]


def test_another_kind_of_node_is_one_change_whatever_stands_inside() -> None:
    inner = Flow("inner", made("one", Complete[str]))
    last = made("last", Complete[str])

    def flow(first: Any) -> FlowData:
        return data(Flow("flow", first.to(last), last))

    lines = told(flow(made("first", Continue, starts_round=False)), flow(inner.as_node("first", state=Ticket)))
    assert lines == ["~ first: function to subflow  [breaks: a stored run may stand at it, as what it was]"]


@pytest.mark.behaviour("DIFF-2")
def test_what_does_not_touch_stored_runs_is_said_not_to() -> None:
    diff = diff_flows(data(triage()), data(triage(timeout=3)))
    assert diff.breaking == ()
    assert flow_text(diff).splitlines()[0] == "flow triage: 1 change; stored runs can go on"


def test_names_are_one_visible_line_each() -> None:
    hostile = make_node("a\u202eb\x1b", Complete[str], True)
    plain = make_node("plain", Complete[str], True)
    text = flow_text(diff_flows(data(Flow("one", plain)), data(Flow("two\u200b", hostile.using(timeout=2)))))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "a\\u202eb\\x1b: added" in text
