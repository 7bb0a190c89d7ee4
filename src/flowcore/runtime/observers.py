"""Observers: who is told of events in a task of their own, and can neither slow nor change the run."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from inspect import isawaitable

import anyio

from ..events import Event

__all__ = ["Observer", "ObserverQueue"]

Observer = Callable[[Event], Awaitable[None] | None]
"""A function, async or not, that is called with each event."""

_LIMIT = 10_000
_log = logging.getLogger("flowcore.observers")


class ObserverQueue:
    """The events that one observer has not seen yet. When it is too slow the oldest are dropped and counted."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._waiting: deque[Event] = deque(maxlen=_LIMIT)
        self._news = anyio.Event()
        self._closed = False
        self.dropped = 0

    def put(self, event: Event) -> None:
        """Add an event. Never waits."""
        self.dropped += len(self._waiting) == _LIMIT
        self._waiting.append(event)
        self._news.set()

    def close(self) -> None:
        """Say that no event follows."""
        self._closed = True
        self._news.set()

    async def run(self) -> None:
        """Call the observer with each event until the last one."""
        while True:
            while self._waiting:
                await self._call(self._waiting.popleft())
            if self._closed:
                return
            await self._news.wait()
            self._news = anyio.Event()

    async def _call(self, event: Event) -> None:
        try:
            answer = self._observer(event)
            if isawaitable(answer):
                await answer
        except Exception:
            _log.exception("an observer failed on %s; the run is not affected", event.kind)
