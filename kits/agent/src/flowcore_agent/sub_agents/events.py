"""The events of a sub-agent, as those who follow the agent's run are told them."""

from __future__ import annotations

from dataclasses import dataclass

from flowcore.events import Event

__all__ = ["SubAgentEvent"]


@dataclass(frozen=True, slots=True)
class SubAgentEvent:
    """One event of a sub-agent: the `data` of an event `tool.delta` of the call that it works for.

    `task` is the same for all events of one sub-agent, and for no other in the run. `depth` says how far below
    the agent it stands.
    """

    task: str
    depth: int
    event: Event
