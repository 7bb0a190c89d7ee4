"""Every error that flowcore raises.

    FlowcoreError
    ├── FlowError             a flow is declared wrongly: every problem in one list
    ├── ContractError         code broke a promise it made to flowcore (never routed)
    ├── BudgetExhausted       a limit was reached: names the dimension and the scope
    ├── RunCancelled          a run ended because somebody asked it to
    ├── RunFailed             a run failed in another process: carries the failure as data
    ├── NodeTimeout           a visit took longer than its node may
    ├── NodeCancelled         a node awaited something that somebody else cancelled
    ├── NotDone               a node with effects was interrupted before it had done its work
    ├── ModelError            a model gave no answer that can be used
    │   ├── ModelRequestError     the request was refused, or could not be sent
    │   ├── ModelTimeout          no answer, or no further piece of one, in time
    │   ├── ContextOverflow       what was to be sent is more than the model can read
    │   └── OutputInvalid         the answer is not of the type that was asked for
    ├── ToolError             a tool gave no result that can be used
    │   ├── OutcomeUnknown        work with effects was interrupted, and may have been done (never routed)
    │   └── SignInNeeded          the server of a toolset wants to know who asks
    ├── RenderError           a picture cannot be drawn
    ├── RecordingError        a trace file holds no runs that can be read
    ├── ExportError           a run cannot be handed to another tool
    ├── WatchError            a live page cannot be served
    ├── StoreError            a stored run cannot be read, written or used
    │   ├── RunNotFound           the store holds no run of that name
    │   ├── RunConflict           the run stands otherwise than what was asked of it needs
    │   ├── NotSerialisable       a value cannot be stored so that the same comes back
    │   └── FlowChanged           a stored run does not fit today's flow
    └── TargetError           a target on the command line does not lead to a flow

Errors carry ids, names and plain data, never objects of the rooms that raise them. Each class has a stable
`code` that programs may compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .failure import Failure, Problem

__all__ = [
    "BudgetExhausted",
    "ContextOverflow",
    "ContractError",
    "ExportError",
    "Failure",
    "FlowChanged",
    "FlowError",
    "FlowcoreError",
    "ModelError",
    "ModelRequestError",
    "ModelTimeout",
    "NodeCancelled",
    "NodeTimeout",
    "NotDone",
    "NotSerialisable",
    "OutcomeUnknown",
    "OutputInvalid",
    "Problem",
    "RecordingError",
    "RenderError",
    "RunCancelled",
    "RunConflict",
    "RunFailed",
    "RunNotFound",
    "SignInNeeded",
    "StoreError",
    "TargetError",
    "ToolError",
    "WatchError",
]


class FlowcoreError(Exception):
    """The base of every error that flowcore raises by itself."""

    code: ClassVar[str] = "flowcore"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made of what the error holds, whatever it is made from."""
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[FlowcoreError], args: tuple[Any, ...]) -> FlowcoreError:
    error = kind.__new__(kind)
    error.args = args
    return error


class FlowError(FlowcoreError, ValueError):
    """Raised when a flow is constructed and something in it is wrong; lists every problem at once."""

    code: ClassVar[str] = "flow"

    def __init__(self, flow: str, problems: Sequence[Problem]) -> None:
        self.flow = flow
        self.problems = tuple(problems)
        super().__init__(flow, self.problems)

    def __str__(self) -> str:
        count = len(self.problems)
        lines = [f"flow {self.flow!r} has {count} problem{'' if count == 1 else 's'}:"]
        lines += [f"  {number}. {problem}" for number, problem in enumerate(self.problems, 1)]
        return "\n".join(lines)


class ContractError(FlowcoreError):
    """Raised when code breaks a promise: a wrong outcome, a state that does not fit. No error route takes it."""

    code: ClassVar[str] = "contract"


