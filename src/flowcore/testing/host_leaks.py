"""A flow whose step leaks out: for what comes late."""

from __future__ import annotations

import anyio

from ..flow import Flow
from ..graph import node
from ..outcome import Complete, Continue
from ..step import Step
from .host_flows import Work

__all__ = ["Leak", "leaking"]


class Leak:
    """Where a step leaks out, and is held up."""

    def __init__(self) -> None:
        self._step: Step[Work, Leak] | None = None
        self._come = anyio.Event()
        self._free = anyio.Event()

    async def put(self, step: Step[Work, Leak]) -> None:
        """Let a step leak out, and wait."""
        self._step = step
        self._come.set()
        await self._free.wait()

    async def step(self) -> Step[Work, Leak]:
        """Return the step that leaked out."""
        await self._come.wait()
        assert self._step is not None  # put in first
        return self._step

    def free(self) -> None:
        """Let the visit go on."""
        self._free.set()


@node
async def leaks(step: Step[Work, Leak]) -> Continue:
    """Give a step to somebody who keeps it."""
    step.state.done.append("in time")
    await step.deps.put(step)
    return Continue()


@node
async def last(step: Step[Work, Leak]) -> Complete[int]:
    """Complete."""
    return Complete(len(step.state.done))


def leaking() -> Flow[Work, Leak, int]:
    """Return a flow whose first step leaks out."""
    return Flow("leaking", leaks.to(last), last)
