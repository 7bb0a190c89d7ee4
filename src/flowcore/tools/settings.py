"""The settings of an executor, checked when it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..types import is_a
from .guard import RepetitionGuard
from .policy import Hook, Policy

__all__ = ["ExecutorSettings"]


@dataclass(frozen=True, slots=True)
class ExecutorSettings:
    """How calls are run; `ToolExecutor` tells what each means. Raises `ValueError` for what cannot be meant."""

    concurrency: int
    timeout: float
    hooks: Sequence[Hook]
    policy: Policy | None
    guard: RepetitionGuard | None
    max_result: int

    def __post_init__(self) -> None:
        if isinstance(self.concurrency, bool) or not is_a(self.concurrency, int) or self.concurrency < 1:
            raise ValueError(f"ToolExecutor(concurrency={self.concurrency!r}): give a whole number above zero")
        if not self.timeout > 0:
            raise ValueError(f"ToolExecutor(timeout={self.timeout!r}): give seconds above zero")
        if not is_a(self.max_result, int) or self.max_result < 100:
            raise ValueError(f"ToolExecutor(max_result={self.max_result!r}): give a hundred characters or more")
        if self.policy is not None and not callable(self.policy):
            raise ValueError(f"ToolExecutor(policy={self.policy!r}): give a function of one proposal")
        if self.guard is not None and not is_a(self.guard, RepetitionGuard):
            raise ValueError(f"ToolExecutor(guard={self.guard!r}): give a RepetitionGuard, or None")
        for hook in self.hooks:
            if not callable(hook):
                raise ValueError(f"ToolExecutor(hooks=[{hook!r}]): give functions of one proposal")
