"""The node: a definition, and the routes and limits that one flow gives it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Generic, Literal, Protocol, overload

from ..outcome import Outcome
from ..retry import Retry
from ..step import Step
from ..types import DepsT, LabelT, ResultT, StateT, is_a, is_error_type
from .definition import Definition
from .function import Function, Verify, is_async
from .signature import callers_names, read_signature

__all__ = ["UNSET", "ErrorRoute", "Node", "NodeDecorator", "Route", "Unset", "check_seconds", "node", "reference"]


class Unset(Enum):
    """The absence of a setting, where `None` is a setting."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


@dataclass(frozen=True, slots=True)
class Route:
    """Where an outcome leads: `label` is None for a plain `Continue()`."""

    label: str | None
    target: Node[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True)
class ErrorRoute:
    """Where errors lead: no types means any error, no target means that no route takes them."""

    types: tuple[type[Exception], ...]
    target: Node[Any, Any, Any, Any] | None


@dataclass(frozen=True, slots=True, repr=False)
class Node(Generic[StateT, DepsT, LabelT, ResultT]):
    """A node as one flow uses it. Each method returns a new value and changes nothing.

    Without routes or settings it is a reference: it means the row of the same id in the flow it is used in.
    """

    definition: Definition
    id: str
    routes: tuple[Route, ...] = ()
    errors: tuple[ErrorRoute, ...] = ()
    limit: Node[Any, Any, Any, Any] | None = None
    timeout: float | Literal[Unset.UNSET] | None = UNSET
    retry: Retry | None = None
    max_visits: int | None = None
    former: tuple[str, ...] = ()

    @overload
    def to(
        self: Node[StateT, DepsT, None, ResultT], target: Node[StateT, Any, Any, Any], /
    ) -> Node[StateT, DepsT, None, ResultT]: ...
    @overload
    def to(
        self: Node[StateT, DepsT, str, ResultT],
        targets: Mapping[str, Node[StateT, Any, Any, Any]] = ...,
        /,
        **labels: Node[StateT, Any, Any, Any],
    ) -> Node[StateT, DepsT, LabelT, ResultT]: ...
    def to(self, target: Any = None, /, **labels: Any) -> Any:
        """Route outcomes: `.to(next)` for `Continue()`, `.to(label=next)` or `.to({"a label": next})` by label.

        Raises `TypeError` for a target that is no node.
        """
        found: list[Route] = []
        if isinstance(target, Mapping):
            if wrong := [label for label in target if not isinstance(label, str)]:
                raise TypeError(f"{self.id}.to(): the label {wrong[0]!r} is no text")
            found += [Route(label, reference(other, self.id)) for label, other in target.items()]
        elif target is not None:
            found.append(Route(None, reference(target, self.id)))
        found += [Route(label, reference(other, self.id)) for label, other in labels.items()]
        if not found:
            raise TypeError(f"{self.id}.to(): name a target, or targets by label")
        return self._with(routes=(*self.routes, *found))

    def on_error(
        self, target: Node[StateT, Any, Any, Any] | None, /, *types: type[Exception]
    ) -> Node[StateT, DepsT, LabelT, ResultT]:
        """Route errors of the given types (none given: any) to `target`. The first match wins.

        `None` as the target says that no route takes them, the flow's default route included. Raises
        `TypeError` for what is no subclass of `Exception`.
        """
        for kind in types:
            if not is_error_type(kind):
                raise TypeError(f"{self.id}.on_error(): {kind!r} is no subclass of Exception")
        route = ErrorRoute(types, None if target is None else reference(target, self.id))
        return self._with(errors=(*self.errors, route))

    def over_limit(self, target: Node[StateT, Any, Any, Any], /) -> Node[StateT, DepsT, LabelT, ResultT]:
        """Go to `target`, instead of failing, when `max_visits` is used up."""
        return self._with(limit=reference(target, self.id))

    def using(
        self,
        *,
        timeout: float | Literal[Unset.UNSET] | None = UNSET,
        retry: Retry | None = None,
        max_visits: int | None = None,
    ) -> Node[StateT, DepsT, LabelT, ResultT]:
        """Set limits: `timeout` in seconds an attempt (`None`: no timeout), `retry`, `max_visits` in one walk.

        Raises `ValueError` for a timeout that is not above zero or a negative number of visits.
        """
        if timeout is not UNSET:
            check_seconds(f"{self.id}.using(timeout={timeout!r})", timeout)
        if max_visits is not None and type(max_visits) is not int:
            raise TypeError(f"{self.id}.using(max_visits={max_visits!r}): give a whole number")
        if max_visits is not None and max_visits < 0:
            raise ValueError(f"{self.id}.using(max_visits={max_visits!r}): give zero or more")
        if retry is not None and not is_a(retry, Retry):
            raise TypeError(f"{self.id}.using(retry={retry!r}): give a Retry(...)")
        return self._with(
            timeout=self.timeout if timeout is UNSET else timeout,
            retry=self.retry if retry is None else retry,
            max_visits=self.max_visits if max_visits is None else max_visits,
        )

    def named(self, id: str, /) -> Node[StateT, DepsT, LabelT, ResultT]:
        """Return the node under another id: one function may stand in a flow more than once."""
        if not is_a(id, str):
            raise TypeError(f"{self.id}.named({id!r}): give a text")
        return self._with(id=id)

    def renamed_from(self, *ids: str) -> Node[StateT, DepsT, LabelT, ResultT]:
        """Say by which ids the node was known before: runs that were stored under them go on at this one.

        Raises `TypeError` for what is no text.
        """
        if not ids or not all(is_a(id, str) for id in ids):
            raise TypeError(f"{self.id}.renamed_from({', '.join(map(repr, ids))}): give its former ids")
        return self._with(former=tuple(dict.fromkeys((*self.former, *ids))))

    def with_definitions(self, swap: Mapping[str, Definition]) -> Node[StateT, DepsT, LabelT, ResultT]:
        """Return the node with other definitions under the given ids, in itself and in what it refers to."""

        def swapped(other: Node[Any, Any, Any, Any]) -> Node[Any, Any, Any, Any]:
            return other._with(definition=swap[other.id]) if other.id in swap else other

        return swapped(self)._with(
            routes=tuple(Route(route.label, swapped(route.target)) for route in self.routes),
            errors=tuple(
                ErrorRoute(route.types, None if route.target is None else swapped(route.target))
                for route in self.errors
            ),
            limit=None if self.limit is None else swapped(self.limit),
        )

    def _with(self, **changes: Any) -> Node[StateT, DepsT, LabelT, ResultT]:
        fields: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        return Node(**{**fields, **changes})

    @property
    def is_reference(self) -> bool:
        """Whether this carries no routes and no settings of its own."""
        return not (self.routes or self.errors or self.limit or self.retry) and (
            self.timeout is UNSET and self.max_visits is None
        )

    def __call__(self, step: Step[StateT, DepsT], /) -> Any:
        """Call the node's function, as a test of the function alone does."""
        if self.definition.fn is None:
            raise TypeError(f"{self.id} is a sub-flow: run the flow itself")
        return self.definition.fn(step)

    def __repr__(self) -> str:
        return f"<node {self.id}>"


