"""Watching: the page of a run, served while the run goes on, or of a recorded one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from ..errors import WatchError
from ..recording import Recording
from ..run import Run
from .door import Door
from .source import LiveSource, RecordedSource

if TYPE_CHECKING:
    from .server import PageServer

_LOOK_EVERY = 0.01

__all__ = ["LivePage", "need_server", "page_server", "watch"]


@dataclass(frozen=True, slots=True)
class LivePage:
    """A page that is being served. Who knows the `url` can see the run, and change nothing."""

    url: str


@asynccontextmanager
async def watch(
    run: Run[Any] | Recording, *, name: str = "", title: str = "", host: str = "127.0.0.1", port: int = 0
) -> AsyncGenerator[LivePage]:
    """Serve the page of a run while the block lasts: of one that has begun, or of a recording.

    The run neither waits for viewers nor notices them. Leaving the block tells viewers what there is, for a few
    seconds at most, and ends the server.

    Args:
        run: The handle of a run that has begun, on asyncio or trio, or a recording.
        name: What the run is known by, such as the id of a question.
        title: What it is about, such as the question.
        host: The address to serve at. At any other than this, whoever learns the URL on the network can look.
        port: The port; 0 is a free one.

    Raises:
        WatchError: The port is in use, the host is none of this machine, or the extra `server` is missing.
    """
    with Door(host, port) as door:
        server = page_server(door, run, name=name, title=title)
        server.start()
        try:
            yield LivePage(server.url)
        finally:
            server.ask_to_stop()
            with anyio.CancelScope(shield=True):
                while server.is_alive:  # noqa: ASYNC110 - what ends is a thread
                    await anyio.sleep(_LOOK_EVERY)


def page_server(door: Door, run: Run[Any] | Recording, *, name: str = "", title: str = "") -> PageServer:
    """Return a server of the page of a run at a door. Raises `WatchError` if the extra `server` is missing."""
    server = need_server()
    source = RecordedSource(run) if isinstance(run, Recording) else LiveSource(run, name, title)
    return server(door, source)


def need_server() -> type[PageServer]:
    """Load what serves pages, which takes a moment the first time. Raises `WatchError` if it is missing."""
    try:
        from .server import PageServer  # noqa: PLC0415 - starlette and uvicorn are an extra
    except ModuleNotFoundError as error:
        raise WatchError(
            f'a live page needs {error.name}; install it with pip install "flowcore[server]"'
        ) from error
    return PageServer
