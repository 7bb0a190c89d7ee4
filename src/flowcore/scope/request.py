"""The request: one question to a model, as the scope that pays for it sees it."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["Request", "Teller"]


class Payer(Protocol):
    """Who counts what a request has used."""

    def add(self, **amounts: float) -> None:
        """Count what was used already."""
        ...


class Teller(Protocol):
    """Who is told of requests: the run's recorder."""

    def requested(self, where: Any, model: str, why: str, /) -> int:
        """Note that a model was asked, and return the number of the request."""
        ...

    def answered(self, where: Any, number: int, request: Request, error: BaseException | None, /) -> None:
        """Note how a request to a model ended."""
        ...


class Request:
    """One model request: paid for when it is sent, its tokens and cost added when they are known."""

    __slots__ = ("_scope", "_told", "cost", "estimated", "number", "tokens")

    def __init__(self, scope: Payer, number: int = 0) -> None:
        self._scope = scope
        self.number = number
        """Which of the run's requests it is, from 1; 0 outside of runs."""
        self._told = False
        self.tokens = 0
        self.cost = 0.0
        self.estimated = False

    def used(self, *, tokens: int = 0, cost: float = 0.0, estimated: bool = False) -> None:
        """Add what this request used. A second call changes nothing, so usage is never counted twice.

        `estimated` says that the tokens are a guess, since the model did not tell.
        """
        if not self._told:
            self._told = True
            self._scope.add(tokens=tokens, cost=cost)
            self.tokens, self.cost, self.estimated = tokens, cost, estimated
