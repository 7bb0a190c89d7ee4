"""The standstill: no time passes for a scope while a person is waited for beneath it."""

from __future__ import annotations

import math
from typing import Protocol

from .scope import Scope

__all__ = ["Countdown", "Standstill", "hold", "let_pass", "standstill_of", "waited"]


class Countdown(Protocol):
    """Time that runs out."""

    def hold(self, now: float) -> None:
        """Stand still from now on."""
        ...

    def let_pass(self, now: float) -> None:
        """Go on from where it stood."""
        ...


class Standstill:
    """How many are waited for beneath one scope, for how long so far, and whose time stands still meanwhile.

    `latest` is the moment at which the time of the scope is over however long it stood still.
    """

    __slots__ = ("_since", "_waiting", "countdowns", "latest", "waited")

    def __init__(self) -> None:
        self.countdowns: list[Countdown] = []
        self.latest = math.inf
        self.waited = 0.0
        self._waiting = 0
        self._since = 0.0

    def begin(self, now: float) -> None:
        """One more is waited for."""
        self._waiting += 1
        if self._waiting == 1:
            self._since = now
            for countdown in self.countdowns:
                countdown.hold(now)

    def end(self, now: float) -> float:
        """One less is waited for. Return for how long time stood still, if it passes again."""
        self._waiting -= 1
        if self._waiting:
            return 0.0
        passed = now - self._since
        self.waited += passed
        for countdown in self.countdowns:
            countdown.let_pass(now)
        return passed


def standstill_of(scope: Scope) -> Standstill:
    """Return the standstill of a scope, made when it is first asked for."""
    if scope.standstill is None:
        scope.standstill = Standstill()
    standstill: Standstill = scope.standstill
    return standstill


def hold(scope: Scope, now: float) -> None:
    """Let no time pass for a scope and for those around it: a person is waited for."""
    for each in scope.chain:
        standstill_of(each).begin(now)


def let_pass(scope: Scope, now: float) -> None:
    """Let time pass again, unless somebody else is waited for."""
    for each in scope.chain:
        each.began += standstill_of(each).end(now)


def waited(scope: Scope) -> float:
    """Return for how many seconds a person was waited for beneath a scope."""
    return 0.0 if scope.standstill is None else scope.standstill.waited
