"""The result: how a run ended, and everything that is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal

from .errors import Failure, RunCancelled, RunFailed
from .scope import Usage
from .trace import Trace
from .types import ResultT

__all__ = ["RunResult", "attach_result", "result_of", "value_or_raise"]

_RESULT = "__flowcore_result__"


@dataclass(frozen=True, slots=True)
class RunResult(Generic[ResultT]):
    """How a run ended, and everything that is known of it.

    `value` is what it completed with; look at `status`, since `None` is a value too. `state` is the last
    committed state. `exhausted` names the dimension if a limit of the run ran out, on whatever path it ended.
    `reason` says who cancelled it: user, stop, interrupt, shutdown, parent or subscriber_lost. `stragglers` names
    the visits whose code was still at work when the run ended.
    """

    status: Literal["completed", "failed", "cancelled"]
    value: ResultT | None
    failure: Failure | None
    state: Any
    trace: Trace
    usage: Usage
    exhausted: str | None = None
    reason: str = ""
    stragglers: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The nodes in the order they were visited, as in `Trace.path`."""
        return self.trace.path

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str | bytes]:
        """Return what a notebook shows: the page of the run. Never raises."""
        from .render.notebook import run_display  # noqa: PLC0415 - drawing is loaded only where one draws

        return run_display(self.trace)


def attach_result(error: BaseException, result: RunResult[Any]) -> None:
    """Let `result_of(error)` find the result. Works on errors that refuse attributes of their own."""
    object.__setattr__(error, _RESULT, result)


def result_of(error: BaseException) -> RunResult[Any]:
    """Return the result of the run that raised `error`. Raises `LookupError` if no run did."""
    found = getattr(error, _RESULT, None)
    if not isinstance(found, RunResult):
        raise LookupError(f"{type(error).__name__} was not raised by a run")
    return found


def value_or_raise(result: RunResult[Any], raised: BaseException | None) -> Any:
    """Return what the run completed with, or raise what it ended with: the user's own exception, with its path.

    `raised` is what ended it if that is no `Exception`, such as a `KeyboardInterrupt` in a node.
    """
    if result.status == "completed":
        return result.value
    failure = result.failure
    if raised is not None:
        error = raised
    elif failure is None:
        error = RunCancelled(result.reason)
    else:
        error = failure.exception if failure.exception is not None else RunFailed(failure)
        _add_note(error, f"at {failure.path}" if failure.path else "in the run")
    attach_result(error, result)
    raise error


def _add_note(error: BaseException, note: str) -> None:
    notes: list[str] = getattr(error, "__notes__", [])
    if note not in notes:
        object.__setattr__(error, "__notes__", [*notes, note])
