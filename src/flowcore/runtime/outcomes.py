"""Outcomes, decided: whether what a node returned is what it promised, and where it leads."""

from __future__ import annotations

from typing import Any

from ..errors import (
    BudgetExhausted,
    ContractError,
    Failure,
    FlowcoreError,
    NodeTimeout,
    NotSerialisable,
    OutcomeUnknown,
)
from ..graph import PlanNode
from ..outcome import Complete, Continue
from ..scope import Scope
from ..state import HasPath, Values, snapshot
from ..step import Step
from ..types import is_value_of, type_name
from .host import Done, Place

__all__ = ["accepted", "add_note", "as_failure", "checked", "is_routable", "unwrapped"]


_UNROUTED = frozenset({"rounds", "seconds", "visits"})


def checked(item: PlanNode, outcome: Any, where: HasPath) -> Continue[Any] | Complete[Any]:
    """Return the outcome if the node's annotation promises it. Raises `ContractError` otherwise."""
    signature = item.signature
    if type(outcome) is Continue:
        label: str | None = outcome.label
        if signature.plain if label is None else label in signature.labels:
            return outcome
        said = "Continue()" if label is None else f"Continue({label!r})"
        raise ContractError(f"{where.path} returned {said}, which its annotation does not name")
    if type(outcome) is Complete:
        for result in signature.results:
            if type(outcome.value) is result or is_value_of(outcome.value, result):
                return outcome
        names = " | ".join(type_name(result) for result in signature.results) or "nothing"
        raise ContractError(
            f"{where.path} completed with {type_name(type(outcome.value))}; its annotation says {names}"
        )
    raise ContractError(
        f"{where.path} returned {_short(outcome)}: return Continue(), Continue(label) or Complete(value)"
    )


def accepted(
    place: Place,
    item: PlanNode,
    step: Step[Any, Any],
    values: Values,
    returned: Any,
    attempt: int = 1,
    retried: tuple[Failure, ...] = (),
) -> Done:
    """Return a visit that has ended with an outcome, and what it changed. Raises `ContractError`."""
    outcome = checked(item, returned, step)
    if type(outcome) is Complete and outcome.value is step.state:
        outcome = Complete(snapshot(outcome.value))
    patch = place.shape.difference(step.state, values, step)
    writes = item.definition.writes
    if patch and writes is not None and (undeclared := sorted(set(patch) - set(writes))):
        raise ContractError(f"{step.path} changed {', '.join(undeclared)}, which its writes= does not name")
    return Done._make((outcome, patch, None, None, True, attempt, retried, None))


def is_routable(error: BaseException, scope: Scope) -> bool:
    """Return whether an error route in this scope may take what was raised.

    Rounds, time and visits that ran out take no route in the scope whose limit it was. To a scope around that one
    it is an ordinary failure. A group may be routed if everything in it may.
    """
    if isinstance(error, BaseExceptionGroup):
        return all(is_routable(inner, scope) for inner in error.exceptions)
    if isinstance(error, ContractError | NotSerialisable | OutcomeUnknown):
        return False
    if isinstance(error, NodeTimeout):
        return not scope.holds(error)
    return not (isinstance(error, BudgetExhausted) and error.dimension in _UNROUTED and scope.holds(error))


def unwrapped(error: Exception) -> Exception:
    """Return the one exception inside a group of one, however deep; any other as it is."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def as_failure(error: Exception, path: str, attempts: int = 1) -> Failure:
    """Return an exception as data."""
    code = error.code if isinstance(error, FlowcoreError) else "exception"
    return Failure(path, type_name(type(error)), code, _message(error), attempts, error)


def add_note(error: BaseException, note: str) -> None:
    """Add a note once. Works on errors that refuse attributes of their own."""
    notes: list[str] = getattr(error, "__notes__", [])
    if note not in notes:
        object.__setattr__(error, "__notes__", [*notes, note])


def _message(error: Exception) -> str:
    try:
        return str(error)
    except Exception as broken:  # the message of a user's error may be broken; the error itself still counts
        return f"(its message cannot be read: {type(broken).__name__})"


def _short(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # what a node returns is reported even if it cannot print itself
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
