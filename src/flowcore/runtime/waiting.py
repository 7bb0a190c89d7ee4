"""Waiting whatever comes: for the end of something that ends of itself, however often the waiter is cancelled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from ..clock import Loop

__all__ = ["first_of", "wait_whatever_comes", "whole", "written"]

T = TypeVar("T")


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


async def whole(loop: Loop, work: Callable[[], Awaitable[T]], name: str) -> tuple[T, BaseException | None]:
    """Work to the end, in a task of its own; return what that gave, and what cancelled the caller meanwhile."""
    given: list[T] = []
    failed: list[BaseException] = []
    done = anyio.Event()

    async def do() -> None:
        try:
            given.append(await work())
        except BaseException as error:
            failed.append(error)
        finally:
            done.set()

    loop.spawn(do, name)
    cancelled = await wait_whatever_comes(done)
    if failed:
        raise failed[0] if cancelled is None else cancelled
    return given[0], cancelled


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
