"""The host conformance suite: what every place that a flow runs in must keep, as tests that pytest runs.

Needs pytest: `pip install "flowcore[test]"`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from ..errors import ContractError, RunConflict, StoreError
from ..requests import Approval
from ..result import RunResult
from ..step import Step
from .clock import FakeClock
from .host import FlowHost, HostedRun
from .host_flows import CONSENT, PLACES, VALUE, WITHIN, Points, Work, agree, everywhere
from .host_leaks import Leak, leaking

__all__ = ["HostContract", "agreeing", "committed_once", "ended", "kinds", "terminal"]


async def ended(run: HostedRun) -> RunResult[Any]:
    """Return how a run ends."""
    with anyio.fail_after(WITHIN):
        return await run.wait()


async def agreeing(run: HostedRun) -> RunResult[Any]:
    """Return how a run ends in which a person agrees to everything."""
    found: list[RunResult[Any]] = []

    async def keep_agreeing() -> None:
        while True:
            await agree(run)
            await anyio.lowlevel.checkpoint()

    with anyio.fail_after(WITHIN):
        async with anyio.create_task_group() as group:
            group.start_soon(keep_agreeing)
            found.append(await run.wait())
            group.cancel_scope.cancel()
    return found[0]


async def kinds(run: HostedRun) -> list[str]:
    """Return the kinds of a run's events, in their order. Their numbers must go up."""
    events = [event async for event in run.events() if event.kind not in ("model.chunk", "tool.delta")]
    numbers = [event.seq for event in events]
    assert numbers == sorted({*numbers})
    return [event.kind for event in events]


def terminal(told: list[str]) -> list[str]:
    """Return which of the kinds end a run."""
    return [kind for kind in told if kind in ("run.completed", "run.failed", "run.cancelled")]


def committed_once(result: RunResult[Any]) -> bool:
    """Return whether every place was committed once, however often it was come to."""
    paths = [visit.path for visit in result.trace if visit.path in PLACES]
    return sorted(paths) == sorted(PLACES)


class _Contract:
    """What the classes of the suite share: a host for each test."""

    pytestmark = pytest.mark.anyio

    def make_host(self, tmp_path: Path, clock: FakeClock) -> Any:
        """Return a host of your kind that goes by this clock. What it keeps may stand in this folder."""
        raise NotImplementedError

    @pytest.fixture
    async def host(self, tmp_path: Path, anyio_backend: object) -> AsyncIterator[FlowHost]:
        """Make a host, and close it after the test."""
        made = self.make_host(tmp_path, FakeClock())
        yield made
        await made.aclose()

    async def come_to(self, host: FlowHost, place: str) -> tuple[HostedRun, Points]:
        """Return a run that is held up at a place."""
        points = Points(place)
        run = await host.start(everywhere(), Work(), deps=points, run_id="run")
        await points.come(run)
        return run, points


