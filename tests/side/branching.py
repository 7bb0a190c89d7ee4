"""What tests of branches share: small nodes, orders in which they end, and what holds of every stream."""

from __future__ import annotations

from typing import Any

import pytest
from tests.stepping import StepClock

from flowcore.events import Event

from ..core.runs import does
from .states import Page

ORDERS = pytest.mark.parametrize("waits", [(1.0, 2.0, 3.0), (3.0, 2.0, 1.0), (2.0, 3.0, 1.0)], ids=str)


def leaf(id: str, act: Any = lambda step: None, **options: Any) -> Any:
    return does(act, id, Page, starts_round=False, **options)


def waiting(clock: StepClock, seconds: float, act: Any = lambda step: None) -> Any:
    async def both(step: Any) -> Any:
        await clock.sleep(seconds)
        return act(step)

    return both


def writes(field: str, value: Any) -> Any:
    return lambda step: setattr(step.state, field, value)


def adds(word: str, field: str = "words") -> Any:
    return lambda step: getattr(step.state, field).append(word)


def check_events(told: list[Event]) -> None:
    """Holds that seq has no gap and that each started visit has one ending, before the terminal event."""
    assert [event.seq for event in told] == list(range(1, len(told) + 1))
    begun = [event.path for event in told if event.kind == "node.started"]
    ended = [event.path for event in told if event.kind in ("node.finished", "node.failed")]
    assert sorted(begun) == sorted(ended)
    assert len(set(begun)) == len(begun)
    for path in begun:
        places = [n for n, event in enumerate(told) if event.path == path and event.kind.startswith("node.")]
        assert told[places[0]].kind == "node.started"
    assert [event for event in told if event.kind in ("run.completed", "run.failed", "run.cancelled")] == told[-1:]
