"""Nodes that take a cancellation in every way there is, and a room in which a run of one is stopped."""

from __future__ import annotations

import asyncio  # noqa: TID251 - nodes use timeouts of its own
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import anyio
import anyio.lowlevel
import trio
from tests.core.runs import Boom, does
from tests.stepping import StepClock, passes

from flowcore import Budget, Complete, Flow, RunResult
from flowcore.events import Event

GRACE = 2.0
FAR = 100.0


@dataclass
class State:
    log: list[str] = field(default_factory=list)


class Room:
    """A clock, and what is seen of the node that is stopped."""

    def __init__(self) -> None:
        self.clock = StepClock()
        self.began = anyio.Event()
        self.released = anyio.Event()
        self.deliveries = 0
        self.seen: list[str] = []
        self.working = 0

    async def rest(self) -> None:
        """Waits for a long time."""
        self.began.set()
        await self.clock.sleep(FAR)

    async def hear(self) -> None:
        """Waits until it is released, and counts the cancellations that reach it until then."""
        self.began.set()
        try:
            await self.released.wait()
        except anyio.get_cancelled_exc_class():
            self.deliveries += 1


# ---- How a node takes it -----------------------------------------------------------------------------------


async def obeys(room: Room) -> None:
    await room.rest()


async def swallows(room: Room) -> None:
    while not room.released.is_set():
        await room.hear()


async def waits_on_the_shielded(room: Room) -> None:
    while not room.released.is_set():
        room.began.set()
        try:
            with anyio.CancelScope(shield=True):
                await room.released.wait()
        except anyio.get_cancelled_exc_class():
            room.deliveries += 1


async def ignores(room: Room) -> None:
    room.began.set()
    with anyio.CancelScope(shield=True):
        await room.released.wait()


async def delays(room: Room) -> None:
    try:
        await room.rest()
    finally:
        room.deliveries += 1
        with anyio.CancelScope(shield=True):
            await room.clock.sleep(0.5)


async def answers(room: Room) -> None:
    try:
        await room.rest()
    except anyio.get_cancelled_exc_class():
        room.deliveries += 1


async def answers_late(room: Room) -> None:
    try:
        await delays(room)
    except anyio.get_cancelled_exc_class():
        return


async def raises_another(room: Room) -> None:
    try:
        await room.rest()
    except anyio.get_cancelled_exc_class():
        raise Boom("instead") from None


async def raises_in_cleanup(room: Room) -> None:
    try:
        await room.rest()
    finally:
        raise Boom("cleanup")


async def group_obeys(room: Room) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(room.rest)
        group.start_soon(room.rest)
        await room.rest()


async def group_raises(room: Room) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(raises_in_cleanup, room)
        group.start_soon(room.rest)
        await room.rest()


async def group_raises_several(room: Room) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(raises_in_cleanup, room)
        group.start_soon(raises_another, room)


async def generates(room: Room) -> None:
    async def numbers() -> AsyncGenerator[int]:
        try:
            while True:
                yield 1
                await room.rest()
        finally:
            with anyio.CancelScope(shield=True):
                await room.clock.sleep(0.5)

    async with aclosing(numbers()) as stream:
        async for _ in stream:
            pass


async def moves_on(room: Room) -> None:
    with anyio.move_on_after(1000):
        await room.rest()
    room.seen.append("went on")


async def own_timeout(room: Room) -> None:
    """Waits within a timeout of the loop's own kind."""
    if asyncio_runs():
        async with asyncio.timeout(1000):
            await room.rest()
    else:
        with trio.fail_after(1000):
            await room.rest()
    room.seen.append("went on")


async def waits_for(room: Room) -> None:
    if asyncio_runs():
        await asyncio.wait_for(room.rest(), 1000)
    else:
        with trio.move_on_after(1000):
            await room.rest()
    room.seen.append("went on")


async def swallows_then_times_out(room: Room) -> None:
    """Swallows, again and again, within timeouts of the loop's own kind."""
    while not room.released.is_set():
        if asyncio_runs():
            async with asyncio.timeout(1000):
                await room.hear()
        else:
            with trio.fail_after(1000):
                await room.hear()


def asyncio_runs() -> bool:
    return not anyio.get_cancelled_exc_class().__module__.startswith("trio")


Manner = Callable[[Room], Awaitable[None]]
AT_ONCE: list[Manner] = [
    obeys, answers, raises_another, raises_in_cleanup, group_obeys, group_raises, group_raises_several, moves_on,
    own_timeout, waits_for,
]  # fmt: skip
SOON: list[Manner] = [delays, answers_late, generates]
NEVER: list[Manner] = [swallows, waits_on_the_shielded, ignores, swallows_then_times_out]

TIMES = ("seconds", "deadline", "timeout", "flow timeout", "sub seconds", "sub timeout")
STOPS = ("cancel", "caller", "leave", *TIMES)


# ---- The run that is stopped -------------------------------------------------------------------------------


def stopped_flow(room: Room, manner: Manner, stop: str) -> Any:
    """Returns a flow whose node `work` behaves so, with a node `after` behind it and an error route to `end`."""

    async def act(step: Any) -> None:
        room.working += 1
        try:
            await manner(room)
        finally:
            room.working -= 1
        step.state.log.append("work")

    def log(step: Any) -> Any:
        room.seen.append(step.path)
        return Complete(step.error.type if step.error is not None else "after")

    work = does(act, "work", State)
    after = does(log, "after", State, Complete[Any])
    end = does(log, "end", State, Complete[Any])
    if stop.startswith("sub"):
        budget = Budget(seconds=1) if stop == "sub seconds" else None
        inner = Flow("inner", work.to(after).on_error(after), after)
        part = inner.as_node("part", state=State, budget=budget)
        row = part.to(end).on_error(end)
        return Flow("f", row.using(timeout=1) if stop == "sub timeout" else row, end)
    row = work.to(after).on_error(end)
    return Flow(
        "f",
        row.using(timeout=1) if stop == "timeout" else row,
        after,
        end,
        node_timeout=1 if stop == "flow timeout" else None,
    )


@dataclass
class Seen:
    """What was seen of a run that was stopped: its result, its events, and the time it took to end."""

    result: RunResult[Any]
    events: list[Event]
    took: float


async def stop_it(room: Room, manner: Manner, stop: str, *, grace: float = GRACE) -> Seen:
    """Runs such a flow, has it stopped once its node has begun, and moves the clock until the run has ended."""
    options: dict[str, Any] = {
        "seconds": {"budget": Budget(seconds=1)},
        "deadline": {"deadline": room.clock.utcnow() + timedelta(seconds=1)},
    }.get(stop, {})
    run = stopped_flow(room, manner, stop).start(State(), clock=room.clock, grace=grace, **options)
    ended, leaving, caller = anyio.Event(), anyio.Event(), anyio.CancelScope()

    async def call() -> None:
        with caller:
            async with run:
                await (leaving.wait() if stop == "leave" else run.wait())
        ended.set()

    async def ask() -> None:
        await run.cancel()
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await room.began.wait()
        await passes(5)
        if stop in TIMES:
            room.clock.leap(1)
        asked_at = room.clock.now
        match stop:
            case "cancel":
                group.start_soon(ask)
            case "caller":
                caller.cancel()
            case "leave":
                leaving.set()
        for _ in range(60):
            await passes(30)
            if ended.is_set():
                break
            room.clock.tick()
        assert ended.is_set()
        took = room.clock.now - asked_at
    events = [event async for event in run.events()]
    return Seen(await run.wait(), events, took)
