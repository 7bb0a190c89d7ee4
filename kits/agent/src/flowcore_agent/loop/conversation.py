"""The conversation of a run: what a turn of the model is sent. Pure functions of the state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flowcore import Log
from flowcore.messages import Message
from flowcore_agent.own_tools.todo import todo_text
from flowcore_agent.state import AgentState

__all__ = ["body", "conversation", "put_body"]

_PLAN = "A plan of the work, to be followed as far as it fits what you find:\n"
_TODO = "The list of your work as it stands:\n"
_MISSING = "Your answer was looked at, and this is missing. Do it, then give the whole answer again:\n"


def conversation(state: AgentState) -> list[Message]:
    """Return the messages of the next turn: the system prompt, the body, and what is known of the work."""
    leading = [Message("system", state.system)] if state.system else []
    return [*leading, *body(state), *(Message("user", text) for text in _work(state))]


def _work(state: AgentState) -> Iterator[str]:
    """Yield what is known of the work. It is data, made of what users and tools said: no part of the prompt."""
    if state.plan:
        yield _PLAN + state.plan
    if state.compacted and state.todo:  # the calls that wrote it down may have been summed up
        yield _TODO + todo_text(state.todo)
    if state.missing:
        yield _MISSING + state.missing


def body(state: AgentState) -> list[Message]:
    """Return what was prepared, and the turns that were not compacted into it."""
    turns = list(state.turns)
    return [*state.prepared, *(turns[state.compacted :] if state.compacted else turns)]


def put_body(state: AgentState, messages: Sequence[Message]) -> None:
    """Put shorter messages in the place of the body. The turns stay whole, for the reply and the next request."""
    state.prepared, state.compacted = Log(messages), len(state.turns)
