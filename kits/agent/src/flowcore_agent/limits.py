"""The limits of an agent's loop, checked when they are made."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_type_hints

from pydantic import TypeAdapter, ValidationError

from flowcore import ContractError, Reserve

__all__ = ["AgentLimits"]

_COUNTS = (
    "turns",
    "concurrency",
    "catalog",
    "sub_turns",
    "same_call",
    "same_tool_warn",
    "same_tool_end",
    "recalled",
    "guard_window",
    "guard_overlap",
)


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """How far an agent's loop may go.

    Args:
        turns: Replies of the model in the loop: 12, or 15 with `on_limit="error"`.
        on_limit: `"wrap_up"`: the last turn is told to sum up, and one more without tools follows. `"error"`: the
            run fails.
        concurrency: Calls of one turn that run at a time.
        tool_timeout: Seconds that a call may take where its tool does not say, and so for each section of the
            context and each call of the delivery.
        turn_timeout: Seconds that one turn of the model may take; None leaves it to the model's runner.
        max_result: Characters of a tool's result that the model is told.
        same_call: The same call is skipped from this occurrence on; None switches the rule off.
        same_tool_warn: So many turns in a row with one tool are warned of.
        same_tool_end: So many of them end the loop.
        catalog: How many tools a turn may be shown at most.
        sub_turns: Turns of a sub-agent.
        recalled: How many memories a request is reminded of at most.
        guard_timeout: Seconds that one look of a guardrail may take; None is no limit.
        guard_window: Characters of a stream that the guardrails of the output look at in one go.
        guard_overlap: How many of them they see again in the next window: of a phrase up to this length nothing
            goes out before it was seen whole.
        keep_recent: Messages that compaction leaves as they are.
        compact_at: The share of the context from which on it is compacted.
        reserve: What is held back for the end when the budget of the run runs out. With a request and a round the
            model is asked once more, without tools; with seconds, running out of time ends so too, and not as a
            failure.
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
    recalled: int = 5
    guard_timeout: float | None = 10.0
    guard_window: int = 400
    guard_overlap: int = 100
    keep_recent: int = 6
    compact_at: float = 0.8
    reserve: Reserve = field(default_factory=Reserve)

    @property
    def most_turns(self) -> int:
        """Turns of the loop, wrap-up not counted."""
        if self.turns is not None:
            return self.turns
        return 12 if self.on_limit == "wrap_up" else 15

    def __post_init__(self) -> None:
        if faults := [*self._wrong_counts(), *self._wrong_shares()]:
            raise ContractError(f"AgentLimits: {'; '.join(faults)}")

    def _wrong_counts(self) -> Iterator[str]:
        for name in _COUNTS:
            number = getattr(self, name)
            if number is not None and (type(number) is not int or number < 1):
                off = ", or None to switch it off" if name.startswith("same_") else ""
                yield f"{name}={number!r}: give a whole number above zero{off}"
        if type(self.keep_recent) is not int or self.keep_recent < 0:
            yield f"keep_recent={self.keep_recent!r}: give a whole number, zero or more"

    def _wrong_shares(self) -> Iterator[str]:
        for name in ("tool_timeout", "turn_timeout", "guard_timeout"):
            number = getattr(self, name)
            if number is not None and not number > 0:
                yield f"{name}={number!r}: give seconds above zero"
        if self.on_limit not in ("wrap_up", "error"):
            yield f"on_limit={self.on_limit!r}: give 'wrap_up' or 'error'"
        if self._wrong_windows():
            yield f"guard_overlap={self.guard_overlap!r}: give fewer than guard_window={self.guard_window!r}"
        if not 0 < self.compact_at <= 1:
            yield f"compact_at={self.compact_at!r}: give a share above 0, at most 1"

    def _wrong_windows(self) -> bool:
        sizes = self.guard_overlap, self.guard_window
        return all(type(size) is int for size in sizes) and not sizes[0] < sizes[1]

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None, **given: Any) -> AgentLimits:
        """Make limits of what is given, then of the environment, then of the defaults.

        `FLOWCORE_AGENT_TURNS=20` says what `turns=20` does, and so for each limit but `reserve`; `none` is None. A
        manifest's limits are given by name. Raises `ContractError` that lists everything that cannot be meant.
        """
        env = os.environ if env is None else env
        hints = get_type_hints(cls)
        faults: list[str] = []
        for entry in fields(cls):
            variable = f"FLOWCORE_AGENT_{entry.name.upper()}"
            if entry.name in given or entry.name == "reserve" or variable not in env:
                continue
            text: str | None = None if env[variable].strip().lower() == "none" else env[variable].strip()
            try:
                given[entry.name] = TypeAdapter[object](hints[entry.name]).validate_python(text)
            except ValidationError as error:
                faults.append(f"{variable}={env[variable]!r}: {error.errors()[0]['msg']}")
        if faults:
            raise ContractError(f"AgentLimits: {'; '.join(faults)}")
        return cls(**given)

    def named(self) -> dict[str, object]:
        """Return the limits by name."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}
