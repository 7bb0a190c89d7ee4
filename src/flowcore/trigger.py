"""The trigger: what started a run, and for whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

__all__ = ["Trigger", "TriggerKind"]

TriggerKind = Literal["direct", "chat", "schedule", "event", "message", "delegation"]


@dataclass(frozen=True, slots=True)
class Trigger:
    """What started a run, and for whom; kept with its record.

    `user` is who may pause, stop, resume and answer it; '' leaves that to anybody. `parent` is the id of the run
    that delegated this one: it is settled together with that. Raises `ValueError` for a kind that is none of ours.
    """

    kind: TriggerKind = "direct"
    user: str = ""
    agent: str = ""
    conversation: str = ""
    parent: str = ""

    def __post_init__(self) -> None:
        if self.kind not in get_args(TriggerKind):
            raise ValueError(f"Trigger(kind={self.kind!r}): give one of {', '.join(get_args(TriggerKind))}")
