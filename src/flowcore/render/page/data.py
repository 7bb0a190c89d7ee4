"""The data of a page: a recording as compact JSON, as a page reads it and as a server sends it.

A page is given whole runs by `page_json`. A live page gets more from the stream of events that it was given the
path of. Each event has one of these names, and data on one line:

- `visit`: `visit_json(visit)` of a visit that began or ended; it replaces the one with the same path.
- `head`: `head_json(run)` whenever the header should be told anew. Optional.
- `end`: `head_json(run)` of the run that has ended. The page closes the stream.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...recording import Fault, FlowData, GraphData, ModelCall, Recording, VisitData
from ..drawing import Drawing
from ..marks import Ways
from ..words import edge_words
from .comparing import Comparison
from .header import DIMENSIONS, head_data

__all__ = ["head_json", "page_json", "visit_json"]

_MOST = 3_500_000
"""Characters of JSON above which values are cut."""
_CUTS = (2_000, 400, 120, 40)
_MICRO = 1_000_000
_SCRIPT = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}
"""What could end the element around, or begin another one. Nothing but ASCII is written."""

Text = Callable[[str], int | str]
"""What stands for a text: the text, or its place in a table."""


def visit_json(visit: VisitData) -> str:
    """Return a visit as the data of an event named `visit`, on one line."""
    return _dumped(_visit(visit, str, str))


def head_json(run: Recording) -> str:
    """Return what a header says of a run as the data of an event named `head` or `end`, on one line."""
    return _dumped(head_data(run))


def page_json(run: Recording, drawing: Drawing, comparison: Comparison | None, live: str | None) -> str:
    """Return everything that a page knows of a run, safe inside a script element.

    Of long values the beginning is left where all of them would make the page too large.
    """
    text = _page(run, drawing, comparison, live, str)
    for longest in _CUTS:
        if len(text) <= _MOST:
            break
        text = _page(run, drawing, comparison, live, _cutter(longest))
    return text


def _page(
    run: Recording, drawing: Drawing, comparison: Comparison | None, live: str | None, cut: Callable[[str], str]
) -> str:
    table = {"": 0}

    def known(text: str) -> int:
        return table.setdefault(text, len(table))

    def cut_known(text: str) -> int:
        return known(cut(text))

    data: dict[str, Any] = {
        "head": {**head_data(run), "value": cut(run.value)},
        "state": {name: cut(value) for name, value in run.state.items()},
        "live": live,
        **_declared(run.flow, drawing),
        "visits": [_visit(visit, known, cut_known) for visit in sorted(run.visits, key=lambda visit: visit.seq)],
    }
    if comparison is not None:
        data["other"] = comparison.data()
    return _dumped({**data, "texts": list(table)})


def _declared(flow: FlowData, drawing: Drawing) -> Mapping[str, Any]:
    """Return what a page must know of the flow: the ids of its nodes, and their routes with their edges."""
    ways = Ways(drawing)
    return {
        "ids": ways.ids,
        "start": ways.start,
        "finish": ways.finish,
        "routes": {ways.ids[path]: routes for path, routes in _routes(flow, "", ways)},
    }


def _routes(flow: FlowData, prefix: str, ways: Ways) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield of each node its routes: edge, kind, words, target. The way to the end comes last."""
    for graph, above in _graphs(flow, prefix):
        routes = graph.routes_of()
        for node in graph.nodes:
            path = f"{above}{node.id}"
            edges = ways.out.get(ways.ids[path], [])
            told = [[route.kind, edge_words(route, node), route.target] for route in routes[node.id]]
            told += [[edge.kind, "", ""] for edge in edges[len(told) :]]
            yield path, [[edge.id, *words] for edge, words in zip(edges, told, strict=True)]


def _graphs(graph: GraphData, prefix: str) -> Iterator[tuple[GraphData, str]]:
    yield graph, prefix
    for node in graph.nodes:
        if node.inside is not None:
            yield from _graphs(node.inside, f"{prefix}{node.id}/")


def _visit(visit: VisitData, name: Text, value: Text) -> list[Any]:
    """Return a visit as a row, in the order of FIELDS in model.js. What is not there is left out at the end.

    `name` says what stands for a text that others are told from, `value` what stands for any other.
    """
    spent = visit.spent
    row: list[Any] = [
        name(visit.path),
        visit.seq,
        visit.round,
        _micro(visit.started),
        -1 if visit.ended is None else _micro(visit.ended),
        name(visit.kind),
        name(visit.label),
        name(visit.target),
        visit.edge,
        visit.attempts,
        [getattr(spent, dimension) for dimension in DIMENSIONS],
        name(visit.branch),
        int(visit.dropped),
        name(visit.finish),
        [[name(key), value(shown)] for key, shown in (visit.why or {}).items()],
        [
            [name(change.kind), name(change.place), value(change.was), value(change.now)]
            for change in visit.changes
        ],
        [_call(call, name, value) for call in visit.calls],
        [[name(said.kind), name(said.name), value(said.text), _micro(said.at)] for said in visit.said],
        _fault(visit.failure, name, value),
        [[_micro(at), _fault(fault, name, value)] for at, fault in visit.retried],
    ]
    while row[-1] in (0, "", []):
        row.pop()
    return row


def _call(call: ModelCall, name: Text, value: Text) -> list[Any]:
    ended = -1 if call.ended is None else _micro(call.ended)
    failure = _fault(call.failure, name, value)
    return [name(call.model), _micro(call.started), ended, call.tokens, call.cost, failure]


def _fault(fault: Fault | None, name: Text, value: Text) -> list[Any] | int:
    return 0 if fault is None else [name(fault.type), value(fault.message), name(fault.path), fault.attempts]


def _micro(seconds: float) -> int:
    return round(seconds * _MICRO)


def _dumped(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False).translate(_SCRIPT)


def _cutter(longest: int) -> Callable[[str], str]:
    def cut(text: str) -> str:
        if len(text) <= longest:
            return text
        mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return f"{text[:longest]}... ({len(text)} characters, {mark})"

    return cut
