"""The backend: finds out which event loop is running, and loads what is known of that one only."""

from __future__ import annotations

import anyio

from ..clock import Loop

__all__ = ["current_loop"]


def current_loop() -> Loop:
    """Return the running event loop. Raises anyio's `NoEventLoopError` where there is none."""
    # ruff: noqa: PLC0415 - a program on asyncio does not load trio, nor the other way round
    if anyio.get_cancelled_exc_class().__module__.partition(".")[0] == "trio":
        from .trio_backend import TrioLoop

        return TrioLoop()
    from .asyncio_backend import AsyncioLoop

    return AsyncioLoop()
