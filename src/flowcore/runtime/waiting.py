"""Waiting whatever comes: for the end of something that ends of itself, however often the waiter is cancelled."""

from __future__ import annotations

import anyio

__all__ = ["wait_whatever_comes"]


async def wait_whatever_comes(done: anyio.Event) -> BaseException | None:
    """Return when `done` is set: what cancelled the caller meanwhile, or None."""
    cancelled: BaseException | None = None
    while not done.is_set():
        try:
            with anyio.CancelScope(shield=True):
                await done.wait()
        except anyio.get_cancelled_exc_class() as error:
            cancelled = error
    return cancelled
