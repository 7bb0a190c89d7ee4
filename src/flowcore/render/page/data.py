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

from ...recording import Fault, FlowData, GraphData, Recording, VisitData
from ..drawing import Drawing
from ..marks import Ways, outcome_of
from ..words import edge_words
from .comparing import Comparison
from .entries import Entry, Line, change_line, entries
from .header import DIMENSIONS, head_data

__all__ = ["head_json", "page_json", "visit_json"]

_MOST = 3_500_000
"""Characters of JSON above which values are cut."""
_CUTS = (2_000, 400, 120, 40)
_MICRO = 1_000_000
_SCRIPT = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}
"""What could end the element around, or begin another one. Nothing but ASCII is written."""

_FIELDS: Mapping[str, Any] = {
    "path": "",
    "seq": 0,
    "round": 0,
    "started": 0,
    "ended": 0,
    "kind": "",
    "outcome": "",
    "label": "",
    "target": "",
    "edge": -1,
    "attempts": 0,
    "spent": [],
    "branch": "",
    "dropped": 0,
    "finish": "",
    "why": [],
    "changes": [],
    "entries": [],
    "failure": None,
}
"""What a row says of a visit, in this order, and what it means where a row is shorter. Texts are `""`."""
_REASONS = {"next": "the way on", "label": "label", "error": "error route", "over_limit": "the way out"}
_ENDS = {
    "complete": ["completes", "here it ends"],
    "join": ["to the join", "the branch is through"],
    "failed": ["no route", "no error route takes this failure"],
    "unfinished": ["not finished", "the run ended first"],
    "running": ["under way", ""],
}
"""How a visit that took no route was left, and why."""
_SIGNS = {"ok": "✓", "failed": "✕", "retried": "↻", "over limit": "⊘", "unfinished": "◌", "running": "●"}

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
        "fields": list(_FIELDS.items()),
        "ends": _ENDS,
        "signs": _SIGNS,
        **_declared(run.flow, drawing),
        "visits": [_visit(visit, known, cut_known) for visit in sorted(run.visits, key=lambda visit: visit.seq)],
    }
    if comparison is not None:
        data["other"] = comparison.data()
    return _dumped({**data, "texts": list(table)})


def _declared(flow: FlowData, drawing: Drawing) -> Mapping[str, Any]:
    """Return what a page must know of the flow: the ids of its nodes as declared, their routes and edges."""
    ways = Ways(drawing)
    routes = dict(_routes(flow, "", ways))
    return {
        "ids": {path: ways.ids[path] for path in routes},
        "start": ways.start,
        "finish": ways.finish,
        "routes": {ways.ids[path]: told for path, told in routes.items()},
    }


def _routes(flow: FlowData, prefix: str, ways: Ways) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield of each node its routes: edge, kind, words, target, reason. The way to the end comes last."""
    for graph, above in _graphs(flow, prefix):
        routes = graph.routes_of()
        for node in graph.nodes:
            path = f"{above}{node.id}"
            edges = ways.out.get(ways.ids[path], [])
            only = sum(route.kind != "error" for route in routes[node.id]) == 1
            told = [
                [
                    route.kind,
                    edge_words(route, node),
                    route.target,
                    "the only route" if only and route.kind == "next" else _REASONS[route.kind],
                ]
                for route in routes[node.id]
            ]
            told += [[edge.kind, "", "", ""] for edge in edges[len(told) :]]
            yield path, [[edge.id, *words] for edge, words in zip(edges, told, strict=True)]


def _graphs(graph: GraphData, prefix: str) -> Iterator[tuple[GraphData, str]]:
    yield graph, prefix
    for node in graph.nodes:
        if node.inside is not None:
            yield from _graphs(node.inside, f"{prefix}{node.id}/")


def _visit(visit: VisitData, name: Text, value: Text) -> list[Any]:
    """Return a visit as a row, in the order of _FIELDS. What is as if nothing were said is left out at the end.

    `name` says what stands for a text that others are told from, `value` what stands for any other.
    """
    spent = visit.spent
    told = {
        "path": name(visit.path),
        "seq": visit.seq,
        "round": visit.round,
        "started": _micro(visit.started),
        "ended": _micro(visit.ended),
        "kind": name(visit.kind),
        "outcome": name(outcome_of(visit)),
        "label": name(visit.label),
        "target": name(visit.target),
        "edge": visit.edge,
        "attempts": visit.attempts,
        "spent": [getattr(spent, dimension) for dimension in DIMENSIONS],
        "branch": name(visit.branch),
        "dropped": int(visit.dropped),
        "finish": name(
            f"The finish path began here, since {visit.finish.replace('_', ' ')} ran out." if visit.finish else ""
        ),
        "why": [[name(key), value(shown)] for key, shown in (visit.why or {}).items()],
        "changes": [_line(change_line(change), name, value) for change in visit.changes],
        "entries": [_entry(entry, name, value) for entry in entries(visit)],
        "failure": _fault(visit.failure, name, value),
    }
    row = [told[field] for field in _FIELDS]
    while row[-1] in (None, 0, "", []):
        row.pop()
    return row


def _line(line: Line, name: Text, value: Text) -> list[Any]:
    return [line.sign, name(line.place), line.joint, value(line.now), value(line.was)]


def _entry(entry: Entry, name: Text, value: Text) -> list[Any]:
    return [
        entry.sign,
        entry.what,
        name(entry.name),
        _micro(entry.began),
        _micro(entry.ended),
        value(entry.words),
        [value(text) for text in entry.texts],
        _fault(entry.failure, name, value),
    ]


def _fault(fault: Fault | None, name: Text, value: Text) -> list[Any] | None:
    return None if fault is None else [name(fault.type), value(fault.message)]


def _micro(seconds: float | None) -> int:
    """Return a time as a page reads it; -1 while something is under way."""
    return -1 if seconds is None else round(seconds * _MICRO)


def _dumped(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False).translate(_SCRIPT)


def _cutter(longest: int) -> Callable[[str], str]:
    def cut(text: str) -> str:
        if len(text) <= longest:
            return text
        mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return f"{text[:longest]}... ({len(text)} characters, {mark})"

    return cut
