"""The scope: one budget that everything beneath it shares, checked and counted in one step."""

from __future__ import annotations

import itertools
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Self

from ..errors import BudgetExhausted
from .budget import COUNTED, Budget, Usage

__all__ = ["Request", "Scope", "current_scope", "scope_variable"]

_ids = itertools.count(1)

scope_variable: ContextVar[Scope] = ContextVar("flowcore_scope")


def current_scope() -> Scope:
    """Return the scope that this code runs under. Raises `LookupError` outside of every scope."""
    try:
        return scope_variable.get()
    except LookupError:
        raise LookupError("no scope here: run inside a flow, or inside `async with Scope(Budget(...))`") from None


class Request:
    """One model request: paid for when it is sent, its tokens and cost added when they are known."""

    __slots__ = ("_scope", "_told")

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._told = False

    def used(self, *, tokens: int = 0, cost: float = 0.0) -> None:
        """Add what this request used. A second call changes nothing, so usage is never counted twice."""
        if not self._told:
            self._told = True
            self._scope.add(tokens=tokens, cost=cost)


class Scope:
    """Counters and limits of one run, or of a narrower part of it: what it spends, its parents spend.

    `async with Scope(Budget(requests=3)):` works without any flow.
    """

    __slots__ = (
        "_chain",
        "_lock",
        "_token",
        "_used",
        "began",
        "budget",
        "ends_at",
        "id",
        "parent",
        "path",
        "seconds",
    )

    def __init__(self, budget: Budget | None = None, *, parent: Scope | None = None, path: str = "") -> None:
        self.budget = budget if budget is not None else Budget()
        self.id = next(_ids)
        self.parent = parent
        self.path = path
        self._used: dict[str, float] = dict.fromkeys(COUNTED, 0)
        self._lock: threading.Lock = parent._lock if parent is not None else threading.Lock()
        self._chain: tuple[Scope, ...] = (self, *(parent._chain if parent is not None else ()))
        self._token: Token[Scope] | None = None
        self.began = 0.0
        self.ends_at: float | None = None
        self.seconds: float | None = None

    def start(self, now: float, seconds: float | None) -> None:
        """Begin to count time: from `now`, on the host's clock, for `seconds`."""
        self.began = now
        self.seconds = seconds
        self.ends_at = None if seconds is None else now + seconds

    def check_time(self, now: float) -> None:
        """Return if there is time left. Raises `BudgetExhausted` for the first scope that has none."""
        for scope in self._chain:
            if scope.ends_at is not None and now >= scope.ends_at:
                raise scope.out_of_time(now)

    def out_of_time(self, now: float) -> BudgetExhausted:
        """Return the error that says that this scope's time is over."""
        limit = self.seconds or 0.0
        return BudgetExhausted("seconds", limit, max(limit, now - self.began), self.path, scope_id=self.id)

    def holds(self, error: BudgetExhausted) -> bool:
        """Return whether the limit that ran out is this scope's own or one of its parents'."""
        return any(scope.id == error.scope_id for scope in self._chain)

    def narrow(self, budget: Budget, *, path: str = "") -> Scope:
        """Return a scope inside this one. It can only be tighter: this one's limits still hold."""
        return Scope(budget, parent=self, path=path)

    def charge(self, **amounts: float) -> None:
        """Spend, before the work starts. Raises `BudgetExhausted` and spends nothing if any limit would break.

        Nothing can come between the check and the count. Keywords are `rounds`, `requests`, `tool_calls`,
        `tokens` and `cost`.
        """
        with self._lock:
            for scope in self._chain:
                scope._check(amounts)
            self._count(amounts)

    def add(self, **amounts: float) -> None:
        """Count what was used already, over the limit or not: the next charge is what gets refused."""
        with self._lock:
            self._count(amounts)

    def can_invoke(self, *, requests: int = 1, rounds: int = 0) -> bool:
        """Return whether that much could be charged now. Reads the real counters each time."""
        amounts = {"requests": requests, "rounds": rounds}
        with self._lock:
            try:
                for scope in self._chain:
                    scope._check({name: amount for name, amount in amounts.items() if amount})
            except BudgetExhausted:
                return False
            return True

    @property
    def used(self) -> Usage:
        """What this scope and everything beneath it has spent. `seconds` is the host's to fill in."""
        return Usage.of(self.counters)

    @property
    def remaining(self) -> dict[str, float | None]:
        """What may still be spent, by dimension: the tightest of this scope and its parents; None is no limit."""
        left: dict[str, float | None] = {}
        for dimension in COUNTED:
            limits = [
                limit - scope._used[dimension]
                for scope in self._chain
                if (limit := getattr(scope.budget, dimension)) is not None
            ]
            left[dimension] = max(0, min(limits)) if limits else None
        return left

    @asynccontextmanager
    async def request(self) -> AsyncGenerator[Request]:
        """Pay for one model request, then run the body that sends it. Raises `BudgetExhausted` before it."""
        self.charge(requests=1)
        yield Request(self)

    @property
    def counters(self) -> tuple[float, ...]:
        """What was spent, in the order of the counted dimensions."""
        return tuple(self._used.values())

    def _count(self, amounts: dict[str, float]) -> None:
        for scope in self._chain:
            for dimension, amount in amounts.items():
                scope._used[dimension] += amount

    def _check(self, amounts: dict[str, float]) -> None:
        for dimension, amount in amounts.items():
            if dimension not in self._used:
                raise TypeError(f"{dimension!r} cannot be charged: use one of {', '.join(COUNTED)}")
            if amount < 0:
                raise ValueError(f"a charge of {amount} {dimension}: give zero or more")
            limit = getattr(self.budget, dimension)
            if limit is None:
                continue
            used = self._used[dimension]
            if used + amount > limit or (dimension in _OVERRUN and used >= limit):
                raise BudgetExhausted(dimension, limit, used, self.path, scope_id=self.id)
            if dimension == "requests":
                self._check_overrun()

    def _check_overrun(self) -> None:
        for dimension in _OVERRUN:
            limit = getattr(self.budget, dimension)
            if limit is not None and self._used[dimension] >= limit:
                raise BudgetExhausted(dimension, limit, self._used[dimension], self.path, scope_id=self.id)

    async def __aenter__(self) -> Self:
        self._token = scope_variable.set(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._token is not None:
            scope_variable.reset(self._token)
            self._token = None


_OVERRUN = ("tokens", "cost")
