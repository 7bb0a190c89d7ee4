"""The scope: one budget that everything beneath it shares, checked and counted in one step."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Self

from ..errors import BudgetExhausted, ContractError, NodeTimeout
from .budget import COUNTED, Budget, Reserve, Usage
from .request import Request, Teller

__all__ = ["Scope", "current_scope", "scope_variable"]

scope_variable: ContextVar[Scope] = ContextVar("flowcore_scope")
_ids = itertools.count(1)
_UNLIMITED = Budget(rounds=None)
_ZERO: dict[str, float] = dict.fromkeys(COUNTED, 0)
_OVERRUN = ("tokens", "cost")
"""What is known only afterwards: an answer that overran is kept, and the next request is refused."""


def _sound(amounts: dict[str, float]) -> dict[str, float]:
    for dimension, amount in amounts.items():
        if dimension not in COUNTED:
            raise TypeError(f"{dimension!r} cannot be charged: use one of {', '.join(COUNTED)}")
        if not 0 <= amount < math.inf:
            raise ValueError(f"a charge of {amount} {dimension}: give a number, zero or more")
    return amounts


def current_scope() -> Scope:
    """Return the scope that this code runs under. Raises `LookupError` outside of every scope."""
    try:
        return scope_variable.get()
    except LookupError:
        raise LookupError("no scope here: run inside a flow, or inside `async with Scope(Budget(...))`") from None


class Scope:
    """Counters and limits of one run, or of a narrower part of it: what it spends, its parents spend.

    `async with Scope(Budget(requests=3)):` works without any flow. A `reserve` is held back from every charge
    until `finish()` is called. Raises `ValueError` for a reserve that is larger than its budget.
    """

    __slots__ = (
        "_chain",
        "_closed",
        "_expired",
        "_goes_on",
        "_held",
        "_lock",
        "_refusal",
        "_reserve",
        "_seconds",
        "_timeout",
        "_tokens",
        "_used",
        "began",
        "budget",
        "ends_at",
        "host",
        "id",
        "is_timed",
        "limit_id",
        "parent",
        "path",
        "standstill",
        "teller",
        "version",
        "visit",
    )

    def __init__(
        self,
        budget: Budget | None = None,
        *,
        parent: Scope | None = None,
        path: str = "",
        reserve: Reserve | None = None,
        is_timeout: bool = False,
    ) -> None:
        self.budget = budget if budget is not None else Budget()
        self.id = next(_ids)
        self.limit_id = self.id
        self.parent = parent
        self.path = path
        self._used: dict[str, float] = _ZERO.copy()
        self._held: dict[str, float] = _ZERO.copy()
        self._reserve: dict[str, float] | None = None
        self._lock: threading.Lock = parent._lock if parent is not None else threading.Lock()
        self._chain: tuple[Scope, ...] = (self, *(parent._chain if parent is not None else ()))
        self._tokens: list[Token[Scope]] = []
        self._closed: Callable[[], BaseException] | None = None
        self.began = 0.0
        self.ends_at: float | None = None
        self.is_timed: bool = parent is not None and parent.is_timed
        self.version = 0
        self.teller: Teller | None = parent.teller if parent is not None else None
        self.host: Any = parent.host if parent is not None else None
        self.standstill: Any = None
        self.visit: Any = None
        self._seconds: float | None = None
        self._timeout = is_timeout
        self._expired = False
        self._goes_on = False
        self._refusal: Callable[[], BaseException] | None = None
        if reserve is not None:
            self._hold(reserve)

    def _hold(self, reserve: Reserve) -> None:
        amounts = {name: getattr(reserve, name) for name in COUNTED if getattr(reserve, name)}
        for name in (*amounts, "seconds"):
            limit, amount = getattr(self.budget, name), getattr(reserve, name)
            if limit is not None and amount > limit:
                raise ValueError(f"the reserve of {amount:g} {name} is more than the budget of {limit:g}")
        with self._lock:
            for scope in self._chain[1:]:
                scope._check(amounts, {})
            for scope in self._chain:
                for name, amount in amounts.items():
                    scope._held[name] += amount

    def release(self) -> None:
        """Give back to the parents what is held and was not spent: the part that this scope is for has ended."""
        with self._lock:
            left = self._held if self._reserve is None else self._reserve
            for scope in self._chain[1:]:
                for name, amount in left.items():
                    scope._held[name] -= amount
            self._held = dict.fromkeys(COUNTED, 0)
            self._reserve = None

    def finish(self) -> None:
        """Let what is charged from now on spend the reserve: only the finish path is left."""
        self._expired = False
        with self._lock:
            self._reserve = dict(self._held)
            if self._goes_on:
                self._reserve = {name: self._unspent(name, amount) for name, amount in self._held.items()}
            self._held = dict.fromkeys(COUNTED, 0)

    def _unspent(self, dimension: str, held: float) -> float:
        """Return what is left of a reserve that the finish path may have spent of before it was interrupted."""
        limit = getattr(self.budget, dimension)
        return held if limit is None else max(0, min(held, limit - self._used[dimension]))

    def start(
        self,
        now: float,
        seconds: float | None,
        *,
        held_back: float = 0.0,
        spent: Mapping[str, float] | None = None,
    ) -> None:
        """Begin to count time: from `now`, on the host's clock, for `seconds` less what is held back of them.

        `spent` is what was used before an interruption, as `spending` told it: it is counted here, and here only.
        """
        self.began = now
        if spent is not None:
            self._goes_on = True
            self.began -= spent.get("seconds", 0.0)
            self._used = {name: spent.get(name, 0) for name in COUNTED}
            self.version += 1
        self._seconds = seconds
        self.ends_at = None if seconds is None else self.began + max(0.0, seconds - held_back)
        self.is_timed = any(scope.ends_at is not None for scope in self._chain)

    def spending(self, now: float) -> dict[str, float]:
        """Return what was used so far, by dimension, seconds included: what `start` goes on from."""
        return {**self._used, "seconds": now - self.began}

    def reopen(self) -> None:
        """Let what was refused since `close` be charged again: a run that was paused goes on."""
        self._closed = None

    def refuse(self, refusal: Callable[[], BaseException]) -> None:
        """Refuse further charges, and nothing else: the run is to end at its next boundary."""
        self._refusal = refusal

    @property
    def is_refusing(self) -> bool:
        """Whether the run is to end at its next boundary: nothing further may begin."""
        return any(scope._refusal is not None for scope in self._chain)

    def stand_still(self, seconds: float) -> None:
        """Let time that has passed not count: the run was paused."""
        self.began += seconds
        if self.ends_at is not None:
            latest = math.inf if self.standstill is None else self.standstill.latest
            self.ends_at = min(self.ends_at + seconds, max(latest, self.ends_at))

    def check_time(self, now: float) -> None:
        """Return if there is time left. Raises for the first scope that has none, as `out_of_time` says."""
        for scope in self._chain:
            if scope.ends_at is not None and now >= scope.ends_at:
                raise scope.out_of_time(now)

    def out_of_time(self, now: float) -> BudgetExhausted | NodeTimeout:
        """Return the error that says that this scope's time is over: its budget's, or a sub-flow's timeout."""
        limit = max(0.0, self._seconds or 0.0)
        if self._timeout:
            return NodeTimeout(self.path, limit, scope_id=self.id)
        return BudgetExhausted("seconds", limit, max(limit, now - self.began), self.path, scope_id=self.id)

    def beside(self) -> Scope:
        """Return a scope without limits for one of several walks side by side, so that it alone can be refused."""
        made = Scope(_UNLIMITED, parent=self, path=self.path)
        made.limit_id = self.limit_id
        return made

    def expire(self) -> None:
        """Refuse further charges, since the time is over; the finish path may spend again."""
        self._expired = True

    def holds(self, error: BudgetExhausted | NodeTimeout) -> bool:
        """Return whether the limit that ran out is this scope's own or one of its parents'."""
        return any(scope.id == error.scope_id for scope in self._chain)

    def close(self, refusal: Callable[[], BaseException]) -> None:
        """Refuse every further charge with what `refusal` returns: the run of this scope has ended."""
        self._closed = refusal

    @property
    def chain(self) -> tuple[Scope, ...]:
        """This scope and those around it, the innermost first."""
        return self._chain

    @property
    def is_closed(self) -> bool:
        """Whether the run, or the branch, that this scope belongs to has ended."""
        for scope in self._chain:
            if scope._closed is not None:
                return True
        return False

    def narrow(
        self, budget: Budget, *, path: str = "", reserve: Reserve | None = None, is_timeout: bool = False
    ) -> Scope:
        """Return a scope inside this one. It can only be tighter: this one's limits still hold."""
        return Scope(budget, parent=self, path=path, reserve=reserve, is_timeout=is_timeout)

    def charge_round(self) -> None:
        """Charge one round: what `charge(rounds=1)` does, for the walk, which does it most."""
        with self._lock:
            for scope in self._chain:
                limit = scope.budget.rounds
                tight = limit is not None and scope._used["rounds"] + 1 > limit - scope._held["rounds"]
                if tight or scope._reserve is not None or scope._closed is not None:
                    break
            else:
                for scope in self._chain:
                    scope._used["rounds"] += 1
                    scope.version += 1
                return
        self.charge(rounds=1)

    def charge(self, **amounts: float) -> None:
        """Spend, before the work starts. Raises `BudgetExhausted` and spends nothing if any limit would break.

        Nothing can come between the check and the count. Keywords are `rounds`, `requests`, `tool_calls`,
        `tokens` and `cost`. After the run has ended it raises `ContractError`; in code of the run that is still at
        work, the event loop's own cancellation.
        """
        _sound(amounts)
        with self._lock:
            self._refuse_if_closed()
            for scope in self._chain:
                if scope._refusal is not None:
                    raise scope._refusal()
                if scope._expired:
                    raise scope.out_of_time(scope.ends_at or 0.0)
            self._check_all(amounts)
            self._count(amounts)

    def add(self, **amounts: float) -> None:
        """Count what was used already, over the limit or not: the next charge is what gets refused."""
        _sound(amounts)
        with self._lock:
            self._refuse_if_closed()
            self._count(amounts)

    def can_invoke(self, *, requests: int = 1, rounds: int = 0) -> bool:
        """Return whether that much could be charged now. Reads the real counters each time."""
        wanted = {"requests": float(requests), "rounds": float(rounds)}
        with self._lock:
            if self.is_closed:
                return False
            try:
                self._check_all({name: amount for name, amount in wanted.items() if amount})
            except BudgetExhausted:
                return False
            return True

    @property
    def used(self) -> Usage:
        """What this scope and everything beneath it has spent. `seconds` is the host's to fill in."""
        return Usage.of(self.counters)

    def spent(self, dimension: str) -> float:
        """What was spent of one counted dimension."""
        return self._used[dimension]

    @property
    def counters(self) -> tuple[float, ...]:
        """What was spent, in the order of the counted dimensions."""
        return tuple(self._used.values())

    @property
    def remaining(self) -> dict[str, float | None]:
        """What may still be spent, by dimension: the tightest of this scope and its parents; None is no limit."""
        left: dict[str, float | None] = {}
        for dimension in COUNTED:
            limits: list[float] = []
            covered: float = 0
            for scope in self._chain:
                if scope._reserve is not None:
                    covered = max(covered, scope._reserve[dimension])
                limit = getattr(scope.budget, dimension)
                if limit is not None:
                    free = limit - scope._used[dimension] - scope._held[dimension]
                    limits.append(max(covered, free + (covered if scope._reserve is None else 0)))
            left[dimension] = max(0, min(limits)) if limits else None
        return left

    @asynccontextmanager
    async def request(self, model: str = "", *, why: str = "") -> AsyncGenerator[Request]:
        """Pay for one model request, then run the body that sends it. Raises `BudgetExhausted` before it.

        The visit that it belongs to shows it, with the name of the model, why it was made (such as `retry`), what
        it used and how long it took.
        """
        self.charge(requests=1)
        visit = self._visit()
        if self.teller is None or visit is None:
            yield Request(self)
            return
        number = self.teller.requested(visit, model, why)
        request = Request(self, number)
        error: BaseException | None = None
        try:
            yield request
        except BaseException as raised:
            error = raised
            raise
        finally:
            self.teller.answered(visit, number, request, error)

    def _visit(self) -> Any:
        return next((scope.visit for scope in self._chain if scope.visit is not None), None)

    def _refuse_if_closed(self) -> None:
        for scope in self._chain:
            if scope._closed is not None:
                around = scope_variable.get(None)
                inside = around is not None and scope in around._chain
                raise scope._closed() if inside else ContractError("the run that this scope belongs to has ended")

    def _check_all(self, amounts: dict[str, float]) -> None:
        covered: dict[str, float] = {}
        for scope in self._chain:
            if scope._reserve is not None and not covered:
                covered = {name: min(amount, scope._reserve[name]) for name, amount in amounts.items()}
            scope._check(amounts, covered)

    def _count(self, amounts: dict[str, float]) -> None:
        covered: dict[str, float] | None = None
        for scope in self._chain:
            scope.version += 1
            for name, amount in amounts.items():
                scope._used[name] += amount
                if covered is not None:
                    scope._held[name] -= covered[name]
            if scope._reserve is not None and covered is None:
                covered = {name: min(amount, scope._reserve[name]) for name, amount in amounts.items()}
                for name, amount in covered.items():
                    scope._reserve[name] -= amount

    def _check(self, amounts: dict[str, float], covered: dict[str, float]) -> None:
        for dimension, amount in amounts.items():
            reserved = covered.get(dimension, 0)
            if reserved and reserved >= amount:
                continue  # what was reserved is never refused to those it was reserved for
            self._check_limit(dimension, amount, reserved)
            if dimension == "requests":
                for overrun in _OVERRUN:
                    self._check_limit(overrun, 0, 0)

    def _check_limit(self, dimension: str, amount: float, covered: float) -> None:
        limit = getattr(self.budget, dimension)
        if limit is None:
            return
        used = self._used[dimension]
        free = limit - self._held[dimension] + (covered if self._reserve is None else 0)
        if used + amount > free or (dimension in _OVERRUN and used >= free):
            raise BudgetExhausted(dimension, limit, used, self.path, scope_id=self.id)

    async def __aenter__(self) -> Self:
        self._tokens.append(scope_variable.set(self))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        scope_variable.reset(self._tokens.pop())
