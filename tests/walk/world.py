"""The world of one random run: what its nodes do and wait for, what is injected, and what it must add up to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import anyio.lowlevel
from tests.stepping import StepClock, passes

from flowcore import ContractError, Run
from flowcore.events import RunCancelledEvent, RunCompleted, RunFailedEvent
from flowcore.messages import ModelReply, ModelRequest, TokenUsage
from flowcore.models import ModelRunner
from flowcore.testing import ScriptedModel

from .random_flows import Op, RunSpec

TERMINAL = (RunCompleted, RunFailedEvent, RunCancelledEvent)
_PASSES = 14
"""Passes of the event loop without news after which the clock may move."""


def has_ended(run: Run[Any]) -> bool:
    notes = run.trace.notes
    return bool(notes) and notes[-1].event in TERMINAL


class World:
    """Everything beside the run that a random run needs."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.clock = StepClock()
        self.run: Run[Any] | None = None
        self.caller = anyio.CancelScope()
        self.trigger = anyio.Event()
        self.asked = False
        self.out_of_time = False
        self.leap_to = 0.0
        self.points = 0
        self.progress = 0
        self.over = False
        self.active: Counter[str] = Counter()
        self.threads: Counter[str] = Counter()
        self.left: dict[str, float] = {}
        self.charges: list[tuple[str, str, float]] = []
        self.late_emits: set[int] = set()
        self.emits = 0
        self.wrong: list[str] = []
        self._model = ScriptedModel([self._said] * 500)
        self._runner = ModelRunner(self)
        self._path = ""

    # ---- Who asks the run to end ---------------------------------------------------------------------------

    def mark(self) -> None:
        """Notes that the run is asked to end, now."""
        if not self.asked and self.run is not None and not has_ended(self.run):
            self.asked = True
            seconds = self.spec.budget.seconds
            self.out_of_time = self.clock.now >= (math.inf if seconds is None else seconds)

    def forget_the_request(self) -> None:
        """The run was out of time before it was asked to end: that request was the second one."""
        self.wrong.clear()
        self.late_emits.clear()

    async def cancel_when_triggered(self) -> None:
        await self.trigger.wait()
        if not self.over and self.run is not None:
            self.mark()
            await self.run.cancel("user")
            if not has_ended(self.run):
                self.wrong.append("cancel() returned before the end")

    async def point(self) -> None:
        """A place where a node waits: the chosen one is where something happens."""
        self.points += 1
        self.progress += 1
        if self.points != self.spec.at or self.run is None:
            return
        match self.spec.inject:
            case "inside":
                self.mark()
                await self.run.cancel("user")
            case "other":
                self.trigger.set()
            case "caller":
                self.caller.cancel()
            case "time":
                self.leap_to = self.clock.now + self.spec.leap

    async def drive(self) -> None:
        """Moves the clock whenever nothing has happened for a while."""
        quiet = stuck = 0
        while not self.over:
            before = self.progress
            while self.clock.now < self.leap_to:
                self.clock.step_towards(self.leap_to)
                await passes(_PASSES)
            if self.threads.total():
                await anyio.sleep(0.0002)
            else:
                await anyio.lowlevel.checkpoint()
            quiet = quiet + 1 if self.progress == before else 0
            if quiet > _PASSES:
                quiet = 0
                stuck = 0 if self.clock.tick() else stuck + 1
                if stuck:  # a thread may be on its way
                    await anyio.sleep(0.0005)
                if stuck > 2000:
                    raise AssertionError("nothing moves any more")

    # ---- What nodes do -------------------------------------------------------------------------------------

    @contextmanager
    def visit(self, step: Any, where: Counter[str]) -> Iterator[str]:
        path: str = step.path
        if self.asked and where is not self.threads:  # a thread may be on its way when the request comes
            self.wrong.append(f"{path} began after the request to end")
        self.active[path] += 1
        where[path] += 1
        self.progress += 1
        try:
            yield path
        finally:
            self.active[path] -= 1
            where[path] -= 1
            self.left[path] = self.clock.now
            self.progress += 1

    async def act(self, step: Any, ops: tuple[Op, ...]) -> None:
        with self.visit(step, Counter()):
            step.state.marks.append(f"{step.path}@{step.attempt}")
            for word, *values in ops:
                await getattr(self, f"do_{word}")(step, *values)

    def work(self, step: Any, ops: tuple[Op, ...]) -> None:
        """Does in a thread what can be done there."""
        with self.visit(step, self.threads):
            step.state.marks.append(f"{step.path}@{step.attempt}")
            for word, *values in ops:
                if word == "fail":
                    self.fail(step, *values)
                elif word == "emit":
                    self.emit(step)
                elif word in ("charge", "tool", "model"):
                    self.charge(step, tool_calls=1)

    async def do_sleep(self, step: Any, seconds: float) -> None:
        await self.point()
        await self.clock.sleep(seconds)

    async def do_pass(self, step: Any, seconds: float) -> None:
        await self.point()
        await anyio.lowlevel.checkpoint()

    async def do_set(self, step: Any, seconds: float) -> None:
        step.state.number += 1
        step.state.nested.setdefault(step.path, []).append(step.attempt)

    async def do_emit(self, step: Any, seconds: float) -> None:
        self.emit(step)

    async def do_nested(self, step: Any, seconds: float) -> None:
        await self.point()
        async with anyio.create_task_group() as group:
            group.start_soon(self.clock.sleep, seconds)
            group.start_soon(self.do_sleep, step, seconds / 2)

    async def do_within(self, step: Any, seconds: float) -> None:
        with anyio.move_on_after(100):
            await self.do_sleep(step, seconds)

    async def do_charge(self, step: Any, seconds: float) -> None:
        self.charge(step, requests=1)
        self.charge(step, tokens=4, cost=0.25)

    async def do_tool(self, step: Any, seconds: float) -> None:
        self.charge(step, tool_calls=1)
        await self.do_sleep(step, seconds)

    async def do_model(self, step: Any, seconds: float) -> None:
        self._path = step.path
        reply = await self._runner.invoke("hello")
        self.paid(step.path, tokens=reply.usage.total, cost=reply.cost)

    async def do_swallow(self, step: Any, seconds: float) -> None:
        with self.deaf():
            await self.do_sleep(step, seconds)
        with self.deaf():
            await self.do_sleep(step, seconds)

    async def do_answer(self, step: Any, seconds: float) -> None:
        with self.deaf():
            await self.do_sleep(step, seconds)

    async def do_shield(self, step: Any, seconds: float) -> None:
        await self.point()
        with anyio.CancelScope(shield=True):
            await self.clock.sleep(seconds)

    async def do_reserved(self, step: Any) -> None:
        """The finish path is never refused what is held back for it."""
        if step.exhausted is None:
            self.wrong.append("the finish was entered without a limit that ran out")

    async def do_fail(self, step: Any, kind: str, attempts: int) -> None:
        self.fail(step, kind, attempts)

    def fail(self, step: Any, kind: str, attempts: int) -> None:
        if step.attempt > attempts:
            return
        error: Exception = {"ValueError": ValueError, "KeyError": KeyError}.get(kind, OSError)("no")
        if kind == "group":
            raise ExceptionGroup("several", [ValueError("a"), KeyError("b")])
        if kind == "one":
            raise ExceptionGroup("one", [ValueError("a")])
        if kind == "contract":
            raise ContractError("broken")
        raise error

    def charge(self, step: Any, **amounts: float) -> None:
        asked = self.asked
        step.scope.charge(**amounts)
        self.paid(step.path, **amounts)
        if asked and not self.threads[step.path]:  # in a thread the two may cross
            self.wrong.append(f"{step.path} was charged after the request to end")

    def emit(self, step: Any) -> None:
        self.emits += 1
        if self.asked:
            self.late_emits.add(self.emits)
        step.emit("said", self.emits)

    def paid(self, path: str, **amounts: float) -> None:
        self.charges += [(path, dimension, amount) for dimension, amount in amounts.items()]

    def total(self, dimension: str) -> float:
        return sum(amount for _, charged, amount in self.charges if charged == dimension)

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """Hears no cancellation."""
        try:
            yield
        except anyio.get_cancelled_exc_class():
            self.progress += 1

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The model: it takes its time, and now and then it fails."""
        if self.asked:
            self.wrong.append("a request was sent after the request to end")
        self.paid(self._path, requests=1)
        await self.point()
        await self.clock.sleep(0.3)
        return await self._model.complete(request)

    def _said(self, request: ModelRequest) -> ModelReply:
        if len(self._model.requests) % 5 == 4:
            raise ConnectionError("lost")
        return ModelReply("hi", TokenUsage(3, 4), cost=0.25)
