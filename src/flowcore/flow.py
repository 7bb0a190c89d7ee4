"""The flow: a checked, frozen value that can be run, embedded, drawn and told apart."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, Never, Unpack, overload

import anyio
from typing_extensions import TypeVar

from .clock import Clock
from .errors import ContractError, FlowError
from .graph import (
    FlowOptions,
    Node,
    Plan,
    Signature,
    Subflow,
    build_plan,
    check_plan,
    check_seconds,
    parameter_names,
    plan_data,
    plan_graph,
    plan_signature,
    read_hints,
    reference,
    signature_of_outcome,
)
from .outcome import Outcome
from .result import RunResult
from .run import Run
from .run_settings import RunOptions, RunSettings
from .runtime import GRACE, Observer
from .scope import Budget, Reserve
from .store import RunStore
from .stored_runs import StoredRuns
from .trigger import Trigger
from .types import DepsT, LabelT, ResultT, StateT, is_a

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Flow"]

ParentT = TypeVar("ParentT")
ParentDepsT = TypeVar("ParentDepsT", default=object)
ValueT = TypeVar("ValueT", default=Any)


class Flow(StoredRuns[ResultT], Generic[StateT, DepsT, ResultT]):
    """A workflow: typed nodes and every route between them, checked when it is made.

    The first row is the entry. A flow is never changed: it can be run many times at once, and embedded in other
    flows with `as_node`.

    Args:
        name: The flow's name, in diagrams, paths and errors.
        rows: The nodes with their routes.
        on_error: Where errors lead that no route of a row takes. It is not for its own target, and not for what
            stands inside sub-flows.
        finish: The node that is entered once when a limit of the run has run out, with `step.exhausted` set.
        reserve: What is held back from everyone else for the finish path.
        node_timeout: Seconds an attempt of a node may take, where its row says nothing else.
        description: A sentence for readers and diagrams.
        upgrade: Makes a state of today from a stored one that does not load any more. It is called with the stored
            fields by name, as plain data, and the path of the walk that they belong to: '' for the run's own,
            `answer#1` or `solve#1[3]` for one inside. Synchronous.

    Raises:
        FlowError: Something is wrong; it lists every problem with its place and its remedy.
    """

    __slots__ = ("_options", "_plan", "_rows")
    _options: FlowOptions
    _plan: Plan
    _rows: tuple[Node[Any, Any, Any, Any], ...]

    def __init__(
        self,
        name: str,
        /,
        *rows: Node[StateT, DepsT, Any, ResultT],
        on_error: Node[StateT, Any, Any, Any] | None = None,
        finish: Node[StateT, Any, Any, Any] | None = None,
        reserve: Reserve | None = None,
        node_timeout: float | None = None,
        description: str = "",
        upgrade: Callable[[dict[str, Any], str], StateT] | None = None,
    ) -> None:
        if not is_a(name, str):
            raise TypeError(f"Flow({name!r}): the name is a text")
        check_seconds(f"Flow({name!r}, node_timeout={node_timeout!r})", node_timeout)
        for key, target in (("on_error", on_error), ("finish", finish)):
            if target is not None:
                reference(target, f"Flow({name!r}, {key}=)")
        if upgrade is not None and not callable(upgrade):
            raise TypeError(f"Flow({name!r}, upgrade={upgrade!r}): give a function of stored fields and a path")
        options = FlowOptions(on_error, finish, reserve or Reserve(), node_timeout, description, upgrade)
        self._make(name, rows, options)

    def _make(self, name: str, rows: tuple[Any, ...], options: FlowOptions) -> None:
        plan, problems = build_plan(name, rows, options)
        problems += check_plan(plan)
        if problems:
            raise FlowError(name, problems)
        object.__setattr__(self, "_plan", plan)
        object.__setattr__(self, "_rows", rows)
        object.__setattr__(self, "_options", options)

    def replace(self, **nodes: Node[StateT, Any, Any, Any]) -> Flow[StateT, DepsT, ResultT]:
        """Return the same flow with other functions under some of its nodes: for tests and variants.

        `flow.replace(check=fake_check)`: the routes and settings stay, and the new function must fit them. Raises
        `KeyError` for a node that is not there, and `FlowError` for one that does not fit.
        """
        if unknown := [id for id in nodes if id not in self._plan.nodes]:
            raise KeyError(f"flow {self.name!r} has no node {unknown[0]!r}: it has {', '.join(self.nodes)}")
        swap = {id: item.definition for id, item in nodes.items()}
        options = dataclasses.replace(
            self._options,
            on_error=self._options.on_error and self._options.on_error.with_definitions(swap),
            finish=self._options.finish and self._options.finish.with_definitions(swap),
        )
        made: Flow[StateT, DepsT, ResultT] = object.__new__(type(self))
        made._make(self.name, tuple(row.with_definitions(swap) for row in self._rows), options)
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"flow {self.name!r} cannot be changed: make another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"flow {self.name!r} cannot be changed: make another one")

    @property
    def name(self) -> str:
        """The flow's name."""
        return self._plan.name

    @property
    def description(self) -> str:
        """The flow's description."""
        return self._plan.description

    @property
    def plan(self) -> Plan:
        """The resolved nodes and routes."""
        return self._plan

    @property
    def nodes(self) -> tuple[str, ...]:
        """The ids of the nodes, in the order of the rows."""
        return tuple(self._plan.nodes)

    @property
    def graph(self) -> nx.MultiDiGraph[str]:
        """The declared graph, made anew at each call. Loads networkx."""
        return plan_graph(self._plan)

    @property
    def signature(self) -> str:
        """A short hash of everything declared: equal for equal declarations, in every process."""
        return plan_signature(self._plan)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the declared flow as JSON text: nodes and routes in the order of the rows, sub-flows inside."""
        return json.dumps(plan_data(self._plan), indent=indent, ensure_ascii=False)

    def __repr__(self) -> str:
        return f"<flow {self.name}: {len(self._plan.nodes)} nodes>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str | bytes]:
        """Return what a notebook shows: the picture of the flow. Never raises."""
        from .render.notebook import flow_display  # noqa: PLC0415 - drawing is loaded only where one draws

        return flow_display(self)

    @overload
    async def run(
        self: Flow[StateT, object, ResultT],
        state: StateT,
        /,
        *,
        deps: object = None,
        check: Literal[True] = True,
        **options: Unpack[RunOptions],
    ) -> ResultT: ...
    @overload
    async def run(
        self: Flow[StateT, object, ResultT],
        state: StateT,
        /,
        *,
        deps: object = None,
        check: Literal[False],
        **options: Unpack[RunOptions],
    ) -> RunResult[ResultT]: ...
    @overload
    async def run(
        self, state: StateT, /, *, deps: DepsT, check: Literal[True] = True, **options: Unpack[RunOptions]
    ) -> ResultT: ...
    @overload
    async def run(
        self, state: StateT, /, *, deps: DepsT, check: Literal[False], **options: Unpack[RunOptions]
    ) -> RunResult[ResultT]: ...
    async def run(
        self,
        state: StateT,
        /,
        *,
        deps: Any = None,
        budget: Budget | None = None,
        run_id: str | None = None,
        observers: Sequence[Observer] = (),
        deadline: datetime | None = None,
        store: RunStore | None = None,
        trigger: Trigger | None = None,
        title: str = "",
        clock: Clock | None = None,
        grace: float = GRACE,
        check: bool = True,
    ) -> Any:
        """Run the flow and return the value that it completes with.

        The state passed in is never changed.

        Args:
            state: The state to begin with.
            deps: What the nodes get as `step.deps`.
            budget: The limits; by default 25 rounds and nothing else.
            run_id: The run's id; by default a new one.
            observers: Functions that are told of each event, in a task of their own.
            deadline: The time of day, with its zone, at which the run's time is over.
            store: Where the run is written down, so that it can be resumed if this process does not end it.
            trigger: What started the run, and for whom; kept in the store.
            title: What the run is about, such as the question; kept in the store.
            clock: What tells the time, by default that of the run around, if there is one; tests pass one that
                they move.
            grace: Seconds that a cancelled or timed-out node may take to end, before it is given up.
            check: Raise unless the run completed. With False the `RunResult` is returned instead.

        Raises:
            Exception: What a node raised and no route took, as it was raised, with the path as a note.
                `flowcore.result_of(error)` gives the whole result.
            BudgetExhausted: A limit was reached.
            ContractError: The state, the deps or an outcome is not what was promised.
            StoreError: The run cannot be written down; `RunConflict`: there is a run of this id.
        """
        settings = RunSettings(
            deps, budget, run_id, observers, deadline, clock, grace, store=store, trigger=trigger, title=title
        )
        run: Run[ResultT] = Run(self._plan, state, settings)
        if store is not None:
            await run.prepare()
        run.begin()
        result = await run.for_caller()
        return run.value() if check else result

    @overload
    def start(
        self: Flow[StateT, object, ResultT],
        state: StateT,
        /,
        *,
        deps: object = None,
        cancel_when_unwatched: float | None = None,
        **options: Unpack[RunOptions],
    ) -> Run[ResultT]: ...
    @overload
    def start(
        self,
        state: StateT,
        /,
        *,
        deps: DepsT,
        cancel_when_unwatched: float | None = None,
        **options: Unpack[RunOptions],
    ) -> Run[ResultT]: ...
    def start(self, state: StateT, /, **options: Any) -> Run[ResultT]:
        """Return a handle: `async with flow.start(state) as run:` starts the run; leaving early cancels it.

        Takes what `run` takes, and `cancel_when_unwatched`: seconds after which the run is cancelled when the last
        one who followed its events has left.
        """
        return Run(self._plan, state, RunSettings(**options))

    @overload
    def run_sync(
        self: Flow[StateT, object, ResultT],
        state: StateT,
        /,
        *,
        deps: object = None,
        check: Literal[True] = True,
        **options: Unpack[RunOptions],
    ) -> ResultT: ...
    @overload
    def run_sync(
        self: Flow[StateT, object, ResultT],
        state: StateT,
        /,
        *,
        deps: object = None,
        check: Literal[False],
        **options: Unpack[RunOptions],
    ) -> RunResult[ResultT]: ...
    @overload
    def run_sync(
        self, state: StateT, /, *, deps: DepsT, check: Literal[True] = True, **options: Unpack[RunOptions]
    ) -> ResultT: ...
    @overload
    def run_sync(
        self, state: StateT, /, *, deps: DepsT, check: Literal[False], **options: Unpack[RunOptions]
    ) -> RunResult[ResultT]: ...
    def run_sync(self, state: StateT, /, **options: Any) -> Any:
        """Do what `run` does, from synchronous code. Raises `ContractError` inside a running event loop."""
        try:
            anyio.current_time()
        except anyio.NoEventLoopError:
            return anyio.run(self._run_observed, state, options)
        raise ContractError("run_sync() was called inside a running event loop: use `await flow.run(...)` there")

    async def _run_observed(self, state: StateT, options: dict[str, Any]) -> Any:
        """Run, and wait for the observers too: this event loop ends with the call."""
        check = options.pop("check", True)
        run: Run[ResultT] = Run(self._plan, state, RunSettings(**options))
        await run.prepare()
        run.begin()
        result = await run.for_caller(patience=GRACE)
        return run.value() if check else result

    @overload
    def as_node(
        self, id: str, /, *, state: type[StateT] = ..., budget: Budget | None = None
    ) -> Node[StateT, DepsT, None, Never]: ...
    @overload
    def as_node(
        self,
        id: str,
        /,
        *,
        state: type[StateT] = ...,
        budget: Budget | None = None,
        deps: Callable[[ParentDepsT], DepsT],
    ) -> Node[StateT, ParentDepsT, None, Never]: ...
    @overload
    def as_node(
        self,
        id: str,
        /,
        *,
        state: type[ParentT],
        enter: Callable[[ParentT], StateT],
        leave: Callable[[ParentT, ResultT], Outcome[LabelT, ValueT]],
        budget: Budget | None = None,
    ) -> Node[ParentT, DepsT, LabelT, ValueT]: ...
    @overload
    def as_node(
        self,
        id: str,
        /,
        *,
        state: type[ParentT],
        enter: Callable[[ParentT], StateT],
        leave: Callable[[ParentT, ResultT], Outcome[LabelT, ValueT]],
        budget: Budget | None = None,
        deps: Callable[[ParentDepsT], DepsT],
    ) -> Node[ParentT, ParentDepsT, LabelT, ValueT]: ...
    def as_node(
        self,
        id: str,
        /,
        *,
        state: Any = None,
        enter: Any = None,
        leave: Any = None,
        budget: Budget | None = None,
        deps: Any = None,
    ) -> Any:
        """Return this flow as a node of another one.

        Args:
            id: The node's id. The nodes inside are `id/node` in paths, events and diagrams.
            state: The state of the flow around it. Without `enter` and `leave` the state is shared, the outcome
                is `Continue()` and the result is dropped.
            enter: Makes this flow's state of a draft of the state around it.
            leave: Takes a draft of the state around it and this flow's result, and returns the outcome. Its
                annotation names the labels and the result, as a node's does.
            budget: Limits of its own, inside those of the run.
            deps: Makes this flow's deps of those of the flow around it.
        """
        if state is None and enter is None and leave is None:
            state = self._plan.state
        signature = _leave_signature(self._plan, state, leave, deps)
        return Node(Subflow(self._plan, state, enter, leave, budget, deps, signature), id)


def _leave_signature(plan: Plan, state: Any, leave: Any, deps: Any) -> Signature:
    wanted: Any = object
    if deps is not None:
        hints = read_hints(deps, {}, parameter_names(deps)[:1])
        wanted = next(iter(hints.values()), object) if isinstance(hints, dict) else object
    if leave is None:
        return Signature(Any if state is None else state, wanted, plain=True)
    hints = read_hints(leave, {}, (*parameter_names(leave)[:1], "return"))
    if isinstance(hints, str):
        return Signature(state, wanted, fault=hints)
    if "return" not in hints:
        return Signature(state, wanted, fault="no annotation of the outcome that it returns", missing=True)
    read = signature_of_outcome(hints["return"])
    if state is None:
        state = next((hint for name, hint in hints.items() if name != "return"), Any)
    return Signature(state, wanted, read.labels, read.plain, read.results, read.fault)
