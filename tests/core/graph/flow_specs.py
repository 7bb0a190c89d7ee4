"""Random flows as plain data, the flows that are built of them, and what a brute-force search says of each.

The search knows nothing of plans. It unfolds every sub-flow into doors, bodies and exits, takes away the bodies
that cost a round, and lists every cycle that is left.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any, Literal, Never

import networkx as nx
from hypothesis import strategies as st

from flowcore import Budget, Complete, Continue, Flow, Node, Step, node

from .problem_examples import State

LABELS = ("a", "b", "c")
ERRORS = {"": (), "ValueError": (ValueError,), "KeyError | OSError": (KeyError, OSError)}


@dataclass(frozen=True)
class NodeSpec:
    """One node: `outcomes` maps each label ("" is a plain Continue) to the number of its target."""

    outcomes: dict[str, int]
    completes: bool
    starts_round: bool | None = None
    errors: tuple[tuple[str, int | None], ...] = ()
    over_limit: int | None = None
    inner: FlowSpec | None = None
    shared: bool = False
    has_budget: bool = False


ALONE: dict[str, Any] = {"outcomes": {}, "completes": True, "errors": (), "over_limit": None, "shared": False}


@dataclass(frozen=True)
class FlowSpec:
    nodes: tuple[NodeSpec, ...]
    default: int | None = None
    finish: int | None = None


@dataclass(frozen=True)
class Verdict:
    """What is wrong with a flow: its problems by code and place, and of each unpaid part its nodes and the
    length of its shortest cycles."""

    problems: Counter[tuple[str, str]]
    parts: dict[frozenset[str], int] = field(default_factory=dict)


# ---- Random specs ------------------------------------------------------------------------------------------


@st.composite
def flow_specs(draw: st.DrawFn, depth: int = 2) -> FlowSpec:
    size = draw(st.sampled_from([1, 2, 3, 4, 5, 6] if depth == 2 else [1, 2, 3]))
    default = draw(st.none() | st.integers(0, size - 1))
    finish = draw(st.none() | st.none() | st.integers(0, size - 1))
    return FlowSpec(tuple(draw(node_specs(number, size, depth)) for number in range(size)), default, finish)


@st.composite
def node_specs(draw: st.DrawFn, number: int, size: int, depth: int) -> NodeSpec:
    target = st.just((number + 1) % size) | st.integers(0, size - 1)
    labels: tuple[str, ...] = draw(st.sampled_from([("",), ("",), (), ("a",), ("a", "b"), LABELS]))
    inner, shared, has_budget = None, False, False
    if depth and draw(st.sampled_from([True, False, False])):
        inner = mended(draw(flow_specs(depth - 1)))
        shared, has_budget = draw(st.booleans()), draw(st.booleans())
    rounds = [False, False, None, True] if number == 0 and depth < 2 else [None, None, True, False]
    kinds = draw(st.lists(st.sampled_from(list(ERRORS)), max_size=2, unique=True))
    return NodeSpec(
        outcomes={label: draw(target) for label in (("",) if shared else labels)},
        completes=False if shared else draw(st.booleans()),
        starts_round=draw(st.sampled_from(rounds)),
        errors=tuple((kind, draw(st.none() | target)) for kind in kinds),
        over_limit=draw(st.none() | st.none() | target),
        inner=inner,
        shared=shared,
        has_budget=has_budget,
    )


def mended(spec: FlowSpec) -> FlowSpec:
    """Returns a sound flow that is like this one: only a sound flow can stand in another."""
    paid = {member for part in unpaid_parts(spec) for member in part}
    nodes = tuple(
        replace(
            item,
            completes=not item.shared,
            starts_round=True if f"n{number}" in paid else item.starts_round,
            errors=() if f"n{number}" in paid else item.errors,
            over_limit=None if f"n{number}" in paid else item.over_limit,
        )
        for number, item in enumerate(spec.nodes)
    )
    for finish in (spec.finish, None):
        better = FlowSpec(nodes, spec.default, finish)
        if is_sound(better):
            return better
    return FlowSpec((replace(nodes[0], **ALONE),))


# ---- The flow of a spec ------------------------------------------------------------------------------------


def build(spec: FlowSpec, name: str = "random") -> Flow[Any, Any, Any]:
    bare = [make_node(item, f"n{number}") for number, item in enumerate(spec.nodes)]
    rows = [make_row(item, bare[number], bare) for number, item in enumerate(spec.nodes)]
    default, finish = (None if number is None else bare[number] for number in (spec.default, spec.finish))
    return Flow(name, *rows, on_error=default, finish=finish)


def outcome_hint(item: NodeSpec) -> Any:
    hints: list[Any] = [Complete[str]] if item.completes else []
    hints += [Continue if label == "" else Continue[Literal[label]] for label in item.outcomes]  # type: ignore[valid-type]
    return reduce(or_, hints) if hints else Never


def make_node(item: NodeSpec, name: str) -> Node[Any, Any, Any, Any]:
    if item.inner is None:

        async def function(step: Step[State]) -> Any: ...

        function.__annotations__["return"] = outcome_hint(item)
        return node(starts_round=item.starts_round, id=name)(function)
    flow = build(item.inner, "inner")
    budget = Budget() if item.has_budget else None
    if item.shared:
        return flow.as_node(name, budget=budget)

    def enter(state: State) -> State:
        return state

    def leave(draft: State, result: str) -> Any: ...

    leave.__annotations__["return"] = outcome_hint(item)
    return flow.as_node(name, state=State, enter=enter, leave=leave, budget=budget)


def make_row(item: NodeSpec, row: Any, bare: list[Node[Any, Any, Any, Any]]) -> Any:
    for label, target in item.outcomes.items():
        row = row.to({label: bare[target]}) if label else row.to(bare[target])
    for kind, target in item.errors:
        row = row.on_error(None if target is None else bare[target], *ERRORS[kind])
    return row if item.over_limit is None else row.over_limit(bare[item.over_limit])


# ---- The search --------------------------------------------------------------------------------------------


def declared_edges(spec: FlowSpec) -> Iterator[tuple[int, str, int]]:
    """Yields each route as its source, the words it is shown with, and its target."""
    for number, item in enumerate(spec.nodes):
        for label, target in item.outcomes.items():
            yield number, label, target
        for kind, target in item.errors:
            if target is not None:
                yield number, f"error {kind}".strip(), target
        if spec.default not in (None, number) and "" not in dict(item.errors):
            yield number, "error", spec.default  # type: ignore[misc]
        if item.over_limit is not None:
            yield number, "over limit", item.over_limit


def unfolded(spec: FlowSpec, place: str = "") -> nx.DiGraph[str]:
    """Returns every place that a walk can stand at, and leaves out the bodies that cost a round."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for number, item in enumerate(spec.nodes):
        at = f"{place}n{number}"
        graph.add_edge(f"{at}:door", f"{at}:over limit")
        if item.inner is None:
            paid = number == 0 if item.starts_round is None else item.starts_round
            ways = () if paid else (f"{at}:outcome", f"{at}:error")
            graph.add_edges_from((f"{at}:door", way) for way in ways)
        else:
            graph.update(unfolded(item.inner, f"{at}/"))
            graph.add_edge(f"{at}:door", f"{at}:error")
            graph.add_edge(f"{at}:door", f"{at}/n0:door")
            graph.add_edge(f"{at}/:end", f"{at}:outcome")
            if item.has_budget and item.inner.finish is not None:
                graph.add_edge(f"{at}:door", f"{at}/n{item.inner.finish}:door")
        if item.completes:
            graph.add_edge(f"{at}:outcome", f"{place}:end")
    for source, words, target in declared_edges(spec):
        graph.add_edge(f"{place}n{source}:{exit_of(words)}", f"{place}n{target}:door")
    return graph


