"""The conversation of a run: what a turn of the model is sent. A pure function of the state."""

from __future__ import annotations

from flowcore.messages import Message
from flowcore_agent.state import AgentState

__all__ = ["conversation"]


def conversation(state: AgentState) -> list[Message]:
    """Return the messages of the next turn: what was prepared, and the turns that were not compacted into it."""
    system = [Message("system", state.system)] if state.system else []
    return [*system, *state.prepared, *state.turns[state.compacted :]]
