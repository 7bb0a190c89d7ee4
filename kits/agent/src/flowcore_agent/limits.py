"""The limits of an agent's loop, checked when they are made."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from flowcore import ContractError

__all__ = ["AgentLimits"]


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """How far an agent's loop may go.

    Args:
        turns: Replies of the model in the loop: 12, or 15 with `on_limit="error"`.
        on_limit: `"wrap_up"`: the last turn is told to sum up, and one more without tools follows. `"error"`: the
            run fails.
        concurrency: Calls of one turn that run at a time.
        tool_timeout: Seconds that a call may take where its tool does not say.
        turn_timeout: Seconds that one turn of the model may take; None leaves it to the model's runner.
        max_result: Characters of a tool's result that the model is told.
        same_call: The same call is skipped from this occurrence on; None switches the rule off.
        same_tool_warn: So many turns in a row with one tool are warned of.
        same_tool_end: So many of them end the loop.
        catalog: How many tools a turn may be shown at most.
        sub_turns: Turns of a sub-agent.
        keep_recent: Messages that compaction leaves as they are.
        compact_at: The share of the context from which on it is compacted.
    """

    turns: int | None = None
    on_limit: Literal["wrap_up", "error"] = "wrap_up"
    concurrency: int = 4
    tool_timeout: float = 60.0
    turn_timeout: float | None = None
    max_result: int = 20_000
    same_call: int | None = 3
    same_tool_warn: int | None = 5
    same_tool_end: int | None = 7
    catalog: int = 64
    sub_turns: int = 6
    keep_recent: int = 6
    compact_at: float = 0.8

    @property
    def most_turns(self) -> int:
        """Turns of the loop, wrap-up not counted."""
        if self.turns is not None:
            return self.turns
        return 12 if self.on_limit == "wrap_up" else 15

    def __post_init__(self) -> None:
        faults: list[str] = []
        for name in ("turns", "concurrency", "catalog", "sub_turns"):
            number = getattr(self, name)
            if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
                faults.append(f"{name}={number!r}: give a whole number above zero")
        for name in ("tool_timeout", "turn_timeout"):
            number = getattr(self, name)
            if number is not None and not number > 0:
                faults.append(f"{name}={number!r}: give seconds above zero")
        if self.on_limit not in ("wrap_up", "error"):
            faults.append(f"on_limit={self.on_limit!r}: give 'wrap_up' or 'error'")
        if not 0 < self.compact_at <= 1:
            faults.append(f"compact_at={self.compact_at!r}: give a share above 0, at most 1")
        if faults:
            raise ContractError(f"AgentLimits: {'; '.join(faults)}")

    def named(self) -> dict[str, object]:
        """Return the limits by name."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}
