"""The matching: which nodes and routes of two flows are the same ones, level by level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..recording import FlowData, GraphData, NodeData, RouteData
from ..recording.keeping import former_ids

__all__ = ["Level", "NodePair", "RoutePair", "match"]


@dataclass(frozen=True, slots=True)
class RoutePair:
    """A route as it was and as it is; None where it is not. `target` is where it led, by today's ids."""

    old: RouteData | None
    new: RouteData | None
    target: str = ""

    @property
    def is_same(self) -> bool:
        """Whether nothing of it changed but the names of its ends."""
        if self.old is None or self.new is None:
            return False
        return _words(self.old) == _words(self.new) and self.target == self.new.target


@dataclass(frozen=True, slots=True)
class NodePair:
    """A node as it was and as it is, with its routes.

    `inside` is there where both are composites of one kind; `reordered` says that routes changed places.
    """

    old: NodeData | None
    new: NodeData | None
    routes: tuple[RoutePair, ...]
    inside: Level | None = None
    reordered: bool = False

    @property
    def id(self) -> str:
        """Its id today; of one that was removed, the last."""
        known = self.new if self.new is not None else self.old
        assert known is not None  # one of the two is always there
        return known.id


@dataclass(frozen=True, slots=True)
class Level:
    """Two graphs that stand at one place. `prefix` is the path of the place with its slash, old and new.

    `names` has today's ids by the former ones, for nodes that are in both. A node that was removed stands behind
    the one that it stood behind.
    """

    prefix: tuple[str, str]
    old: GraphData
    new: GraphData
    names: Mapping[str, str]
    nodes: tuple[NodePair, ...]

    def walk(self) -> Iterator[Level]:
        """Yield this level and those inside it, outer ones first."""
        yield self
        for pair in self.nodes:
            if pair.inside is not None:
                yield from pair.inside.walk()


def match(old: GraphData, new: GraphData, prefix: tuple[str, str] = ("", "")) -> Level:
    """Return which nodes and routes of two graphs are the same ones.

    A node is the one with the same id, or one that was renamed: of the same kind, with the same settings,
    description and inside, entered and left by the same routes from and to the same nodes, and the only one of
    which this holds.
    """
    names = _names(old, new)
    former = {today: before for before, today in names.items()}
    nodes = {node.id: node for node in old.nodes}
    ways = old.routes_of(), new.routes_of()
    pairs: list[NodePair] = []
    for node in new.nodes:
        before = nodes.get(former.get(node.id, ""))
        left = ways[0][before.id] if before is not None else []
        routes = _pair_routes(left, ways[1][node.id], names)
        pairs.append(NodePair(before, node, routes, _inside(before, node, prefix), _is_reordered(left, routes)))
    removed = {
        node.id: NodePair(node, None, _pair_routes(ways[0][node.id], (), names))
        for node in old.nodes
        if node.id not in names
    }
    return Level(prefix, old, new, names, tuple(_with_removed(pairs, removed, old)))


def _inside(old: NodeData | None, new: NodeData, prefix: tuple[str, str]) -> Level | None:
    if old is None or old.inside is None or new.inside is None or old.kind != new.kind:
        return None
    return match(old.inside, new.inside, (f"{prefix[0]}{old.id}/", f"{prefix[1]}{new.id}/"))


def _with_removed(
    pairs: Sequence[NodePair], removed: Mapping[str, NodePair], old: GraphData
) -> Iterator[NodePair]:
    """Yield the pairs, and what was removed behind what it stood behind."""
    behind: dict[str, list[NodePair]] = {"": []}
    before = ""
    for node in old.nodes:
        if node.id in removed:
            behind[before].append(removed[node.id])
        else:
            behind[before := node.id] = []
    yield from behind[""]
    for pair in pairs:
        yield pair
        if pair.old is not None:
            yield from behind[pair.old.id]


def _pair_routes(
    old: Sequence[RouteData], new: Sequence[RouteData], names: Mapping[str, str]
) -> tuple[RoutePair, ...]:
    """Pair routes that are wholly alike, then those of one kind and label; the others came or went."""
    left = [RoutePair(route, None, names.get(route.target, route.target)) for route in old]
    found: dict[int, RoutePair] = {}
    for alike in (_is_same, _is_of_one_kind):
        for place, route in enumerate(new):
            if place in found:
                continue
            tried = (RoutePair(pair.old, route, pair.target) for pair in left)
            number, pair = next(((at, pair) for at, pair in enumerate(tried) if alike(pair)), (-1, None))
            if pair is not None:
                found[place] = pair
                del left[number]
    return (*(found.get(place, RoutePair(None, route)) for place, route in enumerate(new)), *left)


def _is_reordered(old: Sequence[RouteData], pairs: Sequence[RoutePair]) -> bool:
    places = {id(route): place for place, route in enumerate(old)}
    found = [places[id(pair.old)] for pair in pairs if pair.old is not None and pair.new is not None]
    return found != sorted(found)


def _is_same(pair: RoutePair) -> bool:
    return pair.is_same


def _is_of_one_kind(pair: RoutePair) -> bool:
    old, new = pair.old, pair.new
    return old is not None and new is not None and (old.kind, old.label) == (new.kind, new.label)


def _words(route: RouteData) -> tuple[str, str, bool, str]:
    return route.kind, route.label, route.default, route.exempt


def _names(old: GraphData, new: GraphData) -> dict[str, str]:
    today = {node.id for node in new.nodes}
    names = {node.id: node.id for node in old.nodes if node.id in today}
    names |= {
        former: id for former, id in former_ids(old, new).items() if former in {node.id for node in old.nodes}
    }
    while True:
        came = _shapes(new, {id: id for id in names.values()})
        went = _shapes(old, names)
        found = {went[shape]: came[shape] for shape in went if shape in came}
        if not found:
            return names
        names |= found


def _shapes(graph: GraphData, names: Mapping[str, str]) -> dict[Hashable, str]:
    """Return, by all that is known of it but its name, each nameless node that is the only one of its shape.

    Of a node with a nameless neighbour too little is known.
    """
    nameless = [node for node in graph.nodes if node.id not in names]
    if not nameless:
        return {}
    ways: dict[str, list[tuple[bool, str, RouteData]]] = {node.id: [] for node in graph.nodes}
    for route in graph.routes:
        ways[route.source].append((False, route.target, route))
        ways[route.target].append((True, route.source, route))
    shapes: dict[str, Hashable] = {}
    for node in nameless:
        known = {**names, node.id: ""}
        if all(end in known for _, end, _ in ways[node.id]):
            routes = Counter((enters, known[end], _words(route)) for enters, end, route in ways[node.id])
            own_state = isinstance(graph, FlowData) and node.state == graph.state
            unnamed = {"id": "", **({"state": ""} if own_state else {})}
            alike = node.model_copy(update=unnamed).model_dump_json()
            shapes[node.id] = (alike, frozenset(routes.items()), _roles(node, graph))
    counts = Counter(shapes.values())
    return {shape: id for id, shape in shapes.items() if counts[shape] == 1}


def _roles(node: NodeData, graph: GraphData) -> tuple[bool, ...]:
    if isinstance(graph, FlowData):
        return node.id == graph.entry, node.id == graph.finish
    return (node.id in getattr(graph, "starts", ()),)