class HostContract(_Contract):
    """The contract of hosts: what every place that a flow runs in must keep, whether it keeps records or not.

    Derive a class of tests from it that makes your host; `DurableHostContract` is for one that loses nothing.

        from flowcore.testing import FlowHost, HostContract

        class MyHost(FlowHost):
            async def start(self, flow, state, *, deps, run_id, trigger=None): ...
            async def aclose(self): ...

        class TestMyHost(HostContract):
            def make_host(self, tmp_path, clock):
                return MyHost(clock)
    """

    async def test_a_run_ends_once(self, host: FlowHost) -> None:
        points = Points()
        run = await host.start(everywhere(), Work(), deps=points, run_id="run")
        result = await agreeing(run)
        assert (result.status, result.value) == ("completed", VALUE)
        assert sorted(points.reached) == sorted({*PLACES} - {CONSENT})
        told = await kinds(run)
        assert terminal(told) == told[-1:] == ["run.completed"]

    @pytest.mark.parametrize("place", PLACES)
    async def test_a_pause_anywhere_changes_nothing(self, host: FlowHost, place: str) -> None:
        run, points = await self.come_to(host, place)
        with anyio.fail_after(WITHIN):
            await run.pause()
        assert run.is_paused
        before = list(points.reached)
        await host.clock.advance(100)
        assert (run.is_paused, points.reached) == (True, before)
        points.free()
        await run.resume()
        result = await agreeing(run)
        assert (result.status, result.value) == ("completed", VALUE)
        assert {*points.left} == {*PLACES} - {CONSENT}
        assert committed_once(result)
        told = await kinds(run)
        control = [kind for kind in told if kind.startswith("run.")]
        assert control == ["run.started", "run.paused", "run.resumed", "run.completed"]

    async def test_a_pause_after_a_pause(self, host: FlowHost) -> None:
        run, points = await self.come_to(host, "inner#1/two#1")
        async with anyio.create_task_group() as group:
            group.start_soon(run.pause)
            group.start_soon(run.pause)
        await run.pause()
        await run.resume()
        await run.resume()
        with anyio.fail_after(WITHIN):
            while points.reached.count("inner#1/two#1") < 2:
                await anyio.lowlevel.checkpoint()
        await run.pause()
        assert run.is_paused
        points.free()
        await run.resume()
        assert (await agreeing(run)).value == VALUE
        told = await kinds(run)
        assert [kind for kind in told if kind.startswith("run.")] == [
            *("run.started", "run.paused", "run.resumed", "run.paused", "run.resumed", "run.completed")
        ]

    @pytest.mark.parametrize("place", PLACES)
    async def test_what_is_cancelled_anywhere_ends(self, host: FlowHost, place: str) -> None:
        run, points = await self.come_to(host, place)
        before = list(points.reached)
        with anyio.fail_after(WITHIN):
            await run.cancel("interrupt")
        result = await ended(run)
        assert (result.status, result.reason, result.stragglers) == ("cancelled", "interrupt", ())
        points.free()
        await host.clock.advance(1)
        assert points.reached == before
        told = await kinds(run)
        assert terminal(told) == told[-1:] == ["run.cancelled"]
        assert told.count("node.started") == told.count("node.finished") + told.count("node.failed")

    @pytest.mark.parametrize("place", PLACES)
    async def test_a_stop_anywhere_acts_at_the_next_boundary(self, host: FlowHost, place: str) -> None:
        run, points = await self.come_to(host, place)
        before: list[str] = []

        async def stop() -> None:
            before.extend(points.reached)
            await run.stop()

        async with anyio.create_task_group() as group:
            group.start_soon(stop)
            await anyio.wait_all_tasks_blocked()
            points.free()
        result = await ended(run)
        assert points.reached == before
        assert place == CONSENT or place in points.left
        assert (result.status, result.reason) == ("cancelled", "stop")
        told = await kinds(run)
        assert terminal(told) == told[-1:] == ["run.cancelled"]

    async def test_the_first_who_cancels_says_why(self, host: FlowHost) -> None:
        run, _ = await self.come_to(host, "map#1[1]/item#1")
        async with anyio.create_task_group() as group:
            for reason in ("user", "interrupt", "shutdown", "user"):
                group.start_soon(run.cancel, reason)
        await run.cancel("interrupt")
        result = await ended(run)
        assert result.status == "cancelled"
        assert result.reason in ("user", "interrupt", "shutdown")
        assert terminal(await kinds(run)) == ["run.cancelled"]
        assert (await ended(run)).reason == result.reason

    @pytest.mark.parametrize("end", ["cancel", "stop", "interrupt"])
    async def test_a_paused_run_can_be_ended(self, host: FlowHost, end: str) -> None:
        run, points = await self.come_to(host, "fan#1/left#1")
        await run.pause()
        before = list(points.reached)
        points.free()
        with anyio.fail_after(WITHIN):
            await (run.stop() if end == "stop" else run.cancel("user" if end == "cancel" else end))
        result = await ended(run)
        assert (result.status, result.reason) == ("cancelled", "user" if end == "cancel" else end)
        await run.resume()
        await run.pause()
        await host.clock.advance(1)
        assert (points.reached, run.is_paused) == (before, False)
        told = await kinds(run)
        assert [kind for kind in told if kind.startswith("run.")] == ["run.started", "run.paused", "run.cancelled"]

    async def test_what_has_ended_stays_as_it_is(self, host: FlowHost) -> None:
        run = await host.start(everywhere(), Work(), deps=Points(), run_id="run")
        before = await agreeing(run)
        told = await kinds(run)
        with anyio.fail_after(WITHIN):
            for act in (run.pause, run.resume, run.stop, partial(run.cancel, "interrupt")):
                await act()
        after = await ended(run)
        assert (after.status, after.reason, after.value) == (before.status, "", VALUE)
        assert await kinds(run) == told

    async def test_an_answer_before_anybody_asks_is_refused(self, host: FlowHost) -> None:
        run, points = await self.come_to(host, "map#1[0]/item#1")
        for request in (None, "no such request"):
            with pytest.raises((ContractError, StoreError)):
                await run.answer(request, True)
        points.free()
        assert (await agreeing(run)).value == VALUE

    async def test_only_the_first_answer_counts(self, host: FlowHost) -> None:
        run, _ = await self.come_to(host, CONSENT)
        (request,) = run.requests
        refused: list[str] = []

        async def answer(number: int) -> None:
            try:
                await run.answer(request.id, Approval(True, f"by {number}"), by=str(number))
            except (ContractError, RunConflict):
                refused.append(f"by {number}")

        async with anyio.create_task_group() as group:
            for number in range(10):
                group.start_soon(answer, number)
        with pytest.raises((ContractError, RunConflict)):
            await run.answer(request.id, False)
        result = await ended(run)
        (counted,) = {f"by {number}" for number in range(10)} - {*refused}
        assert result.value is not None
        assert result.value[-1] == f"True {counted}"
        assert (await kinds(run)).count("request.answered") == 1

    async def test_what_is_no_answer_leaves_the_question_open(self, host: FlowHost) -> None:
        run, _ = await self.come_to(host, CONSENT)
        with pytest.raises(ContractError, match="answered by"):
            await run.answer(None, "perhaps")
        assert len(run.requests) == 1
        assert (await agreeing(run)).value == VALUE

    async def test_a_question_stays_open_while_the_run_is_paused(self, host: FlowHost) -> None:
        run, _ = await self.come_to(host, CONSENT)
        (request,) = run.requests
        await run.pause()
        await run.resume()
        with anyio.fail_after(WITHIN):
            while not run.requests:
                await anyio.lowlevel.checkpoint()
        assert [one.id for one in run.requests] == [request.id]
        assert (await agreeing(run)).value == VALUE
        told = await kinds(run)
        assert (told.count("request.opened"), told.count("request.answered")) == (1, 1)

    async def test_an_answer_while_the_run_is_paused_counts(self, host: FlowHost) -> None:
        run, _ = await self.come_to(host, CONSENT)
        (request,) = run.requests
        await run.pause()
        await run.answer(request.id, Approval(True, "fine"), by="ann")
        with pytest.raises((ContractError, RunConflict)):
            await run.answer(request.id, False, by="bob")
        await run.resume()
        result = await ended(run)
        assert result.value == VALUE
        told = await kinds(run)
        assert (told.count("request.opened"), told.count("request.answered")) == (1, 1)

    @pytest.mark.parametrize("end", ["completed", "stop", "interrupt"])
    async def test_what_comes_late_changes_nothing(self, host: FlowHost, end: str) -> None:
        leak = Leak()
        run = await host.start(leaking(), Work(), deps=leak, run_id="run")
        with anyio.fail_after(WITHIN):
            step: Step[Work, Leak] = await leak.step()
            if end == "completed":
                leak.free()
            elif end == "interrupt":
                await run.cancel("interrupt")
            else:
                async with anyio.create_task_group() as group:
                    group.start_soon(run.stop)
                    await anyio.wait_all_tasks_blocked()
                    leak.free()
        before = await ended(run)
        told, text = await kinds(run), before.trace.to_text(detail="full")
        step.state.done.append("late")
        step.emit("late", 1)
        step.artifact("late", b"1", "text/plain")
        await host.clock.advance(1)
        after = await ended(run)
        assert (await kinds(run), after.trace.to_text(detail="full")) == (told, text)
        assert (after.status, after.value, after.state.done) == (before.status, before.value, before.state.done)
