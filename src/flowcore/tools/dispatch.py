"""The dispatch: a call that may run is run, and what came of it is judged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from inspect import isawaitable
from typing import Any

from ..clock import SystemClock
from ..errors import OutcomeUnknown, ToolError
from ..events import ToolDelta, ToolStarted
from ..messages import ToolCall
from ..runtime import GRACE, RunThreads, current_loop, unwrapped
from ..scope import Scope
from ..visit import path_of
from ..visit_host import Inside
from .decide import Ready, is_cancellation, is_signal, words_of
from .definition import Tool, ToolContext
from .errand import Errand
from .faults import ArgumentFault
from .policy import Proposal
from .receipts import UNKNOWN, Ended, arguments_text
from .result import result_text

__all__ = ["Dispatch", "awaited"]


class Dispatch:
    """Runs calls under a scope: in the run that it belongs to, with its clock and its threads, or without one."""

    def __init__(
        self, scope: Scope, around: Inside | None, timeout: float, deps: Any, told_id: Callable[[ToolCall], str]
    ) -> None:
        self.scope = scope
        self.inside = around
        self._timeout = timeout
        self._deps = deps
        self._told_id = told_id
        self.path = "" if around is None else path_of(around.where)
        self._clock = SystemClock() if around is None else around.host.clock
        self._loop = current_loop() if around is None else around.host.loop
        self._grace = GRACE if around is None else around.host.grace
        self.in_thread = RunThreads(self._loop).call if around is None else around.host.call

    async def run(self, ready: Ready, tell: Callable[[Ended], None]) -> Ended:
        """Run the call, and return how it ended; where it is cancelled, `tell` it.

        That one with effects is dispatched is written before it runs.
        """
        proposal, call = ready.proposal, ready.call
        tool, scope = proposal.tool, self.scope.beside()
        if call is not None and tool.effects:
            await call.keep("dispatched")
        self._started(proposal)
        seconds = self.seconds(tool)
        errand = self.errand(partial(self._work, proposal, scope), scope, tool.name)
        try:
            await errand.run(seconds, tool.name)
        except BaseException:
            tell(self._interrupted(errand, proposal, Ended("cancelled", "It was stopped before it was done.")))
            raise
        return self._judged(errand, proposal, seconds)

    def seconds(self, tool: Tool) -> float:
        """Return for how long a call may take."""
        return self._timeout if tool.timeout is None else tool.timeout

    def _judged(self, errand: Errand, proposal: Proposal, seconds: float) -> Ended:
        error = errand.error
        if errand.is_late:
            late = (
                f"It took longer than {seconds:g} s and was stopped. Try something smaller, or go on without it."
            )
            return self._interrupted(errand, proposal, Ended("timeout", late, error=error))
        if error is None:
            return self._checked(errand, proposal)
        if is_cancellation(error):
            said = "What it waited for was cancelled."
            return self._interrupted(errand, proposal, Ended("cancelled", said, error=error))
        if is_signal(error, self.scope):
            return Ended("failed", f"It ended with the run: {words_of(error)}", None, error, True)
        error = unwrapped(error) if isinstance(error, Exception) else error
        if isinstance(error, OutcomeUnknown):
            return UNKNOWN._replace(text=f"{UNKNOWN.text} What went wrong: {error}", error=error)
        words = str(error) if isinstance(error, ToolError) else words_of(error)
        return Ended("failed", f"It failed: {words}", None, error)

    def _interrupted(self, errand: Errand, proposal: Proposal, ended: Ended) -> Ended:
        """Return how an interrupted call ended. One with effects may have had them, unless it said so itself."""
        if not proposal.tool.effects:
            return ended
        return self._checked(errand, proposal) if errand.returned else UNKNOWN._replace(error=ended.error)

    def _checked(self, errand: Errand, proposal: Proposal) -> Ended:
        """Return the result of a call that came back: of the type that the tool promises, or not."""
        value, check = errand.value, proposal.tool.check_output
        try:
            value = value if check is None else check(value)
            if isinstance(value, Iterator | AsyncIterator):
                raise ArgumentFault("it can be read but once, and is both told and handed on: return a list")
            return Ended("ok", result_text(value), value)
        except (
            BaseException
        ) as error:  # an interrupt in code of the user's, too: in this task it would stop the loop
            words = str(error) if isinstance(error, ValueError) else words_of(error)
            said = f"It ran, but did not return what it promises: {words}. What it changed outside is not undone."
            return Ended("invalid_output", said, None, error, is_signal(error, self.scope))

    def errand(self, work: Callable[[], Any], scope: Scope, name: str) -> Errand:
        """Return a piece of work that can be asked to stop."""
        return Errand(work, scope, self._clock, self._loop, self._grace, partial(self._leave_behind, name))

    async def _work(self, proposal: Proposal, scope: Scope) -> Any:
        tool, about = proposal.tool, self.inside
        run_id = "" if about is None else about.host.run_id
        tell = partial(self._emit, proposal)
        context = ToolContext(proposal.call.id, tool.name, run_id, self.path, scope, self._deps, tell)
        if tool.is_async:
            return await tool.call(context, proposal.arguments)
        call = partial(tool.call, context)
        return await awaited(partial(self.in_thread, call, proposal.arguments, self.path))

    def _started(self, proposal: Proposal) -> None:
        if self.inside is not None:
            host, where = self.inside
            told = {"tool": proposal.tool.name, "arguments": arguments_text(proposal.arguments)}
            host.note(where, ToolStarted, call=self._told_id(proposal.call), **told)

    def _emit(self, proposal: Proposal, data: object) -> None:
        if self.inside is not None:
            host, where = self.inside
            call = self._told_id(proposal.call)
            host.tell(where, ToolDelta, call=call, tool=proposal.tool.name, data=data)

    def _leave_behind(self, name: str) -> None:
        if self.inside is not None:
            self.inside.host.leave_behind(f"{self.path} ({name})")


async def awaited(call: Callable[[], Any]) -> Any:
    """Return what a function in a thread returns; it may turn out to be something to await."""
    value = await call()
    return await value if isawaitable(value) else value
