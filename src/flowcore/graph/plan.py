"""The plan: a flow resolved. Rows have become nodes that point at one another; nothing is looked up by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from ..errors import RunFailed
from ..retry import Retry
from ..scope import Reserve
from ..types import as_class
from ..visit import Way
from .definition import Definition
from .signature import Signature

__all__ = ["Edge", "EdgeKind", "Plan", "PlanNode"]

EdgeKind = Literal["next", "label", "error", "over_limit"]


class Edge(NamedTuple):
    """One declared route: what a diagram draws and a check follows."""

    source: PlanNode
    kind: EdgeKind
    label: str
    target: PlanNode
    default: bool = False

    @property
    def words(self) -> str:
        """The edge's kind and label as a reader would say it."""
        words = {"next": "", "label": self.label, "error": f"error {self.label}", "over_limit": "over limit"}
        return words[self.kind].strip()


class PlanNode:
    """One node of a plan, with its routes as objects. Not changed once its flow is constructed."""

    __slots__ = (
        "completes",
        "default_error",
        "definition",
        "errors",
        "faulty",
        "fn",
        "former",
        "id",
        "index",
        "inner",
        "is_async",
        "labels",
        "max_visits",
        "next",
        "over_limit",
        "passable",
        "retry",
        "signature",
        "starts_round",
        "timeout",
        "way",
        "ways",
    )

    def __init__(self, id: str, index: int, definition: Definition, signature: Signature) -> None:
        self.id = id
        self.index = index
        self.definition = definition
        self.fn = definition.fn
        self.is_async = definition.is_async
        self.inner: Plan | None = None
        self.signature = signature
        self.completes = signature.completes
        self.starts_round = False
        self.passable = definition.passable
        self.next: PlanNode | None = None
        self.labels: dict[str, PlanNode] = {}
        self.way = Way("join")
        self.ways: dict[str, tuple[PlanNode, Way]] = {}
        self.errors: tuple[tuple[tuple[type[Exception], ...], PlanNode | None], ...] = ()
        self.default_error: PlanNode | None = None
        self.over_limit: PlanNode | None = None
        self.timeout: float | None = None
        self.retry: Retry | None = None
        self.max_visits: int | None = None
        self.faulty = False
        self.former: tuple[str, ...] = ()
        """By which ids it was known before."""

    def __repr__(self) -> str:
        return f"<node {self.id}>"

    @property
    def is_composite(self) -> bool:
        """Whether other nodes stand inside this one."""
        return self.definition.is_composite

    def error_route(self, error: Exception) -> tuple[PlanNode | None, int]:
        """Return where `error` leads, and by which edge: the first route that matches, then the flow's default."""
        edge = (self.next is not None) + len(self.labels)
        for kinds, target in self.errors:
            if not kinds or isinstance(error, kinds) or _stands_for(error, kinds):
                return target, edge
            edge += target is not None
        return self.default_error, edge

    def settle_ways(self) -> None:
        """Make what a visit keeps of the route that it was left by, once for all visits."""
        if self.next is not None:
            self.way = Way("next", "", self.next.id, edge=0)
        for edge, (label, target) in enumerate(self.labels.items(), self.next is not None):
            others = tuple(other for other in self.labels if other != label)
            self.ways[label] = (target, Way("label", label, target.id, others, edge))
        for label, other in self.signature.stand_ins:
            if label not in self.ways and other in self.ways:
                target, way = self.ways[other]
                self.ways[label] = (target, way._replace(label=label))

    def edges(self) -> Iterator[Edge]:
        """Yield every declared route, in the order of the row."""
        if self.next is not None:
            yield Edge(self, "next", "", self.next)
        for label, target in self.labels.items():
            yield Edge(self, "label", label, target)
        for kinds, error_target in self.errors:
            if error_target is not None:
                yield Edge(self, "error", " | ".join(kind.__name__ for kind in kinds), error_target)
        if self.default_error is not None:
            yield Edge(self, "error", "", self.default_error, default=True)
        if self.over_limit is not None:
            yield Edge(self, "over_limit", "", self.over_limit)

    def unpaid(self) -> Iterator[Edge]:
        """Yield the routes that can be followed from here without a round having been paid here.

        A node that starts a round has paid once it is entered; but its limit is looked at before that. A
        composite can fail before anything inside it was paid, so its error routes are free.
        """
        for edge in self.edges():
            if self._is_free(edge.kind):
                yield edge

    def _is_free(self, kind: EdgeKind) -> bool:
        if kind == "over_limit":
            return True
        if self.is_composite:
            return self.passable or kind == "error"
        return not self.starts_round


def _stands_for(error: Exception, kinds: tuple[type[Exception], ...]) -> bool:
    return isinstance(error, RunFailed) and any(map(error.stands_for, kinds))


class Plan:
    """A flow as the walk, the check and the drawing see it. Frozen once constructed."""

    __slots__ = (
        "description",
        "entry",
        "finish",
        "is_branches",
        "name",
        "node_timeout",
        "nodes",
        "on_error",
        "passable",
        "reserve",
        "results",
        "state",
        "upgrade",
        "wanted_deps",
    )

    def __init__(self, name: str, nodes: dict[str, PlanNode], entry: PlanNode | None) -> None:
        self.name = name
        self.nodes = nodes
        self.entry = entry
        self.description = ""
        self.node_timeout: float | None = None
        self.on_error: PlanNode | None = None
        self.finish: PlanNode | None = None
        self.reserve = Reserve()
        self.passable = False
        self.is_branches = False
        self.upgrade: Callable[[dict[str, Any], str], Any] | None = None
        self.state: Any = entry.signature.state if entry is not None else Any
        self.results: tuple[Any, ...] = tuple(
            result for item in nodes.values() if item.completes for result in item.signature.results
        )

        for item in nodes.values():
            item.settle_ways()
        self.wanted_deps: tuple[tuple[str, type], ...] = tuple(_wanted_deps(self))

    @property
    def beginnings(self) -> list[PlanNode]:
        """Where a walk of this plan may begin: the entry; of branches, each that no error route leads to."""
        if self.entry is None or not self.is_branches:
            return [] if self.entry is None else [self.entry]
        led_to = {edge.target.index for edge in self.edges()}
        return [item for item in self.nodes.values() if item.index not in led_to]

    def edges(self) -> Iterator[Edge]:
        """Yield every declared route of every node, in the order of the rows."""
        for item in self.nodes.values():
            yield from item.edges()

    def walk(self, prefix: str = "") -> Iterator[tuple[str, PlanNode]]:
        """Yield every node with its path, those of sub-flows included: `answer`, `answer/repair`."""
        for item in self.nodes.values():
            path = f"{prefix}{item.id}"
            yield path, item
            if item.inner is not None:
                yield from item.inner.walk(f"{path}/")


def _wanted_deps(plan: Plan) -> Iterator[tuple[str, type]]:
    """Yield what each node wants as deps, where it is a class; once for each class."""
    seen: set[type] = set()
    for item in plan.nodes.values():
        for below, wanted in item.definition.wanted_deps():
            kind = as_class(wanted)
            if kind is not None and kind not in seen:
                seen.add(kind)
                yield f"{item.id}{below}", kind