class BudgetExhausted(FlowcoreError):
    """Raised when a limit is reached. `path` names the scope whose limit it was; '' is a whole run's.

    `scope_id` tells scopes of one process apart: to an enclosing scope, a limit inside it is an ordinary failure.
    `scope_path` is where that scope is; of visits that ran out, `path` is the one that was too many.
    """

    code: ClassVar[str] = "budget_exhausted"

    def __init__(
        self,
        dimension: str,
        limit: float,
        used: float,
        path: str = "",
        *,
        scope_id: int = 0,
        scope_path: str | None = None,
    ) -> None:
        self.dimension = dimension
        self.limit = limit
        self.used = used
        self.path = path
        self.scope_id = scope_id
        self.scope_path = path if scope_path is None else scope_path
        super().__init__(dimension, limit, used, path)

    def __str__(self) -> str:
        if self.dimension == "visits":
            return f"{self.path} is one visit more than its max_visits of {self.limit:g} allows"
        scope = f" of {self.path!r}" if self.path else ""
        used = "" if self.dimension == "seconds" else f"{self.used:g} of "
        left = self.dimension != "seconds" and self.used < self.limit
        why = ", and what is left beside a reserve is too little" if left else ""
        return f"the {self.dimension}{scope} ran out: {used}{self.limit:g} used{why}"


class RunCancelled(FlowcoreError):
    """Raised by `run.result()` when the run was cancelled. `reason` says who asked."""

    code: ClassVar[str] = "cancelled"

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)

    def __str__(self) -> str:
        return f"the run was cancelled: {self.reason}"


class RunFailed(FlowcoreError):
    """Raised for a failed run whose exception was raised in another process.

    `kinds` are the full names of the classes of that exception, from its own to `Exception`.
    """

    code: ClassVar[str] = "run_failed"

    def __init__(self, failure: Failure, kinds: Sequence[str] = ()) -> None:
        self.failure = failure
        self.kinds = tuple(kinds)
        super().__init__(failure)

    def stands_for(self, kind: type[Exception]) -> bool:
        """Return whether what was raised was of a class, or of one beneath it."""
        return f"{kind.__module__}.{kind.__qualname__}" in self.kinds

    def __str__(self) -> str:
        return f"{self.failure.path}: {self.failure}"


class NodeTimeout(FlowcoreError, TimeoutError):
    """Raised when an attempt of a node took longer than its `timeout` (seconds). Error routes take it.

    `scope_id` names the scope that a sub-flow's timeout makes: nothing inside it can route its own timeout.
    """

    code: ClassVar[str] = "node_timeout"

    def __init__(self, path: str, seconds: float, *, scope_id: int = 0) -> None:
        self.path = path
        self.seconds = seconds
        self.scope_id = scope_id
        super().__init__(path, seconds)

    def __str__(self) -> str:
        return f"{self.path} took longer than its timeout of {self.seconds:g} s"


class NodeCancelled(FlowcoreError):
    """Raised when a node lets out a cancellation that nobody asked of the run: what it awaited was cancelled."""

    code: ClassVar[str] = "node_cancelled"

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(path)

    def __str__(self) -> str:
        return f"{self.path} awaited something that somebody else cancelled"


class NotDone(FlowcoreError):
    """Raised for a node with effects that was interrupted, when it is found that it had not done its work.

    `found_by` says who found that: `verify`, or the person who was asked.
    """

    code: ClassVar[str] = "not_done"

    def __init__(self, path: str, found_by: str) -> None:
        self.path = path
        self.found_by = found_by
        super().__init__(path, found_by)

    def __str__(self) -> str:
        return f"{self.path} was interrupted, and {self.found_by} says that it was not done"


class ModelError(FlowcoreError):
    """Raised when a model gave no answer that can be used; the base of what follows."""

    code: ClassVar[str] = "model"


class ModelRequestError(ModelError):
    """Raised when a request was refused or could not be sent.

    `status` is the HTTP status, None where there was no answer at all. `retryable` says whether the same request
    may be answered a little later, `retry_after` in how many seconds if the server said so. `text` is what had
    been said when a stream broke.
    """

    code: ClassVar[str] = "model_request"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        text: str = "",
    ) -> None:
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
        self.text = text
        super().__init__(message)


class ModelTimeout(ModelError, TimeoutError):
    """Raised when no answer, or no further piece of one, came within `seconds`; `text` is what had been said."""

    code: ClassVar[str] = "model_timeout"

    def __init__(self, message: str, seconds: float, *, text: str = "") -> None:
        self.seconds = seconds
        self.text = text
        super().__init__(message)


