"""The conversation of a run: what a turn of the model is sent. Pure functions of the state."""

from __future__ import annotations

from collections.abc import Sequence

from flowcore import Log
from flowcore.messages import Message
from flowcore_agent.own_tools.todo import todo_text
from flowcore_agent.state import AgentState

__all__ = ["body", "conversation", "put_body"]

_TODO = "The list of your work as it stands:\n"


def conversation(state: AgentState) -> list[Message]:
    """Return the messages of the next turn: the system prompt, and the body."""
    leading = [Message("system", state.system)] if state.system else []
    leading += body(state)
    if state.compacted and state.todo:  # the calls that wrote it down may have been summed up
        leading.append(Message("user", _TODO + todo_text(state.todo)))
    return leading


def body(state: AgentState) -> list[Message]:
    """Return what was prepared, and the turns that were not compacted into it."""
    turns = list(state.turns)
    return [*state.prepared, *(turns[state.compacted :] if state.compacted else turns)]


def put_body(state: AgentState, messages: Sequence[Message]) -> None:
    """Put shorter messages in the place of the body. The turns stay whole, for the reply and the next request."""
    state.prepared, state.compacted = Log(messages), len(state.turns)
