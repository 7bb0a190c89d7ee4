"""The diff of two flows: everything that was added, removed or changed between them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ..recording import BranchesData, FlowData, GraphData, RouteData
from ..recording.keeping import FINISHES, LEFT, SIDE_BY_SIDE, broken_routes
from .change import FlowChange, FlowDiff
from .matching import Level, NodePair, RoutePair, match
from .wording import listed, node_changes, route_words, setting_words

__all__ = ["diff_flows"]

_STANDS = "a stored run may stand at it"
_NAME = "a stored run is one of the flow of its name"
_FIELD_CAME = "a stored state has no value for it; only a default can help"
_FIELD_WENT = "a stored state holds a value for it"
_FIELD_TYPE = "a stored value may not load as this"

Around = tuple[FlowData, FlowData]
"""The flows that a level stands in, old and new."""


def diff_flows(old: FlowData, new: FlowData) -> FlowDiff:
    """Return how two flows differ, and which changes keep stored runs from going on.

    The changes come in the order of the rows: those of a flow, then for each node its own, its routes, and what
    stands inside it. What stands inside a composite that was added or removed is told by that one line.
    """
    return FlowDiff(old, new, tuple(_level_changes(match(old, new), None)))


def _level_changes(level: Level, around: Around | None) -> Iterator[FlowChange]:
    old, new = level.old, level.new
    path = level.prefix[1].rstrip("/")
    if isinstance(old, FlowData) and isinstance(new, FlowData):
        yield from (FlowChange("changed", "flow", path, *told) for told in _flow_changes(old, new, level, around))
        around = (old, new)
    yield from _order_changes(level, path)
    for pair in level.nodes:
        yield from _pair_changes(pair, level, around)
        if pair.inside is not None:
            yield from _level_changes(pair.inside, around)


Told = tuple[str, str]
"""A change in words, and why it breaks stored runs."""


def _flow_changes(old: FlowData, new: FlowData, level: Level, around: Around | None) -> Iterator[Told]:
    if old.name != new.name:
        yield f"name {old.name} to {new.name}", _NAME if around is None else ""
    if old.description != new.description:
        yield "another description", ""
    if around is None or _states((old, new)) != _states(around):  # where it shares the state, that is told
        yield from _state_changes(old, new)
    if old.results != new.results:
        yield f"results {listed(old.results)} to {listed(new.results)}", ""
    for role in ("entry", "finish"):
        was, now = getattr(old, role), getattr(new, role)
        if level.names.get(was, was) != now:
            breaks = FINISHES if role == "finish" and now is None else ""
            yield f"{role} {was or 'none'} to {now or 'none'}", breaks
    yield from ((words, "") for words in setting_words("reserve", old.reserve, new.reserve))


def _states(flows: Around) -> list[object]:
    return [(flow.state, list(flow.fields.items())) for flow in flows]


def _state_changes(old: FlowData, new: FlowData) -> Iterator[Told]:
    if old.state != new.state:
        known = old.fields and new.fields  # then the fields say whether it loads
        yield f"state {old.state} to {new.state}", "" if known else _FIELD_TYPE
    for name in chain(new.fields, (name for name in old.fields if name not in new.fields)):
        was, now = old.fields.get(name), new.fields.get(name)
        if was is None:
            yield f"state gains {name}: {now}", _FIELD_CAME
        elif now is None:
            yield f"state loses {name}: {was}", _FIELD_WENT
        elif was != now:
            yield f"state field {name}: {was} to {now}", _FIELD_TYPE
    if _is_shuffled(list(old.fields), list(new.fields)):
        yield f"fields of the state in another order: {', '.join(new.fields)}", ""


def _order_changes(level: Level, path: str) -> Iterator[FlowChange]:
    """Yield what changed places: branches, which are kept by their place, or else rows."""
    old, new, names = level.old, level.new, level.names
    if isinstance(old, BranchesData) and isinstance(new, BranchesData):
        before = [names.get(start, start) for start in old.starts]
        turned = [id for id in names.values() if (id in before) != (id in new.starts)]
        for id in turned:
            words = "is a branch now" if id in new.starts else "is no branch any more"
            yield FlowChange("changed", "node", f"{level.prefix[1]}{id}", words, SIDE_BY_SIDE)
        if _is_shuffled(before, list(new.starts)):
            words = f"branches in another order: {', '.join(new.starts)}"
            yield FlowChange("changed", "node", path, words, SIDE_BY_SIDE)
            return
        if turned:
            return
    rows = [node.id for node in new.nodes]
    if _is_shuffled([names[node.id] for node in old.nodes if node.id in names], rows):
        yield FlowChange("changed", "flow", path, f"rows in another order: {', '.join(rows)}")


def _is_shuffled(before: list[str], after: list[str]) -> bool:
    """Return whether what is in both stands in another order."""
    kept, known = set(after), set(before)
    return [name for name in before if name in kept] != [name for name in after if name in known]


def _pair_changes(pair: NodePair, level: Level, around: Around | None) -> Iterator[FlowChange]:
    old, new = pair.old, pair.new
    path = f"{level.prefix[0 if new is None else 1]}{pair.id}"
    if old is not None and new is not None:
        if old.id != new.id:
            breaks = "" if old.id in new.renamed_from else _STANDS
            yield FlowChange("changed", "node", path, f"renamed, was {old.id}", breaks)
        implied = None if around is None else (around[0].state, around[1].state)
        routed = any(_is_next(route) for route in pair.routes if not route.is_same)
        for told in node_changes(old, new, implied=implied, routed=routed):
            yield FlowChange("changed", "node", path, *told)
    elif new is not None:
        breaks = SIDE_BY_SIDE if _is_branch(new.id, level.new) else ""
        yield FlowChange("added", "node", path, _of_kind(new.kind, "added"), breaks)
    elif old is not None:
        breaks = SIDE_BY_SIDE if _is_branch(old.id, level.old) else _STANDS
        yield FlowChange("removed", "node", path, _of_kind(old.kind, "removed"), breaks)
    for route in pair.routes:
        if not route.is_same:
            yield _route_change(route, pair, path)
    if pair.reordered:
        order = "; ".join(route_words(route.new) for route in pair.routes if route.new is not None)
        yield FlowChange("changed", "route", path, f"routes in another order: to {order}")


def _of_kind(kind: str, words: str) -> str:
    return words if kind == "function" else f"{words} ({kind})"


def _is_branch(id: str, graph: GraphData) -> bool:
    return isinstance(graph, BranchesData) and id in graph.starts


def _is_next(route: RoutePair) -> bool:
    return any(way is not None and way.kind == "next" for way in (route.old, route.new))


def _route_change(route: RoutePair, pair: NodePair, path: str) -> FlowChange:
    if route.new is None:
        assert route.old is not None  # a pair is of something
        breaks = LEFT if _may_be_pending(route.old, pair) else ""
        return FlowChange("removed", "route", path, f"led to {route_words(route.old)}", breaks)
    if route.old is None:
        return FlowChange("added", "route", path, f"leads to {route_words(route.new)}")
    words = f"leads to {route_words(route.new)}, led to {route_words(route.old)}"
    return FlowChange("changed", "route", path, words)


def _may_be_pending(route: RouteData, pair: NodePair) -> bool:
    """Return whether a run may be stored inside a visit whose outcome is partly known, and leads here."""
    if pair.old is None or pair.new is None or pair.old.kind != pair.new.kind:
        return False
    return route in tuple(
        broken_routes(pair.old, (route,), [way.new for way in pair.routes if way.new is not None])
    )
