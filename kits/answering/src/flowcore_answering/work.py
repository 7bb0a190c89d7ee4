"""What the nodes of one answer flow work with: the app's ports and its decisions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass

from flowcore import Step
from flowcore.errors import ContractError
from flowcore_answering.checks import Check
from flowcore_answering.ports import CanInvoke, Fallback, Generator, Repairer, Reviewer
from flowcore_answering.routes import wants_repair
from flowcore_answering.standing import Rules, Standing
from flowcore_answering.state import AnswerState

__all__ = ["Work"]


@dataclass(frozen=True, slots=True)
class Work:
    """The ports, checks and rules of a flow. `requests` is what one generation or repair may cost."""

    generate: Generator
    repair: Repairer
    review: Reviewer
    fallback: Fallback
    checks: tuple[Check, ...]
    rules: Rules
    requests: int
    can_invoke: CanInvoke | None

    def __post_init__(self) -> None:
        ports = {"generate": 1, "repair": 3, "review": 2, "fallback": 1}
        for name, count in ports.items():
            _refuse_misfit(name, getattr(self, name), count)

    def may_invoke(self, step: Step[AnswerState]) -> bool:
        """Ask whether one more generation or repair can be paid: by the app's word or the scope's."""
        ask = step.scope.can_invoke if self.can_invoke is None else self.can_invoke
        return ask(requests=self.requests, rounds=1)

    def may_repair(self, step: Step[AnswerState], standings: Collection[Standing]) -> bool:
        """Ask whether a repair is due and can be paid. Where none is due, nobody is asked."""
        due = wants_repair(standings, repairs=step.state.repairs, rules=self.rules)
        return due and self.may_invoke(step)


def _refuse_misfit(name: str, port: Callable[..., object], count: int) -> None:
    # Found here, a port that cannot be called does not turn every answer into a fallback later.
    try:
        inspect.signature(port).bind(*range(count))
    except TypeError as error:
        raise ContractError(f"{name}= cannot be called with {count} argument(s): {error}") from None
