"""The page server: shows a source to browsers, from a thread of its own."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

import anyio
import anyio.lowlevel
import uvicorn

from .door import Door
from .source import Source
from .web import Viewers, web_app

__all__ = ["PageServer"]

_SHARE = 0.05
"""The share of one processor that showing may take while a run goes on. What does not fit in comes later."""
_SHORTEST, _LONGEST = 0.05, 1.0
_LOOK = 0.01
_LEAVE_TO = 2.0
"""Seconds that viewers have, when the server is to end, to take what they have not had."""
_TICK = 0.02
_log = logging.getLogger("flowcore.live")


async def until(is_so: Callable[[], bool]) -> None:
    """Return when something is so that another thread, or viewers, bring about."""
    await anyio.lowlevel.checkpoint()
    while not is_so():  # noqa: ASYNC110 - a thread cannot set an event of this loop
        await anyio.sleep(_TICK)


class PageServer:
    """A web server with a thread and an event loop of its own, while it is entered.

    A run has its loop for itself, be it asyncio's or trio's: a node that blocks it does not stop the page, and
    viewers do not wait in line with nodes. What fails in here is logged under `flowcore.live`.
    """

    def __init__(self, door: Door, source: Source) -> None:
        token = secrets.token_urlsafe()
        self.url = f"{door.url}/{token}/"
        self._door = door
        self._source = source
        self._viewers = Viewers(source)
        config = uvicorn.Config(
            web_app(source, token, door.host, self._viewers),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level=None,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        config.access_log = False  # said to the constructor, it would silence every other uvicorn in this process
        self._server = uvicorn.Server(config)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="flowcore page", daemon=True)

    def start(self) -> None:
        """Begin to serve. The door is open already: who comes too early waits a moment."""
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether it serves."""
        return self._thread.is_alive()

    def ask_to_stop(self) -> None:
        """Let the thread end, after viewers had a moment to take what there is."""
        self._stopping.set()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.ask_to_stop()
        self._thread.join()

    def _work(self) -> None:
        try:
            anyio.run(self._main)
        except BaseException:
            _log.exception("the page of a run is served no more; the run is not affected")

    async def _main(self) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._server.serve, [self._door.socket])
            try:
                await self._fill()
            finally:
                await self._see_off()
                self._server.should_exit = True

    async def _see_off(self) -> None:
        """Let viewers take what there is, for a moment, and leave nobody connected."""
        feed, viewers = self._source.feed, self._viewers
        with anyio.move_on_after(_LEAVE_TO):
            await until(lambda: viewers.are_told)
        feed.close()
        with anyio.move_on_after(_LEAVE_TO):
            await until(lambda: not len(viewers))
        for connection in tuple(self._server.server_state.connections):
            connection.transport.abort()  # one that takes nothing would keep the server waiting

    async def _fill(self) -> None:
        """Look at the source while there are viewers: for nobody, nothing is done."""
        source, feed = self._source, self._source.feed
        spent, leave_at = time.thread_time(), 0.0
        while not self._stopping.is_set() or (self._is_late and time.monotonic() < leave_at):
            told, over = len(feed), source.is_over
            if len(self._viewers) and not feed.is_over and not source.look(_LOOK) and over:
                await anyio.to_thread.run_sync(source.finish, self._stopping.is_set)
                feed.end()
            if len(feed) > told:
                feed.tell()
            now = time.thread_time()
            await self._pause((now - spent) * (1 / _SHARE - 1))
            spent = now
            if not leave_at and self._stopping.is_set():
                leave_at = time.monotonic() + _LEAVE_TO

    @property
    def _is_late(self) -> bool:
        """Whether the run has ended and viewers have not been told all of it."""
        return bool(len(self._viewers)) and self._source.is_over and not self._source.feed.is_over

    async def _pause(self, seconds: float) -> None:
        with anyio.move_on_after(min(max(seconds, _SHORTEST), _LONGEST)):
            await until(lambda: self._stopping.is_set() or self._is_late)
