"""The ends of a loop that did not come to an answer: what was said is kept, or the run fails properly."""

from __future__ import annotations

from typing import Any, Literal

from flowcore import BudgetExhausted, Complete, Continue, Node, RunFailed, Step, node
from flowcore.errors import ModelRequestError, ModelTimeout
from flowcore_agent.errors import TurnLimitReached
from flowcore_agent.loop.ask import CUT_SHORT, NOT_EXECUTED, close_calls
from flowcore_agent.parts import Parts
from flowcore_agent.reply import AgentReply, Issue
from flowcore_agent.state import AgentState

__all__ = ["fail_node", "salvage_node"]


def salvage_node() -> Node[AgentState, object, None, object]:
    """Make the node that keeps what the model said last, as partial, after a failure or a limit of the budget.

    With nothing said the run fails: with the error that led here, or with the limit that ran out.
    """

    @node(id="salvage", starts_round=False, description="Keep what was said so far, or fail.")
    async def salvage(step: Step[AgentState]) -> Continue:
        state = step.state
        text = _broken_off(step) or (state.said[-1] if state.said else "")
        if not text:
            raise _error(step)
        used_up = step.exhausted is not None or (
            step.error is not None and step.error.code == BudgetExhausted.code
        )
        stage: Literal["tools", "model"] = "tools" if state.calls else "model"
        close_calls(state, NOT_EXECUTED if state.reason == "limit" else CUT_SHORT)
        state.text, state.is_partial = text, True
        state.reason = "exhausted" if used_up else "failed"
        if step.error is not None:
            state.issues += (Issue(stage, step.error.path, str(step.error)),)
        return Continue()

    return salvage


def fail_node(parts: Parts) -> Node[AgentState, object, None, AgentReply]:
    """Make the node that fails the run, since the turns are used up and that is an error."""
    spec = parts.spec

    @node(id="turns_used_up", starts_round=False, description="Fail: there is no answer after the last turn.")
    async def turns_used_up(step: Step[AgentState]) -> Complete[AgentReply]:
        raise TurnLimitReached(spec.name, spec.limits.most_turns)

    return turns_used_up


def _broken_off(step: Step[AgentState]) -> str:
    """Return what a stream had said before it broke."""
    error = None if step.error is None else step.error.exception
    return error.text.strip() if isinstance(error, ModelRequestError | ModelTimeout) else ""


def _error(step: Step[AgentState]) -> Exception:
    if step.error is not None:
        error: Any = step.error.exception
        return error if isinstance(error, Exception) else RunFailed(step.error)
    dimension = step.exhausted or "rounds"
    used = float(getattr(step.scope.used, dimension, 0))
    return BudgetExhausted(dimension, used + (step.scope.remaining.get(dimension) or 0), used)
