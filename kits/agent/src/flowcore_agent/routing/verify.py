"""Verifying: the answer to a task is looked at once, and what is missing is worked on once more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flowcore import Continue, Log, Node, Step, node
from flowcore.messages import Message
from flowcore_agent.context.fence import fenced, one_line
from flowcore_agent.loop.conversation import conversation
from flowcore_agent.parts import Parts
from flowcore_agent.reply import Issue
from flowcore_agent.routing.degrade import note_failure
from flowcore_agent.state import AgentState

__all__ = ["Verdict", "verify_node"]

_VERIFY = """\
Look at this answer to my request, as somebody who did not write it. It is done if it does all that I asked for, \
and if what it says is borne out by the results above. If not, say in a few sentences what is missing or wrong.
The answer:
{answer}"""
_AGAIN = """\
You were about to answer:
{answer}

This was looked at, and it is missing or wrong: {missing}
Put that right, then give the whole answer again."""
_LONGEST = 2_000
_CHECKED = ("answer", "completed")
Verified = Literal["done", "again"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an answer does what was asked, and what is missing."""

    is_done: bool
    missing: str = ""


def verify_node(parts: Parts) -> Node[AgentState, object, Verified, object]:
    """Make the node that has the model look at its answer to a task of some depth.

    It continues by `again`, at most once, where something is missing and there is a turn and the budget for it.
    """

    @node(id="verify", starts_round=False, description="Look whether the answer does what was asked.")
    async def verify(step: Step[AgentState]) -> Continue[Verified]:
        state = step.state
        if state.was_checked:
            _settle(state)
            return Continue("done")
        if not _is_worth_it(state):
            return Continue("done", why={"checked": False})
        if not step.scope.can_invoke(requests=1):
            return _leave(state, "it was not looked at: the budget has no request left")
        state.was_checked = True
        try:
            verdict = await _verdict(parts, state)
        except Exception as error:
            note_failure(state, "verify", error)
            return Continue("done", why={"checked": False})
        missing = one_line(verdict.missing, _LONGEST)
        if verdict.is_done or not missing:
            return Continue("done", why={"checked": True})
        if state.turn >= parts.spec.limits.most_turns or not step.scope.can_invoke(requests=1, rounds=1):
            return _leave(state, f"it is not complete, and there is no further turn: {missing}")
        _send_back(state, missing)
        return Continue("again", why={"missing": missing})

    return verify


def _is_worth_it(state: AgentState) -> bool:
    is_task = state.route != "direct" and state.depth not in ("", "none")
    return is_task and state.reason in _CHECKED and bool(state.text.strip())


async def _verdict(parts: Parts, state: AgentState) -> Verdict:
    asked = Message("user", _VERIFY.format(answer=fenced(state.text)))
    sent = [*conversation(state), asked]
    if sent[-2].role == "assistant" and sent[-2].content == state.text:
        del sent[-2]
    return (await parts.runner(state.model).invoke(sent, output=Verdict)).value


def _send_back(state: AgentState, missing: str) -> None:
    """Have the answer given again: what is kept of the turn is the one that counts."""
    turns = list(state.turns)
    if turns and turns[-1].role == "assistant" and not turns[-1].tool_calls:
        state.turns = Log(turns[:-1])
    state.missing = _AGAIN.format(answer=fenced(state.text), missing=missing)


def _settle(state: AgentState) -> None:
    """Keep the answer that was sent back where nothing better came."""
    if not (state.text.strip() or state.attachments) and state.said:
        state.text, state.is_partial = state.said[-1], True


def _leave(state: AgentState, message: str) -> Continue[Verified]:
    state.issues += (Issue("verify", "answer", message),)
    return Continue("done")
