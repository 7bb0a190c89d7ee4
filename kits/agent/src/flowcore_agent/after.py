"""After the run: the observers of an agent are told of a run that completed, and change nothing of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial

from flowcore.events import Event, RunCompleted
from flowcore_agent.ports import Observer
from flowcore_agent.reply import AgentReply
from flowcore_agent.request import AgentRequest

__all__ = ["after_run"]


def after_run(observers: Iterable[Observer], request: AgentRequest) -> list[Callable[[Event], Awaitable[None]]]:
    """Return observers of the events of a run: each calls one of these, once, when the run has completed.

    `Agent` gives them to its runs. Whoever resumes a stored run gives them to `Flow.resume`. Each works in a task
    of its own: the reply does not wait for it, and what it raises is logged under `flowcore.observers`.
    """
    return [partial(_tell, observer, request) for observer in observers]


async def _tell(observer: Observer, request: AgentRequest, event: Event) -> None:
    if isinstance(event, RunCompleted) and isinstance(event.value, AgentReply):
        await observer(request, event.value)
