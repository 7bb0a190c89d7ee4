"""Composing: a flow run over each of many items."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, get_args, overload

from typing_extensions import TypeVar

from .flow import Flow
from .graph import (
    Each,
    ItemFailure,
    Node,
    Signature,
    Unfinished,
    parameter_names,
    read_hints,
    signature_of_outcome,
    state_hint,
)
from .outcome import Outcome
from .scope import Budget
from .types import DepsT, LabelT, StateT

__all__ = ["each"]

ParentT = TypeVar("ParentT")
ItemT = TypeVar("ItemT")
ValueT = TypeVar("ValueT", default=Any)
OutT = TypeVar("OutT", default=Any)


@overload
def each(
    id: str,
    /,
    *,
    over: Callable[[ParentT], Iterable[StateT]],
    do: Flow[StateT, DepsT, ValueT],
    collect: Callable[[ParentT, list[ValueT]], Outcome[LabelT, OutT]],
    limit: int = 4,
    on_item_error: Literal["fail"] = "fail",
    budget: Budget | None = None,
) -> Node[ParentT, DepsT, LabelT, OutT]: ...
@overload
def each(
    id: str,
    /,
    *,
    over: Callable[[ParentT], Iterable[StateT]],
    do: Flow[StateT, DepsT, ValueT],
    collect: Callable[[ParentT, list[ValueT | Unfinished]], Outcome[LabelT, OutT]],
    limit: int = 4,
    on_item_error: Literal["fail"] = "fail",
    budget: Budget | None = None,
) -> Node[ParentT, DepsT, LabelT, OutT]: ...
@overload
def each(
    id: str,
    /,
    *,
    over: Callable[[ParentT], Iterable[StateT]],
    do: Flow[StateT, DepsT, ValueT],
    collect: Callable[[ParentT, list[ValueT | ItemFailure]], Outcome[LabelT, OutT]],
    limit: int = 4,
    on_item_error: Literal["collect"],
    budget: Budget | None = None,
) -> Node[ParentT, DepsT, LabelT, OutT]: ...
@overload
def each(
    id: str,
    /,
    *,
    over: Callable[[ParentT], Iterable[StateT]],
    do: Flow[StateT, DepsT, ValueT],
    collect: Callable[[ParentT, list[ValueT | ItemFailure | Unfinished]], Outcome[LabelT, OutT]],
    limit: int = 4,
    on_item_error: Literal["collect"],
    budget: Budget | None = None,
) -> Node[ParentT, DepsT, LabelT, OutT]: ...
def each(
    id: str,
    /,
    *,
    over: Any,
    do: Flow[Any, Any, Any],
    collect: Any,
    limit: int = 4,
    on_item_error: Literal["fail", "collect"] = "fail",
    budget: Budget | None = None,
) -> Any:
    """Return a node that runs a flow over items, several at a time, and collects the results in item order.

    Every item pays for its rounds like anything else. Where its flow needs no loop, say `starts_round=False` on
    its entry and it costs none.

    Args:
        id: The node's id. The nodes inside are `id[index]/node` in paths and events.
        over: Makes the items' states of a draft of the state: any iterable. No items is an ordinary case.
        do: The flow that runs over each item.
        collect: Takes a draft of the state and the results in item order, and returns the outcome. Unless
            its annotation says that it cannot take `Unfinished`, it is called too when a limit has run out, with
            `Unfinished(index)` in the place of what was not finished.
        limit: How many items run at a time.
        on_item_error: `"fail"`: the first item that fails fails the node. `"collect"`: an `ItemFailure` stands in
            the place of its result.
        budget: Limits for all items together, inside those of the run.

    Raises:
        ValueError: The limit is below 1, or `on_item_error` is neither.
    """
    if type(limit) is not int or limit < 1:
        raise ValueError(f"each({id!r}, limit={limit!r}): give 1 or more")
    if on_item_error not in ("fail", "collect"):
        raise ValueError(f"each({id!r}, on_item_error={on_item_error!r}): give 'fail' or 'collect'")
    signature = _signature(over, collect)
    return Node(
        Each(do.plan, over, collect, limit, on_item_error, budget, _takes_unfinished(collect), signature), id
    )


def _signature(over: Any, collect: Any) -> Signature:
    state = state_hint(over, collect)
    hints = read_hints(collect, {}, ("return",))
    if isinstance(hints, str):
        return Signature(state, fault=hints)
    if "return" not in hints:
        return Signature(state, fault="no annotation of the outcome that it returns", missing=True)
    read = signature_of_outcome(hints["return"])
    return Signature(state, object, read.labels, read.plain, read.results, read.fault)


def _takes_unfinished(collect: Any) -> bool:
    names = parameter_names(collect)[1:2]
    hints = read_hints(collect, {}, names)
    if isinstance(hints, str) or not hints:
        return True
    return any(map(_can_hold_unfinished, hints.values()))


def _can_hold_unfinished(hint: Any) -> bool:
    bare = hint in (list, Any, object)
    return bare or hint is Unfinished or any(map(_can_hold_unfinished, get_args(hint)))
