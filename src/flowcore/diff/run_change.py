"""The difference of two runs as data: where they parted, what they changed and spent otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..recording import Recording
from .change import FlowDiff

__all__ = ["Amount", "RunDiff", "Turn", "ValueChange"]


@dataclass(frozen=True, slots=True)
class Turn:
    """Where two walks part: at the visit of `path`, in words, and because of which value; '' for none known."""

    path: str
    words: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A value that differs: that of a place in the state, a reason, a failure; '' stands for none.

    `path` is the visit that it belongs to; '' the run itself.
    """

    kind: Literal["start", "budget", "state", "why", "attempts", "failure", "result"]
    path: str
    place: str
    was: str
    now: str


@dataclass(frozen=True, slots=True)
class Amount:
    """What was spent of one thing."""

    name: str
    was: float
    now: float


@dataclass(frozen=True, slots=True)
class RunDiff:
    """How two runs differ. `flows` is there where they are runs of flows that differ.

    `turns` are in the order of the walk, the first divergence first. `only_old` and `only_new` are the paths of
    visits that one run alone has; what stands inside those is not listed. `seconds` never make a difference.
    """

    old: Recording
    new: Recording
    flows: FlowDiff | None
    turns: tuple[Turn, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    values: tuple[ValueChange, ...]
    spending: tuple[Amount, ...]
    seconds: Amount

    @property
    def differs(self) -> bool:
        """Whether anything but the time differs."""
        return bool(self.flows or self.turns or self.only_old or self.only_new or self.values or self.spending)
