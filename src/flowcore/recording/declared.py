"""The declared flow as plain data: drawings, pages and comparisons are made from it, with its code or without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import RecordingError
from ..graph import EdgeKind, Plan, plan_data
from ..graph.problems import bad_id
from ..value_text import escaped

__all__ = [
    "BranchesData",
    "Data",
    "FlowData",
    "GraphData",
    "Limits",
    "NodeData",
    "RouteData",
    "flow_data",
    "flow_fault",
    "read_flow",
]

Limits = dict[str, float]


class Data(BaseModel):
    """Plain data: never changed, and read without what it does not know."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)


class RouteData(Data):
    """One declared route of a node."""

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    kind: EdgeKind
    label: str = ""
    default: bool = False
    exempt: str = Field("", alias="except")


class NodeData(Data):
    """One declared node. `flow` or `branches` is what stands inside a composite.

    A node that waits for a person says for how many seconds an answer counts (`expires`), and what is filled in.
    `renamed_from` has its former ids.
    """

    id: str
    kind: str
    description: str = ""
    starts_round: bool = False
    effects: bool = False
    completes: tuple[str, ...] = ()
    continues: bool = False
    state: str = ""
    deps: str = ""
    timeout: float | None = None
    retry: int | None = None
    max_visits: int | None = None
    writes: tuple[str, ...] | None = None
    join: Literal["all", "any"] | int | None = None
    branches: BranchesData | None = None
    limit: int | None = None
    on_item_error: str | None = None
    shares_state: bool | None = None
    budget: Limits | None = None
    flow: FlowData | None = None
    expires: float | None = None
    form: str | None = None
    renamed_from: tuple[str, ...] = ()

    @property
    def waits(self) -> bool:
        """Whether it waits for a person."""
        return self.kind in ("approve", "ask")

    @property
    def inside(self) -> GraphData | None:
        """What stands inside a composite."""
        return self.branches if self.flow is None else self.flow


class GraphData(Data):
    """Nodes and the routes between them, in the order of the rows."""

    nodes: tuple[NodeData, ...]
    routes: tuple[RouteData, ...]

    def walk(self, prefix: str = "") -> Iterator[tuple[str, NodeData]]:
        """Yield every node with its path, those inside composites after them: `answer`, `answer/repair`."""
        for node in self.nodes:
            yield f"{prefix}{node.id}", node
            if node.inside is not None:
                yield from node.inside.walk(f"{prefix}{node.id}/")

    def routes_of(self) -> dict[str, list[RouteData]]:
        """Return the routes by the node that they leave, in the order of its row."""
        found: dict[str, list[RouteData]] = {node.id: [] for node in self.nodes}
        for route in self.routes:
            found[route.source].append(route)
        return found


class BranchesData(GraphData):
    """What stands inside a parallel; `starts` are its branches in declared order."""

    starts: tuple[str, ...]


class FlowData(GraphData):
    """A whole flow."""

    name: str
    description: str = ""
    state: str = ""
    fields: dict[str, str] = {}
    results: tuple[str, ...] = ()
    entry: str | None = None
    finish: str | None = None
    reserve: Limits = {}


NodeData.model_rebuild()


def flow_data(plan: Plan) -> FlowData:
    """Return a plan as data."""
    return read_flow(plan_data(plan))


def read_flow(data: Any) -> FlowData:
    """Read a flow from the data that `plan_data` makes.

    Raises:
        ValidationError: The data is not that of a flow.
        RecordingError: Flows stand in flows more deeply than can be read.
    """
    try:
        return FlowData.model_validate(data)
    except ValidationError as error:
        if any(found["type"] == "recursion_depth_exceeded" for found in error.errors(include_input=False)):
            raise RecordingError(
                "flows stand in flows too deeply to be shown (about 100 levels); embed fewer in one another"
            ) from error
        raise


def flow_fault(flow: FlowData) -> str:
    """Return what no flow can be declared with, such as a route to nowhere; '' for nothing."""
    return _fault(flow, "")


def _fault(graph: GraphData, prefix: str) -> str:
    ids = [node.id for node in graph.nodes]
    named = [end for route in graph.routes for end in (route.source, route.target)]
    if isinstance(graph, FlowData):
        named += [id for id in (graph.entry, graph.finish) if id is not None]
    elif isinstance(graph, BranchesData):
        named += graph.starts
    if missing := set(named) - set(ids):
        return f"{escaped(f'{prefix}{min(missing)}')} is named and not declared"
    if wrong := [id for id in ids if bad_id(id, prefix) is not None]:
        return f"{prefix}{wrong[0]!r} is no id"
    if twice := [id for id, count in Counter(ids).items() if count > 1]:
        return f"{escaped(f'{prefix}{twice[0]}')} is declared twice"
    inner = (_fault(node.inside, f"{prefix}{node.id}/") for node in graph.nodes if node.inside is not None)
    return next(filter(None, inner), "")
