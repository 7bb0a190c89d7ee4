"""Waiting whatever comes: for the end of something that ends of itself, however often the waiter is cancelled."""

from __future__ import annotations

from collections.abc import Awaitable

import anyio

__all__ = ["first_of", "wait_whatever_comes", "written"]


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


async def first_of(*events: anyio.Event) -> None:
    """Return when one of several events is set."""
    async with anyio.create_task_group() as group:

        async def wait(event: anyio.Event) -> None:
            await event.wait()
            group.cancel_scope.cancel()

        for event in events:
            group.start_soon(wait, event)


async def written(waiting: Awaitable[None] | None) -> None:
    """Wait for a write, if there is one to wait for."""
    if waiting is not None:
        await waiting
