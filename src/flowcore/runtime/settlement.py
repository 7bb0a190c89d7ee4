"""The settlement: the one ending of a run. The first one stands; whatever comes after it changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

from ..clock import Loop
from ..errors import BudgetExhausted, Failure, StoreError
from ..events import Event, RunCancelledEvent, RunCompleted, RunFailedEvent
from ..result import RunResult
from ..scope import Scope
from ..state import Shape, Values
from ..trace_events import told_ending
from ..visit import Ending, Note
from .host import Ended
from .outcomes import as_failure
from .record import Recorder

__all__ = ["Settlement"]


class Settlement:
    """Where a run's ending is written: status, terminal event, result, in this order and once."""

    def __init__(self, record: Recorder, scope: Scope, shape: Shape, loop: Loop) -> None:
        self._record = record
        self._scope = scope
        self._shape = shape
        self._loop = loop
        self._outcome: RunResult[Any] | None = None
        self._values: Values = {}
        self._note: Note

    @property
    def is_settled(self) -> bool:
        """Whether the run has ended."""
        return self._outcome is not None

    @property
    def outcome(self) -> RunResult[Any]:
        """The result. There is one as soon as the run is settled."""
        assert self._outcome is not None  # asked for by those who waited
        return self._outcome

    def end(self, ended: Ended, working: Iterable[str]) -> None:
        """Settle as the walk ended: completed or failed."""
        limit = ended.error if isinstance(ended.error, BudgetExhausted) else None
        own = limit is not None and self._scope.holds(limit)
        exhausted = ended.exhausted or (limit.dimension if limit is not None and own else None)
        if ended.failure is None:
            known = {"value": ended.value, "exhausted": exhausted}
            self._settle("completed", ended.values, RunCompleted, known, working)
        else:
            known = {"failure": ended.failure, "exhausted": exhausted}
            self._settle("failed", ended.values, RunFailedEvent, known, working)

    def fail(self, error: Exception, path: str, values: Values, working: Iterable[str]) -> None:
        """Settle as failed although code of the run goes on."""
        if isinstance(error, BudgetExhausted):
            self._record.exhausted(error, path)
        failure = as_failure(error, path)
        left = self._abandon(failure)
        self.end(Ended(None, values, error, failure), (*left, *working))

    def cancel(self, reason: str, values: Values, working: Iterable[str], *, unwound: bool) -> None:
        """Settle as cancelled: what was under way has unwound, or goes on and is named."""
        ended = self._abandon(Failure("", "Cancelled", "cancelled", reason))
        stragglers = (*(() if unwound else ended), *working)
        self._settle("cancelled", values, RunCancelledEvent, {"reason": reason}, stragglers)

    def _abandon(self, failure: Failure) -> tuple[str, ...]:
        paths = self._record.abandon(failure, self._record.trace.root)
        return tuple(path for path in paths if not any(other.startswith(f"{path}/") for other in paths))

    def _settle(
        self,
        status: Literal["completed", "failed", "cancelled"],
        values: Values,
        event: type[Event],
        known: dict[str, Any],
        stragglers: Iterable[str],
    ) -> None:
        record, known = self._record, {**known}
        self._note = record.conclude(event, known)
        self._scope.close(self._loop.cancellation)
        usage = replace(self._scope.used, seconds=record.now - self._scope.began)
        self._values = values
        self._end(
            Ending(
                status,
                known.get("value"),
                known.get("failure"),
                usage,
                known.get("exhausted"),
                known.get("reason", ""),
                tuple(dict.fromkeys(stragglers)),
            )
        )

    def _end(self, ending: Ending) -> None:
        trace = self._record.trace
        trace.ending = ending
        self._outcome = RunResult(
            ending.status,
            ending.value,
            ending.failure,
            self._shape.build(self._values),
            trace,
            ending.usage,
            ending.exhausted,
            ending.reason,
            ending.stragglers,
        )

    async def write(self) -> None:
        """Write the ending, if the run is stored. Where somebody else was faster, his ending is the one."""
        ledger = self._record.ledger
        if ledger is None:
            return
        try:
            stored = await ledger.settle(self.outcome, self._values)
        except StoreError as error:
            failure = as_failure(error, "")
            self._end(Ending("failed", None, failure, self.outcome.usage))
            self._note = Note(
                RunFailedEvent, self._note.seq, "", self._note.at, {"failure": failure, "exhausted": None}
            )
            return
        if stored is not None:
            self._end(stored)
            event, values = told_ending(stored)
            self._note = Note(event, self._note.seq, "", self._note.at, values)

    def tell(self) -> None:
        """Tell the ending to those who listen: the last event."""
        self._record.tell(self._note)