class ContextOverflow(ModelError):
    """Raised when what was to be sent is more than the model can read.

    `needed` and `limit` are tokens; `needed` is None where it was the provider who said so.
    """

    code: ClassVar[str] = "context_overflow"

    def __init__(self, message: str, *, limit: int | None = None, needed: int | None = None) -> None:
        self.limit = limit
        self.needed = needed
        super().__init__(message)


class OutputInvalid(ModelError):
    """Raised when the answer is not of the type that was asked for, after its repairs; `text` is what was said."""

    code: ClassVar[str] = "output_invalid"

    def __init__(self, message: str, text: str) -> None:
        self.text = text
        super().__init__(message)


class ToolError(FlowcoreError):
    """Raised when a tool gave no result that can be used, where its failure is to end the visit.

    `tool` and `call_id` say which call it was, `status` what came of it.
    """

    code: ClassVar[str] = "tool"

    def __init__(self, message: str, *, tool: str = "", call_id: str = "", status: str = "failed") -> None:
        self.tool = tool
        self.call_id = call_id
        self.status = status
        super().__init__(message)


class OutcomeUnknown(ToolError):
    """Raised when a tool or a node with effects was interrupted, and nobody knows whether it did its work.

    Neither retried nor routed: nothing may go on as if it were known.
    """

    code: ClassVar[str] = "outcome_unknown"


class SignInNeeded(ToolError):
    """Raised when a server wants a sign-in that it was not given, or no longer takes; `server` says where."""

    code: ClassVar[str] = "sign_in_needed"

    def __init__(self, server: str) -> None:
        self.server = server
        super().__init__(f"{server} wants a sign-in: it answered 401")


class RenderError(FlowcoreError):
    """Raised when a picture cannot be drawn; the message names the remedy."""

    code: ClassVar[str] = "render"


class RecordingError(FlowcoreError):
    """Raised when a trace file holds no runs that can be read; the message names the place and the remedy."""

    code: ClassVar[str] = "recording"


class ExportError(FlowcoreError):
    """Raised when a run cannot be handed to another tool; the message names the remedy."""

    code: ClassVar[str] = "export"


class WatchError(FlowcoreError):
    """Raised when a live page cannot be served: a port in use, a host of another machine, the extra missing."""

    code: ClassVar[str] = "watch"


class StoreError(FlowcoreError):
    """Raised when a stored run cannot be read, written or used; the base of what follows."""

    code: ClassVar[str] = "store"


class RunNotFound(StoreError):
    """Raised when a store holds no run of that name."""

    code: ClassVar[str] = "run_not_found"


class RunConflict(StoreError):
    """Raised when a run stands otherwise than what was asked of it needs: it has ended, or another walks it."""

    code: ClassVar[str] = "run_conflict"


class NotSerialisable(StoreError):
    """Raised when a value cannot be stored so that the same value comes back.

    `where` is its place, as `state.items[2].lock`, and `kind` its type.
    """

    code: ClassVar[str] = "not_serialisable"

    def __init__(self, where: str, kind: str, reason: str = "") -> None:
        self.where = where
        self.kind = kind
        self.reason = reason
        super().__init__(where, kind, reason)

    def __str__(self) -> str:
        reason = self.reason or "put what lives in this process, such as locks and connections, in deps"
        return f"{self.where}: a value of type {self.kind} cannot be stored: {reason}"


class FlowChanged(StoreError):
    """Raised when a stored run does not fit today's flow; `changes` says what has changed, one line each."""

    code: ClassVar[str] = "flow_changed"

    def __init__(self, message: str, changes: Sequence[str] = ()) -> None:
        self.changes = tuple(changes)
        super().__init__(message, self.changes)

    def __str__(self) -> str:
        return "\n".join([str(self.args[0]), *(f"  - {change}" for change in self.changes)])


class TargetError(FlowcoreError):
    """Raised when a command-line target, a question file or an output folder cannot be used."""

    code: ClassVar[str] = "target"
