"""Observers: who is told of events in a task of their own, and can neither slow nor change the run."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from inspect import isawaitable

import anyio

from ..events import Event

__all__ = ["EventQueue", "Observer", "observe"]

Observer = Callable[[Event], Awaitable[None] | None]
"""A function, async or not, that is called with each event."""

_LIMIT = 10_000
_log = logging.getLogger("flowcore.observers")


class EventQueue:
    """Events that somebody has not seen yet. With a limit the oldest are dropped, and counted, when it is full."""

    def __init__(self, limit: int | None = _LIMIT) -> None:
        self._waiting: deque[Event] = deque(maxlen=limit)
        self._limit = limit
        self._news = anyio.Event()
        self._closed = False
        self.dropped = 0

    @property
    def is_drained(self) -> bool:
        """Whether every event was taken and no other follows."""
        return self._closed and not self._waiting

    def put(self, event: Event) -> None:
        """Add an event. Never waits."""
        if self._closed:
            return
        self.dropped += len(self._waiting) == self._limit
        self._waiting.append(event)
        self._news.set()

    def close(self) -> None:
        """Say that no event follows."""
        self._closed = True
        self._news.set()

    async def get(self) -> Event | None:
        """Return the next event, or None after the last one."""
        while not self._waiting:
            if self._closed:
                return None
            self._news = anyio.Event()
            await self._news.wait()
        return self._waiting.popleft()


async def observe(queue: EventQueue, observer: Observer) -> None:
    """Call an observer with each event until the last one. What it raises is logged and changes nothing."""
    while (event := await queue.get()) is not None:
        try:
            answer = observer(event)
            if isawaitable(answer):
                await answer
        except anyio.get_cancelled_exc_class():
            return  # the event loop ends, or the observer cancelled itself
        except BaseException:
            _log.exception("an observer failed on %s; the run is not affected", event.kind)
