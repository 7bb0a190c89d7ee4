"""Passing: a reply is asked for, and its pieces go through the gate where there is one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from flowcore import Step
from flowcore.messages import ModelReply
from flowcore.models import Sink
from flowcore_agent.guardrails.gate import OutputGate
from flowcore_agent.guardrails.guardrail import Verdict, look, merged
from flowcore_agent.guardrails.telling import tell_checked
from flowcore_agent.parts import Parts
from flowcore_agent.reply import GuardReport
from flowcore_agent.state import AgentState

__all__ = ["through_gate"]


class _Stopped(Exception):
    """A window may not pass: it ends the request to the model."""


async def through_gate(
    parts: Parts, step: Step[AgentState], send: Callable[[Sink | None], Awaitable[ModelReply]]
) -> ModelReply:
    """Return the reply that `send` gets with the sink it is given.

    Where guardrails look at a stream, the reply that they stop is an empty one, and the run's reason is `blocked`.
    The request is not read to its end then.
    """
    sink, rails = parts.spec.sink, parts.output_guards
    if sink is None or not rails:
        return await send(sink)
    state, limits = step.state, parts.spec.limits
    reports: tuple[GuardReport, ...] = ()

    async def see(window: str) -> None:
        nonlocal reports
        verdict: Verdict = await look(rails, window, state.request.messages)
        reports = merged(reports, verdict.reports)
        if verdict.stopped_by:
            raise _Stopped

    gate = OutputGate(sink, see, limits.guard_window, limits.guard_overlap)
    try:
        reply = await send(gate)
        await gate.close()
        state.cleared = gate.mark
    except _Stopped:
        reply = ModelReply("")
        state.reason = "blocked"
    tell_checked(step, reports)
    return reply