class NodeDecorator(Protocol):
    """What `node(...)` with options returns."""

    @overload
    def __call__(
        self, fn: Callable[[Step[StateT, DepsT]], Awaitable[Outcome[LabelT, ResultT]]], /
    ) -> Node[StateT, DepsT, LabelT, ResultT]: ...
    @overload
    def __call__(
        self, fn: Callable[[Step[StateT, DepsT]], Outcome[LabelT, ResultT]], /
    ) -> Node[StateT, DepsT, LabelT, ResultT]: ...


@overload
def node(
    fn: Callable[[Step[StateT, DepsT]], Awaitable[Outcome[LabelT, ResultT]]], /
) -> Node[StateT, DepsT, LabelT, ResultT]: ...
@overload
def node(
    fn: Callable[[Step[StateT, DepsT]], Outcome[LabelT, ResultT]], /
) -> Node[StateT, DepsT, LabelT, ResultT]: ...
@overload
def node(
    *,
    starts_round: bool | None = None,
    effects: bool = False,
    verify: Verify | None = None,
    writes: tuple[str, ...] | None = None,
    description: str = "",
    id: str | None = None,
) -> NodeDecorator: ...
def node(
    fn: Any = None,
    /,
    *,
    starts_round: bool | None = None,
    effects: bool = False,
    verify: Verify | None = None,
    writes: tuple[str, ...] | None = None,
    description: str = "",
    id: str | None = None,
) -> Any:
    """Make a node of a function of one `Step` that returns `Continue` or `Complete`.

    Args:
        fn: The function. A plain `def` runs in a worker thread.
        starts_round: Whether each entry costs a round. Unset it is True on the entry of a flow, False elsewhere.
        effects: It changes something outside: it is begun once, never retried, and unknown if it was interrupted.
        verify: A function of the step, async or not, that looks whether the interrupted work was done. It returns
            False if not, and None if it cannot tell; if so, the outcome, or True where the node has only one. What
            it changes in the state is kept with that. Tried once; it belongs to `effects=True`.
        writes: The state fields it may change; any other change is a `ContractError`. None means any.
        description: A sentence for readers and diagrams; by default the first line of the docstring.
        id: The node's id; by default the name of the function.
    """
    if fn is None:
        names = callers_names(1)

        def decorate(function: Any) -> Node[Any, Any, Any, Any]:
            return _make(function, names, starts_round, effects, verify, writes, description, id)

        return decorate
    return _make(fn, callers_names(1), starts_round, effects, verify, writes, description, id)


def _make(
    fn: Any,
    names: Mapping[str, Any],
    starts_round: bool | None,
    effects: bool,
    verify: Verify | None,
    writes: tuple[str, ...] | None,
    description: str,
    id: str | None,
) -> Node[Any, Any, Any, Any]:
    if not callable(fn):
        raise TypeError(f"node({fn!r}): give a function of one step")
    given: object = verify
    if given is not None and not (effects and callable(given)):
        raise TypeError(f"node(verify={verify!r}): give a function of one step, and effects=True")
    if not description and fn.__doc__:
        description = fn.__doc__.strip().partition("\n")[0]
    name = id if id is not None else getattr(fn, "__name__", type(fn).__name__)
    signature = read_signature(fn, names)
    return Node(Function(fn, starts_round, effects, writes, description, signature, is_async(fn), verify), name)


def check_seconds(where: str, seconds: object) -> None:
    """Return if `seconds` can be a timeout: a number above zero, or None. Raises `TypeError` or `ValueError`."""
    if seconds is None:
        return
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"{where}: give a number of seconds, or None")
    if not seconds > 0:
        raise ValueError(f"{where}: give seconds above zero, or None")


def reference(value: Any, where: str) -> Node[Any, Any, Any, Any]:
    """Return what is meant as a node. Raises `TypeError` that names the place if it is none."""
    if not isinstance(value, Node):
        raise TypeError(f"{where}: {value!r} is no node: decorate the function with @node")
    return value