def with_insides(spec: FlowSpec, place: str = "") -> nx.DiGraph[str]:
    """Returns the declared routes of a flow and of the flows inside it, each sub-flow leading to its entry."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(f"{place}n{number}" for number in range(len(spec.nodes)))
    graph.add_edges_from((f"{place}n{source}", f"{place}n{target}") for source, _, target in declared_edges(spec))
    for number, item in enumerate(spec.nodes):
        if item.inner is not None:
            graph.update(with_insides(item.inner, f"{place}n{number}/"))
            graph.add_edge(f"{place}n{number}", f"{place}n{number}/n0")
    return graph


def exit_of(words: str) -> str:
    return "over limit" if words == "over limit" else "error" if words.startswith("error") else "outcome"


def verdict(spec: FlowSpec) -> Verdict:
    ids = [f"n{number}" for number in range(len(spec.nodes))]
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(ids)
    graph.add_edges_from((ids[source], ids[target]) for source, _, target in declared_edges(spec))
    entries = {ids[number] for number in (0, spec.default, spec.finish) if number is not None}
    ends = {ids[number] for number, item in enumerate(spec.nodes) if item.completes}
    found: Counter[tuple[str, str]] = Counter()
    for id in ids:
        if not any(nx.has_path(graph, entry, id) for entry in entries):
            found["unreachable", id] += 1
        if not any(nx.has_path(graph, id, end) for end in ends):
            found["dead_end", id] += 1
    if spec.finish is not None:
        whole = with_insides(spec)
        cycles = (cycle for cycle in nx.simple_cycles(whole) if nx.has_path(whole, ids[spec.finish], cycle[0]))
        found["finish_cycle", "random"] += any(True for _ in cycles)
    parts = unpaid_parts(spec)
    found["unpaid_cycle", "random"] += len(parts)
    return Verdict(+found, parts)


def unpaid_parts(spec: FlowSpec) -> dict[frozenset[str], int]:
    """Returns the sets of nodes that hang together by unpaid cycles, with the length of the shortest cycle."""
    parts: dict[frozenset[str], int] = {}
    for cycle in nx.simple_cycles(unfolded(spec)):
        members = frozenset(re.split("[:/]", place)[0] for place in cycle)
        length = len(members)
        for other in [other for other in parts if other & members]:
            length = min(length, parts.pop(other))
            members |= other
        parts[members] = length
    return parts


def is_sound(spec: FlowSpec) -> bool:
    return not verdict(spec).problems


def is_free(spec: FlowSpec, source: str, words: str) -> bool:
    """Returns whether a walk can get from a node's door to the exit of this route without paying in between."""
    graph = unfolded(spec)
    inside = [place for place in graph if place.startswith((f"{source}:", f"{source}/"))]
    return nx.has_path(graph.subgraph(inside), f"{source}:door", f"{source}:{exit_of(words)}")
