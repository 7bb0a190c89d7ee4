"""Once: what a delivery does at most once, in time, and looked up where it failed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from flowcore_agent.ports import Delivery

__all__ = ["do_once", "was_done"]


async def do_once(delivery: Delivery, key: str, seconds: float, work: Callable[[], Awaitable[object]]) -> None:
    """Do what a key stands for. Whatever goes wrong, it is done if the delivery says so then.

    Raises what the work raised, and `TimeoutError` where it took too long.
    """
    try:
        with anyio.fail_after(seconds):
            await work()
    except Exception as error:
        if await was_done(delivery, key, seconds):
            return
        if isinstance(error, TimeoutError) and not str(error):
            raise TimeoutError(f"it took longer than {seconds:g} seconds, and may have been done") from None
        raise


async def was_done(delivery: Delivery, key: str, seconds: float) -> bool | None:
    """Return whether the delivery says that something was done; None if it cannot tell, or not in time."""
    try:
        with anyio.fail_after(seconds):
            return await delivery.was_done(key)
    except Exception:  # who cannot look says nothing
        return None
