"""The flow runner: runs a flow in a test, on a clock that moves by itself, and never raises for how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, TypeVar, Unpack

import anyio

from ..clock import Clock
from ..errors import ContractError
from ..flow import Flow
from ..graph import Node
from ..result import RunResult
from ..run import Run
from ..run_settings import RunOptions
from .clock import FakeClock

__all__ = ["FlowRunner"]

StateT = TypeVar("StateT")
ResultT = TypeVar("ResultT")

_TICK = 0.001
_PATIENCE = 0.2
"""Real seconds that a node may await something real, before it counts as hanging and the clock moves on."""


class FlowRunner:
    """Runs flows in a test: `result = flow_runner(flow, state)`, or `await flow_runner.run(flow, state)`.

    The runs follow `clock`, which moves by itself to whatever comes next: an hour of `clock.sleep`, a timeout or a
    wait between retries takes no time. The ids of the runs are made of the test's name.
    """

    def __init__(self, name: str = "test", *, backend: str = "asyncio") -> None:
        self.clock = FakeClock()
        self.runs: list[RunResult[Any]] = []
        """The results so far."""
        self._name = name
        self._backend = backend
        self._begun = 0

    def __call__(
        self,
        flow: Flow[StateT, Any, ResultT],
        state: StateT,
        /,
        *,
        deps: Any = None,
        fakes: Mapping[str, Node[StateT, Any, Any, Any]] | None = None,
        **options: Unpack[RunOptions],
    ) -> RunResult[ResultT]:
        """Run a flow and return its result, however it ended. Takes what `flow.run` takes.

        Args:
            flow: The flow.
            state: The state to begin with.
            deps: What the nodes get as `step.deps`.
            fakes: Functions to stand in for nodes: `{"check": fake_check}`, as with `flow.replace`.
            options: `budget`, `clock` and whatever else `flow.run` takes.

        Raises:
            ContractError: It was called inside a running event loop.
        """
        try:
            anyio.current_time()
        except anyio.NoEventLoopError:
            work = partial(self.run, flow, state, deps=deps, fakes=fakes, **options)
            return anyio.run(work, backend=self._backend)
        raise ContractError(
            "flow_runner(...) was called inside a running event loop: use `await flow_runner.run(...)` there"
        )

    async def run(
        self,
        flow: Flow[StateT, Any, ResultT],
        state: StateT,
        /,
        *,
        deps: Any = None,
        fakes: Mapping[str, Node[StateT, Any, Any, Any]] | None = None,
        **options: Unpack[RunOptions],
    ) -> RunResult[ResultT]:
        """Do the same in an async test."""
        self._begun += 1
        name = self._name if self._begun == 1 else f"{self._name}-{self._begun}"
        clock: Clock = options.pop("clock", None) or self.clock
        settings: RunOptions = {"run_id": name, **options, "clock": clock}
        tested = flow.replace(**fakes) if fakes else flow
        async with tested.start(state, deps=deps, **settings) as run:
            if isinstance(clock, FakeClock):
                await _to_the_end(run, clock)
            result = await run.wait()
        self.runs.append(result)
        return result


async def _to_the_end(run: Run[Any], clock: FakeClock) -> None:
    """Move the clock whenever nothing else can happen, until the run has ended."""
    async with anyio.create_task_group() as group:

        async def drive() -> None:
            hanging = -1
            while True:
                await clock.settle()
                if run.threads:
                    await anyio.sleep(_TICK)
                elif clock.is_awaited or hanging == _told(run):
                    if not await clock.jump():
                        await anyio.sleep(_TICK)
                elif await _hangs(run, clock):
                    hanging = _told(run)

        group.start_soon(drive)
        await run.wait()
        group.cancel_scope.cancel()


async def _hangs(run: Run[Any], clock: FakeClock) -> bool:
    """Wait for what a node awaits that is not the clock. Return whether nothing came of it."""
    told = _told(run)
    for _ in range(round(_PATIENCE / _TICK)):
        await anyio.sleep(_TICK)
        if _told(run) != told or clock.is_awaited:
            return False
    return True


def _told(run: Run[Any]) -> int:
    """Return a number that grows whenever something happens in a run."""
    return len(run.trace.records) + len(run.trace.notes)
