"""The host conformance suite of hosts that lose nothing: processes that die, and that walk one run.

Needs pytest: `pip install "flowcore[test]"`.
"""

from __future__ import annotations

import random

import anyio
import anyio.lowlevel
import pytest

from ..errors import RunConflict, StoreError
from ..flow import Flow
from ..graph import node
from ..outcome import Complete, Continue
from ..requests import Verification
from ..step import Step
from ..trigger import Trigger
from .host import DurableHost
from .host_flows import CONSENT, PLACES, VALUE, WITHIN, Points, Work, agree, everywhere
from .host_suite import HostContract, agreeing, committed_once, ended, kinds, terminal

__all__ = ["DurableHostContract"]

_FINE = {"approved": True, "reason": "fine"}
_WRITES = 16
"""How many writes a run of the flow has at least."""


@node(effects=True)
async def pay(step: Step[Work, Points]) -> Continue:
    """Do something outside that must not be done twice."""
    await step.deps.at(step.path)
    return Continue()


@node
async def paid(step: Step[Work, Points]) -> Complete[str]:
    """Complete."""
    return Complete("paid")


def paying() -> Flow[Work, Points, str]:
    """Return a flow that does something outside."""
    return Flow("paying", pay.to(paid), paid)


class DurableHostContract(HostContract):
    """The contract of hosts that lose nothing: that of hosts, and what becomes of a run whose process dies.

    Derive a class of tests from it that makes a `DurableHost` of yours in `make_host(self, tmp_path, clock)`.
    """

    @pytest.mark.parametrize("place", PLACES)
    async def test_a_process_that_dies_anywhere_loses_nothing(self, host: DurableHost, place: str) -> None:
        run, _ = await self.come_to(host, place)
        committed = {visit.path for visit in run.trace}
        await host.lose(run)
        points = Points()
        again = await host.resume(everywhere(), "run", deps=points)
        result = await agreeing(again)
        assert (result.status, result.value) == ("completed", VALUE)
        assert committed.isdisjoint(points.reached)
        assert committed_once(result)
        told = await kinds(again)
        assert [kind for kind in told if kind.startswith("run.")] == [
            "run.started",
            "run.resumed",
            "run.completed",
        ]
        assert await host.standing("run") == ("completed", [])

    @pytest.mark.parametrize("hears", [True, False])
    @pytest.mark.parametrize("write", range(1, _WRITES + 1))
    async def test_a_process_that_dies_at_a_write_loses_nothing(
        self, host: DurableHost, write: int, hears: bool
    ) -> None:
        host.lose_at(write, hears=hears)
        run = await host.start(everywhere(), Work(), deps=Points(), run_id="run")
        with anyio.fail_after(WITHIN):
            while not host.is_dead(run):
                await agree(run)
                await anyio.lowlevel.checkpoint()
        await host.lose(run)
        again = await host.resume(everywhere(), "run", deps=Points())
        result = await agreeing(again)
        assert (result.status, result.value) == ("completed", VALUE)
        assert committed_once(result)

    @pytest.mark.parametrize("seed", range(5))
    async def test_processes_that_die_one_after_another_lose_nothing(self, host: DurableHost, seed: int) -> None:
        chance = random.Random(seed)
        run, points = await self.come_to(host, chance.choice(PLACES))
        reached = list(points.reached)
        for _ in range(6):
            committed = {visit.path for visit in run.trace}
            await host.lose(run)
            left = [place for place in PLACES if place not in committed and place != "fan#1/mend#1"]
            points = Points(chance.choice(left))
            run = await host.resume(everywhere(), "run", deps=points)
            await points.come(run)
            reached += points.reached
        points.free()
        result = await agreeing(run)
        assert (result.status, result.value) == ("completed", VALUE)
        assert committed_once(result)
        assert {*reached, *points.reached} >= {*PLACES} - {CONSENT}
        assert 1 <= (await kinds(run)).count("run.resumed") <= 6

    async def test_a_question_outlives_the_process(self, host: DurableHost) -> None:
        run, _ = await self.come_to(host, CONSENT)
        (request,) = run.requests
        await host.lose(run)
        assert await host.requests("run") == [request.id]
        again = await host.resume(everywhere(), "run", deps=Points())
        with anyio.fail_after(WITHIN):
            while not again.requests:
                await anyio.lowlevel.checkpoint()
        assert [one.id for one in again.requests] == [request.id]
        result = await agreeing(again)
        assert result.value == VALUE
        told = await kinds(again)
        assert (told.count("request.opened"), told.count("request.answered")) == (1, 1)

    async def test_an_answer_while_nobody_walks_the_run_counts_once(self, host: DurableHost) -> None:
        run, _ = await self.come_to(host, CONSENT)
        (request,) = run.requests
        await host.lose(run)
        await host.answer("run", request.id, _FINE, "ann")
        with pytest.raises(RunConflict):
            await host.answer("run", request.id, {"approved": False}, "bob")
        assert await host.requests("run") == []
        again = await host.resume(everywhere(), "run", deps=Points())
        result = await ended(again)
        assert result.value == VALUE
        told = await kinds(again)
        assert (told.count("request.opened"), told.count("request.answered")) == (1, 1)

    async def test_an_answer_from_elsewhere_reaches_a_run(self, host: DurableHost) -> None:
        run, _ = await self.come_to(host, CONSENT)
        (request,) = run.requests
        await host.answer("run", request.id, _FINE, "ann")
        await host.clock.advance(1)
        assert (await ended(run)).value == VALUE
        assert (await kinds(run)).count("request.answered") == 1

    async def test_an_answer_from_elsewhere_while_the_run_is_paused_counts(self, host: DurableHost) -> None:
        run, _ = await self.come_to(host, CONSENT)
        (request,) = run.requests
        await run.pause()
        await host.answer("run", request.id, _FINE, "ann")
        await host.clock.advance(1)
        await run.resume()
        assert (await ended(run)).value == VALUE
        assert (await kinds(run)).count("request.answered") == 1

    async def test_a_paused_run_outlives_the_process(self, host: DurableHost) -> None:
        run, _ = await self.come_to(host, "map#1[2]/item#1")
        await run.pause()
        assert (await host.standing("run"))[0] == "paused"
        committed = {visit.path for visit in run.trace}
        await host.lose(run)
        assert (await host.standing("run"))[0] == "paused"
        points = Points()
        again = await host.resume(everywhere(), "run", deps=points)
        result = await agreeing(again)
        assert (result.status, result.value) == ("completed", VALUE)
        assert committed.isdisjoint(points.reached)

    async def test_two_processes_never_walk_one_run(self, host: DurableHost) -> None:
        run, points = await self.come_to(host, "fan#1/right#1")
        for _ in range(3):
            with pytest.raises(RunConflict):
                await host.resume(everywhere(), "run", deps=Points())
        points.free()
        assert (await agreeing(run)).value == VALUE

    @pytest.mark.parametrize("is_paused", [False, True])
    async def test_a_process_that_lost_its_run_changes_nothing(self, host: DurableHost, is_paused: bool) -> None:
        run, points = await self.come_to(host, "inner#1/two#1")
        if is_paused:
            await run.pause()
        before = list(points.reached)
        await host.strand(run)
        other = await host.resume(everywhere(), "run", deps=Points())
        result = await agreeing(other)
        assert (result.status, result.value) == ("completed", VALUE)
        points.free()
        if is_paused:
            await run.resume()
        lost = await ended(run)
        assert (lost.status, lost.failure and lost.failure.type) == ("failed", "RunConflict")
        assert points.reached == before
        assert await host.standing("run") == ("completed", [])

    @pytest.mark.parametrize("end", ["completed", "stop", "interrupt"])
    async def test_what_has_ended_cannot_be_resumed(self, host: DurableHost, end: str) -> None:
        run, points = await self.come_to(host, "begin#2")
        if end == "completed":
            points.free()
            await agreeing(run)
        else:
            async with anyio.create_task_group() as group:
                group.start_soon(run.stop) if end == "stop" else group.start_soon(run.cancel, "interrupt")
                await anyio.wait_all_tasks_blocked()
                points.free()
                await ended(run)
        standing = await host.standing("run")
        assert standing == ("completed" if end == "completed" else "cancelled", [])
        with pytest.raises(RunConflict):
            await host.resume(everywhere(), "run", deps=Points())
        assert await host.standing("run") == standing
        assert len(terminal(await kinds(run))) == 1

    async def test_only_its_user_resumes_a_run(self, host: DurableHost) -> None:
        points = Points("begin#1")
        trigger = Trigger("chat", user="ann")
        run = await host.start(everywhere(), Work(), deps=points, run_id="run", trigger=trigger)
        await points.come(run)
        await run.pause(by="ann")
        for stranger in ("bob", ""):
            with pytest.raises(RunConflict, match="ann"):
                await run.resume(by=stranger)
        await host.lose(run)
        for stranger in ("bob", ""):
            with pytest.raises(RunConflict, match="ann"):
                await host.resume(everywhere(), "run", deps=Points(), by=stranger)
        again = await host.resume(everywhere(), "run", deps=Points(), by="ann")
        assert (await agreeing(again)).value == VALUE

    async def test_there_is_one_run_of_an_id(self, host: DurableHost) -> None:
        run, points = await self.come_to(host, "begin#1")
        with pytest.raises(StoreError):
            await host.start(everywhere(), Work(), deps=Points(), run_id="run")
        points.free()
        assert (await agreeing(run)).value == VALUE

    @pytest.mark.parametrize("answer", ["done", "not_done", "fail"])
    async def test_what_may_have_been_done_is_not_done_again(self, host: DurableHost, answer: str) -> None:
        points = Points("pay#1")
        run = await host.start(paying(), Work(), deps=points, run_id="run")
        await points.come(run)
        await host.lose(run)
        points = Points()
        again = await host.resume(paying(), "run", deps=points)
        with anyio.fail_after(WITHIN):
            while not again.requests:
                await anyio.lowlevel.checkpoint()
        assert (again.requests[0].kind, points.reached) == ("verify", [])
        says = {"done": Verification(True), "not_done": Verification(False), "fail": Verification(None)}
        await again.answer(None, says[answer], by="ann")
        result = await ended(again)
        assert points.reached == []
        failed = {"done": None, "not_done": "NotDone", "fail": "OutcomeUnknown"}[answer]
        assert (result.value, result.failure and result.failure.type) == (
            "paid" if failed is None else None,
            failed,
        )
