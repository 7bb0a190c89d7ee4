"""Control: a stored run looked at, answered, paused and ended from outside the process that walks it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic_core import to_jsonable_python

from .clock import Clock, SystemClock
from .errors import ContractError, RunConflict
from .requests import OpenRequest, read_approval, read_verification
from .store import RunRow, RunStatus, RunStore, Signal
from .store.closing import cancel_unwalked, ended_already, is_walked, pause_unwalked
from .store.rules import check_user

__all__ = ["RunControl", "RunState", "control"]

_LOOK = 0.1
"""Seconds between two looks at what became of a signal."""


@dataclass(frozen=True, slots=True)
class RunState:
    """How a stored run stands.

    `reason` says why it was cancelled. `asked` is what was asked of it and not followed yet, `asked_by` whose wish
    that is. `walked_by` names the process that walks it; '' says that nobody does, so that it has to be resumed.
    """

    status: RunStatus
    reason: str = ""
    asked: Signal = ""
    asked_by: str = ""
    walked_by: str = ""


def control(store: RunStore, run_id: str, *, by: str = "", clock: Clock | None = None) -> RunControl:
    """Return what controls a stored run, whichever process walks it. Nothing is read until a method is called.

    Args:
        store: Where the run is written down.
        run_id: The run's id.
        by: Who asks. Where the trigger of the run names a user, only he may; whoever passes this has proven it.
        clock: What tells the time; tests pass one that they move.
    """
    return RunControl(store, run_id, by, clock if clock is not None else SystemClock())


class RunControl:
    """A stored run, seen from outside. `control(...)` gives one.

    Every method raises `RunNotFound` for a run that is not there, and `RunConflict` where `by` is not the user
    of the run's trigger. What is asked is followed at the run's next boundary. `pause`, `resume`, `stop` and
    `interrupt` wait for that, for at most `timeout` seconds, and return how the run stands then: `asked` tells
    what was not followed yet. A run that nobody walks is paused, or ended, at once.
    """

    __slots__ = ("_by", "_clock", "_store", "run_id")

    def __init__(self, store: RunStore, run_id: str, by: str, clock: Clock) -> None:
        self.run_id = run_id
        self._store = store
        self._by = by
        self._clock = clock

    async def status(self) -> RunState:
        """Return how the run stands."""
        return self._state(await self._run())

    async def pause(self, *, timeout: float = 10.0) -> RunState:
        """Stop what is under way and park the run, until it is resumed. A stop or an interrupt stands above it."""
        return await self._ask("pause", lambda run: run.status == "paused", timeout)

    async def resume(self, *, timeout: float = 10.0) -> RunState:
        """Let a paused run go on in the process in which it waits.

        Raises `RunConflict` for a run that has ended, and for one that waits in no process.
        """
        run = await self._run()
        if run.end is not None:
            raise ended_already(run)
        if not is_walked(run, self._now):
            raise RunConflict(
                f"run {self.run_id!r} is walked by nobody: "
                f"go on with it by flow.resume({self.run_id!r}, store=...)"
            )
        return await self._ask("resume", lambda run: run.status != "paused", timeout)

    async def stop(self, *, timeout: float = 10.0) -> RunState:
        """End the run at its next boundary: before the next visit, request to a model, or call of a tool.

        It is cancelled with the reason `stop`, and so are the runs that it delegated, with the reason `parent`.
        """
        return await self._ask("stop", lambda run: False, timeout)

    async def interrupt(self, *, timeout: float = 10.0) -> RunState:
        """End the run at once, whatever is under way. It is cancelled with the reason `interrupt`."""
        return await self._ask("interrupt", lambda run: False, timeout)

    async def requests(self) -> tuple[OpenRequest, ...]:
        """Return what the run asks people and has no answer to, in the order in which it was asked."""
        await self._run()
        rows = await self._store.requests(self.run_id)
        return tuple(OpenRequest.from_json(row.data) for row in rows if row.expires > self._now)

    async def answer(self, request_id: str | None, value: object) -> None:
        """Answer a request, once, as `Run.answer` does; None stands for the only one that waits.

        An answer is held against what is asked, and against the form if the package `jsonschema` is installed.
        What that cannot tell is found by whoever walks the run: then the request is asked again.

        Raises:
            ContractError: Several requests wait and none is named, or none waits; or this is no answer.
            RunConflict: The request was answered (the error says by whom and when), has expired, or never was.
        """
        await self._run()
        asked = None
        if request_id is None:
            asked = _only(await self.requests())
            request_id = asked.id
        else:
            rows = await self._store.requests(self.run_id)
            asked = next((OpenRequest.from_json(row.data) for row in rows if row.id == request_id), None)
        plain = to_jsonable_python(value)
        if asked is not None:
            plain = _checked(asked, plain)
        await self._store.answer(self.run_id, request_id, json.dumps(plain), self._by, self._now)

    @property
    def _now(self) -> float:
        return self._clock.utcnow().timestamp()

    async def _run(self) -> RunRow:
        run = await self._store.run(self.run_id)
        check_user(self.run_id, run.trigger.user, self._by)
        return run

    def _state(self, run: RunRow) -> RunState:
        reason = "" if run.end is None else run.end.reason
        if run.end is not None:
            return RunState(run.status, reason)
        owner = run.owner if is_walked(run, self._now) else ""
        return RunState(run.status, reason, run.signal, run.signal_by, owner)

    async def _ask(self, signal: Signal, is_reached: Callable[[RunRow], bool], timeout: float) -> RunState:
        """Ask for something, and wait until it is so."""
        until = self._clock.monotonic() + timeout
        is_asked = False
        while True:
            run = await self._run()
            if run.end is not None or is_reached(run):
                return self._state(run)
            try:
                if not is_walked(run, self._now):
                    if signal == "resume":
                        return self._state(run)
                    await self._do_at_once(signal)
                    continue
                if not is_asked or not run.signal:  # what came while the run was about to go on may be lost
                    await self._store.signal(self.run_id, signal, self._by)
                    is_asked = True
            except RunConflict:
                if self._clock.monotonic() >= until:
                    raise
            if self._clock.monotonic() >= until:
                return self._state(await self._run())
            await self._clock.sleep(_LOOK)

    async def _do_at_once(self, signal: Signal) -> None:
        if signal == "pause":
            await pause_unwalked(
                self._store, self.run_id, f"control:{uuid.uuid4().hex[:8]}", self._by, self._clock
            )
        else:
            await cancel_unwalked(self._store, self.run_id, signal, self._clock)


def _only(requests: tuple[OpenRequest, ...]) -> OpenRequest:
    if len(requests) == 1:
        return requests[0]
    if not requests:
        raise ContractError("no request waits for an answer")
    pending = ", ".join(f"{each.id} ({each.path})" for each in requests)
    raise ContractError(f"{len(requests)} requests wait: say which one is answered: {pending}")


def _checked(asked: OpenRequest, plain: Any) -> Any:
    """Return a fitting answer. Raises `ContractError`."""
    fill_in = partial(_filled_in, asked.form) if asked.form else None
    try:
        if asked.kind in ("tool", "approve"):
            read_approval(plain, fill_in)
        elif asked.kind == "verify":
            read_verification(plain, lambda value: value)
        elif fill_in is not None:
            fill_in(plain)
    except ContractError as error:
        raise ContractError(f"request {asked.id!r} {error}") from None
    return plain


def _filled_in(form: str, value: object) -> object:
    """Return a form as it was filled in. Raises `ContractError` for what its schema does not allow."""
    try:
        from jsonschema import validators  # noqa: PLC0415 - it comes with some of the extras
        from referencing import Registry  # noqa: PLC0415 - the same
    except ImportError:
        return value
    schema = json.loads(form)
    check: Any = validators.validator_for(schema)(schema, registry=Registry())  # nothing is fetched
    faults = sorted(check.iter_errors(value), key=lambda fault: list(map(str, fault.path)))
    if faults:
        words = [": ".join(filter(None, (".".join(map(str, fault.path)), fault.message))) for fault in faults[:5]]
        raise ContractError(f"is answered by what its form wants: {'; '.join(words)}")
    return value
