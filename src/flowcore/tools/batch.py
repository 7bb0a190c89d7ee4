"""The batch: the calls of one reply, from the first check to a result for each."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import anyio
from anyio.abc import TaskStatus

from ..errors import OutcomeUnknown, ToolError
from ..events import Event, ToolDenied, ToolFinished, ToolProposed, ToolWarned
from ..messages import Message, ToolCall
from ..requests import OpenRequest, read_approval
from ..runtime import unwrapped
from ..scope import Scope
from ..state import snapshot
from ..visit_host import inside
from .apart import told_apart
from .conversation import unique_calls
from .decide import Ready, Refused, check_call, consult, repeated
from .definition import Tool
from .dispatch import Dispatch
from .guard import Repetitions
from .hostile import harmless
from .inquiry import Inquiry
from .json_text import sendable
from .names import meant_name
from .policy import Ask, Proposal
from .receipts import UNKNOWN, Ended, arguments_text, keep, logged, note, recalled
from .result import Status, ToolResult, compacted
from .settings import ExecutorSettings

__all__ = ["Batch"]

_ENDS_VISIT: frozenset[Status] = frozenset(("timeout", "failed", "invalid_output", "cancelled", "unknown"))
_CALLED: frozenset[Status] = frozenset(("ok", *_ENDS_VISIT))
_LONGEST_NAME = 100
_NOT_STARTED = Refused("not_executed", "Not run: it was not started, since the work ended before.")


class Batch:
    """Runs the calls of one reply. Whatever happens, each has one result, in the order of the calls."""

    def __init__(
        self,
        settings: ExecutorSettings,
        usable: Mapping[str, Tool],
        known: Mapping[str, Tool],
        calls: Iterable[ToolCall],
        history: Iterable[Message],
        scope: Scope,
        deps: Any,
    ) -> None:
        self._settings = settings
        self._usable = usable
        self._known = known
        self._calls = unique_calls(calls)
        self._scope = scope
        self._deps = deps
        self._inside = inside(scope)
        self._dispatch = Dispatch(scope, self._inside, settings.timeout, deps, self._told_id)
        self._inquiry = Inquiry(self._dispatch)
        self._results: dict[str, ToolResult] = {}
        self._ended: dict[str, Ended] = {}
        self._free = anyio.Semaphore(settings.concurrency)
        self._stops = False
        self._told: Mapping[str, str] = {}
        self._asking: list[anyio.CancelScope] = []
        self._cut_off: BaseException | None = None
        self._repetitions = Repetitions({})
        if settings.guard is not None:
            self._repetitions = settings.guard.look(history, self._calls, self._real_name)

    async def run(self) -> tuple[ToolResult, ...]:
        """Return a result for each call. Raises what steers the run, and `ToolError` where a tool is to fail."""
        with told_apart(self._calls, self._inside) as self._told:
            await self._run_to_the_end()
        self._raise_what_ends()
        return tuple(self._results[call.id] for call in self._calls)

    async def _run_to_the_end(self) -> None:
        for call in self._calls:
            self._note(ToolProposed, call, tool=self._real_name(call.name), arguments=sendable(call.arguments))
        self._warn()
        try:
            ready = [made for call in self._calls if (made := await self._decided(call)) is not None]
            await self._run_all(ready)
        finally:
            for call in self._calls:
                if call.id not in self._results:
                    self._refuse(call, _NOT_STARTED)

    def _real_name(self, name: str) -> str:
        return meant_name(name, self._usable, self._known) or harmless(name, _LONGEST_NAME)

    def _warn(self) -> None:
        if self._repetitions.warns:
            known = {"tool": self._repetitions.tool, "turns": self._repetitions.turns}
            self._note(ToolWarned, self._calls[0], **known)

    async def _decided(self, call: ToolCall) -> Ready | None:
        about: dict[str, Any] = {"deps": self._deps}
        if self._inside is not None:
            about |= {"run_id": self._inside.host.run_id, "path": self._dispatch.path}
        decided: Proposal | Ready | Refused = check_call(call, self._usable, self._known, **about)
        if isinstance(decided, Proposal):
            hooks, policy = tuple(self._settings.hooks), self._settings.policy
            decided = await consult(decided, hooks, policy, self._scope)
        if isinstance(decided, Ready):
            decided = repeated(decided.proposal, self._repetitions) or decided
        if isinstance(decided, Ready):
            return await self._looked_up(decided)
        self._refuse(call, decided)
        return None

    async def _looked_up(self, ready: Ready) -> Ready | None:
        """Return a call that is to be made, unless its result is recorded, or an equal one is in the dark."""
        proposal = ready.proposal
        ready = ready._replace(call=logged(self._inside, proposal))
        found = recalled(ready.call, proposal.tool)
        if found is not None:
            self._end(proposal.call, found)
            return None
        decided = await self._inquiry.barred(ready)
        if isinstance(decided, Ready):
            return decided
        if isinstance(decided, Refused):
            self._refuse(proposal.call, decided)
        else:
            self._end(proposal.call, decided)
            await keep(ready.call, proposal.tool, decided)
        return None

    async def _run_all(self, ready: Sequence[Ready]) -> None:
        """Pay for all that nobody is asked about, together, and then start them as places are free."""
        begun = [each for each in ready if each.was_begun]
        sure = [each for each in ready if each.ask is None and not each.was_begun]
        if sure:
            self._scope.charge(tool_calls=len(sure))
        async with anyio.create_task_group() as group:
            for each in begun:
                group.start_soon(self._find_out, each, UNKNOWN)
            for each in ready:
                if each.ask is not None and not each.was_begun:
                    await group.start(self._run_if_approved, each, each.ask)
            for each in sure:
                await self._free.acquire()
                group.start_soon(self._run_one, each)
        if self._cut_off is not None:  # the group may take it for a cancellation of its own
            raise self._cut_off
        if self._scope.is_refusing and any(each.proposal.call.id not in self._results for each in ready):
            self._scope.charge()  # the run was stopped before all had begun: nothing goes on from here

    async def _run_if_approved(self, ready: Ready, ask: Ask, *, task_status: TaskStatus[None]) -> None:
        task_status.started()  # and goes on without a pause, so that requests are opened in the order of the calls
        refused: Refused | None = None
        with anyio.CancelScope() as asking:
            self._asking.append(asking)
            refused = await self._asked(ready, ask)
        if asking.cancelled_caught:
            return
        if refused is not None:
            self._refuse(ready.proposal.call, refused)
            return
        await self._free.acquire()
        try:
            if not self._stops:
                self._scope.charge(tool_calls=1)
        except Exception as error:
            self._free.release()
            self._stop()
            self._ended[ready.proposal.call.id] = Ended(*_NOT_STARTED, error=error, is_signal=True)
        else:
            await self._run_one(ready)

    async def _asked(self, ready: Ready, ask: Ask) -> Refused | None:
        """Return None when a person agrees."""
        proposal, key = ready.proposal, "" if ready.call is None else f"{ready.call.key} tool"
        if self._inside is None:
            return Refused("denied", "Denied: it needs the consent of a person, and nobody can be asked here.")
        host, where = self._inside
        opened = host.clock.utcnow()
        request = OpenRequest(
            id=uuid.uuid4().hex,
            kind="tool",
            path=self._dispatch.path,
            question=ask.question,
            tool=proposal.tool.name,
            call_id=self._told_id(proposal.call),
            arguments=arguments_text(proposal.arguments),
            opened=opened,
            expires=opened + timedelta(seconds=ask.expires),
        )
        answer = await host.wait(self._scope, where, request, read_approval, key)
        if answer.expired:
            return Refused("denied", f"Denied: nobody agreed to it within {ask.expires:g} s.")
        if answer.value.approved:
            return None
        reason = answer.value.reason or "a person did not agree to it"
        return Refused("denied", f"Denied: {reason}.")

    async def _run_one(self, ready: Ready) -> None:
        """Dispatch one call, for which there is a place and which is paid for."""
        proposal, ended = ready.proposal, None
        given = ready
        if proposal.tool.effects:  # a tool may change the arguments that it is given
            given = ready._replace(proposal=replace(proposal, arguments=snapshot(dict(proposal.arguments))))
        try:
            if not self._stops and not self._scope.is_closed and not self._scope.is_refusing:
                ended = await self._dispatch.run(ready, partial(self._interrupted, ready))
        except BaseException as error:
            self._cut_off = error
            raise
        finally:
            self._free.release()
        if ended is not None:
            await self._find_out(given, ended)

    async def _find_out(self, ready: Ready, ended: Ended) -> None:
        """Record what came of a call; if that is unknown, find it out first."""
        proposal = ready.proposal
        try:
            try:
                if ended.status == "unknown":
                    ended = await self._inquiry.settled(ready, ended, self._told_id(proposal.call))
            finally:
                self._end(proposal.call, ended)
            await keep(ready.call, proposal.tool, ended)
        except BaseException as error:
            self._cut_off = error
            raise

    def _interrupted(self, ready: Ready, ended: Ended) -> None:
        """Note how a call that was cut off ended. What is unknown may be found out when the visit runs again."""
        self._end(ready.proposal.call, ended)
        if ended.status != "unknown":
            note(ready.call, ready.proposal.tool, ended)

    def _end(self, call: ToolCall, ended: Ended) -> None:
        self._ended[call.id] = ended
        if ended.is_signal:
            self._stop()
        self._finish(call, ended.status, ended.text, ended.value)

    def _stop(self) -> None:
        """Begin nothing more, and ask nobody any more: what is under way ends by itself."""
        self._stops = True
        for asking in self._asking:
            asking.cancel()

    def _refuse(self, call: ToolCall, refused: Refused) -> None:
        if refused.status == "denied":
            reason = compacted(sendable(refused.text.removeprefix("Denied: ")), self._settings.max_result)
            self._note(ToolDenied, call, tool=self._real_name(call.name), reason=reason)
        self._finish(call, refused.status, refused.text)

    def _finish(self, call: ToolCall, status: Status, text: str, value: Any = None) -> None:
        text = compacted(sendable(text), self._settings.max_result)
        ran, must_end = status in _CALLED, self._repetitions.must_end
        self._results[call.id] = ToolResult(call, status, text, value, ran, must_end, self._real_name(call.name))
        self._note(ToolFinished, call, tool=self._real_name(call.name), status=status, text=text)

    def _raise_what_ends(self) -> None:
        ended = [self._ended[call.id] for call in self._calls if call.id in self._ended]
        for each in ended:
            if each.is_signal and each.error is not None:
                raise unwrapped(each.error) if isinstance(each.error, Exception) else each.error
        for call in self._calls:
            result = self._results[call.id]
            tool = self._usable.get(self._real_name(call.name))
            if tool is None or tool.on_failure != "fail" or result.status not in _ENDS_VISIT:
                continue
            kind = OutcomeUnknown if result.status == "unknown" else ToolError
            error = kind(f"{tool.name}: {result.text}", tool=tool.name, call_id=call.id, status=result.status)
            raise error from self._ended[call.id].error

    def _note(self, event: type[Event], call: ToolCall, **values: Any) -> None:
        if self._inside is not None:
            host, where = self._inside
            host.note(where, event, call=self._told_id(call), **values)

    def _told_id(self, call: ToolCall) -> str:
        return self._told.get(call.id, call.id)
