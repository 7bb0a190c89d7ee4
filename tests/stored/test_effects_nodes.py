"""Nodes with effects: begun at most once, whatever happens; what is unknown is found out, or ends the run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.lowlevel
import pytest
from tests.stored.dying import RUN, Hangs, Job, asked, dying, killed_at, process, resumed, store_of

from flowcore import Complete, Continue, Flow, FlowError, Node, Retry, Run, Step, node
from flowcore.errors import ContractError, NodeTimeout, OutcomeUnknown
from flowcore.requests import Verification
from flowcore.store import RunStore, SQLiteRunStore
from flowcore.testing import FakeClock


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RunStore:
    return store_of(request.param, tmp_path)


@node
async def sorry(step: Step[Job]) -> Complete[str]:
    assert step.error is not None
    return Complete(f"sorry: {step.error.type}")


@node
async def thanks(step: Step[Job]) -> Complete[str]:
    return Complete(f"thanks {' '.join(step.state.paid)}".strip())


@node
async def owing(step: Step[Job]) -> Complete[str]:
    return Complete("owing")


def plain(hangs: Hangs, verify: Callable[..., Any] | None = None) -> Flow[Job, Any, Any]:
    """Returns a flow with a node that pays and has one way on, and an error route."""

    @node(effects=True, verify=verify)
    async def pay(step: Step[Job]) -> Continue:
        await hangs.do("pay")
        step.state.paid.append("by pay")
        return Continue()

    return Flow("plain", pay.to(thanks).using(timeout=5, retry=Retry(attempts=3)).on_error(sorry), thanks, sorry)


def forked(hangs: Hangs, verify: Callable[..., Any] | None = None) -> Flow[Job, Any, Any]:
    """Returns a flow with a node that pays and has two ways on, or an end."""

    @node(effects=True, verify=verify)
    async def pay(step: Step[Job]) -> Continue[Literal["all", "part"]] | Complete[int]:
        await hangs.do("pay")
        return Continue("all")

    return Flow("forked", pay.to(all=thanks, part=owing).on_error(sorry), thanks, owing, sorry)


async def yes(step: Step[Job]) -> bool:
    step.state.paid.append(f"by verify of {step.idempotency_key}")
    return True


def no(step: Step[Job]) -> Literal[False]:
    step.state.paid.append("never kept")
    return False


async def part(step: Step[Job]) -> Continue[Literal["part"]] | None:
    return Continue("part")


def broken(step: Step[Job]) -> Literal[False] | None:
    raise OSError("no net")


@pytest.mark.behaviour("A89")
async def test_a_node_that_was_done_is_not_run_again(store: RunStore) -> None:
    hangs, clock = Hangs({"after"}), FakeClock()

    @node(effects=True)
    async def pay(step: Step[Job]) -> Continue:
        await hangs.do("pay")
        return Continue()

    @node
    async def after(step: Step[Job]) -> Complete[str]:
        await hangs.do("after")
        return Complete("done")

    flow = Flow("two", pay.to(after), after)
    await killed_at(hangs, flow, store, clock)
    again = await resumed(flow, store, clock)
    assert (again.value, hangs.did) == ("done", ["pay", "after", "after"])
    assert again.statuses == [("node", "pay", "done")]


@pytest.mark.parametrize(
    ("make", "verify", "value"),
    [
        (plain, yes, "thanks by verify of run/pay#1"),
        (plain, no, "sorry: NotDone"),
        (forked, part, "owing"),
        (forked, no, "sorry: NotDone"),
    ],
)
@pytest.mark.behaviour("S1-20")
async def test_after_a_death_verify_says_how_it_goes_on(
    store: RunStore, make: Callable[..., Flow[Job, Any, Any]], verify: Any, value: str
) -> None:
    hangs, clock = Hangs({"pay"}), FakeClock()
    flow = make(hangs, verify)
    await killed_at(hangs, flow, store, clock)
    assert [row.status for row in (await store.load(RUN)).calls] == ["dispatched"]
    again = await resumed(flow, store, clock)
    assert (again.value, hangs.did) == (value, ["pay"])
    assert again.statuses == [("node", "pay", "failed" if "NotDone" in value else "done")]


@pytest.mark.parametrize(
    ("make", "answer", "ending"),
    [
        (plain, True, "thanks"),
        (plain, Verification(False), "sorry: NotDone"),
        (plain, Verification(None), OutcomeUnknown),
        (forked, Verification(True, "part"), "owing"),
        (forked, Verification(True, 7), 7),
        (forked, {"done": True, "value": "all"}, "thanks"),
    ],
)
async def test_a_person_says_how_it_goes_on(store: RunStore, make: Any, answer: Any, ending: Any) -> None:
    hangs, clock = Hangs({"pay"}), FakeClock()
    flow = make(hangs, broken)
    await killed_at(hangs, flow, store, clock)

    async def answering(run: Run[Any]) -> None:
        request = await asked(run)
        assert (request.kind, request.path, request.question) == (
            "verify",
            "pay#1",
            "pay#1 was interrupted: was it done?",
        )
        with pytest.raises(ContractError, match="is answered with the outcome as its value"):
            await run.answer(request.id, Verification(True, "elsewhere"))
        await clock.advance(100)  # no timeout passes while a person is waited for
        await run.answer(request.id, answer, by="ann")

    again = await resumed(flow, store, clock, answering)
    assert hangs.did == ["pay"]
    if ending is OutcomeUnknown:
        assert isinstance(again.result.failure.exception, OutcomeUnknown)  # type: ignore[union-attr]
        assert again.statuses == [("node", "pay", "unknown")]
    else:
        assert again.value == ending


async def test_nobody_says_anything_in_time(store: RunStore) -> None:
    hangs, clock = Hangs({"pay"}), FakeClock()
    flow = plain(hangs)
    await killed_at(hangs, flow, store, clock)

    async def nobody(run: Run[Any]) -> None:
        await asked(run)
        await clock.advance(301)

    again = await resumed(flow, store, clock, nobody)
    failure = again.result.failure
    assert failure is not None
    assert (failure.code, failure.type) == ("outcome_unknown", "OutcomeUnknown")
    assert failure.message == "pay#1 has effects and was interrupted, and nobody knows whether it was done"
    assert again.statuses == [("node", "pay", "unknown")]


async def test_a_run_dies_again_while_a_person_is_asked(store: RunStore) -> None:
    hangs, clock, looks = Hangs({"pay"}), FakeClock(), list[str]()

    async def look(step: Step[Job]) -> None:
        looks.append(step.path)

    flow = plain(hangs, look)
    await killed_at(hangs, flow, store, clock)
    async with dying(flow, store, clock) as run:
        first = await asked(run)

    async def answering(run: Run[Any]) -> None:
        again = await asked(run)
        assert again.id == first.id
        await run.answer(again.id, True)

    again = await resumed(flow, store, clock, answering)
    assert (again.value, hangs.did, looks) == ("thanks", ["pay"], ["pay#1"])


@pytest.mark.parametrize(
    ("verify", "value"),
    [
        (yes, "thanks by verify of run/pay#1"),
        (no, "sorry: NotDone"),
        (None, NodeTimeout),
        (broken, OutcomeUnknown),
    ],
)
@pytest.mark.behaviour("S1-20")
async def test_a_timeout_is_found_out_in_the_same_way(verify: Any, value: Any) -> None:
    hangs, clock = Hangs({"pay"}), FakeClock()
    async with plain(hangs, verify).start(Job(), clock=clock, run_id=RUN) as run:
        await hangs.begun.wait()
        await clock.advance(6)
        with anyio.fail_after(10):
            result = await run.wait()
    assert hangs.did == ["pay"]
    if isinstance(value, str):
        assert result.value == value
    else:
        assert type(result.failure.exception) is value  # type: ignore[union-attr]


async def test_a_timeout_in_a_stored_run_waits_for_a_person(store: RunStore) -> None:
    hangs, clock = Hangs({"pay"}), FakeClock()
    async with plain(hangs).start(Job(), clock=clock, store=store, run_id=RUN) as run:
        await hangs.begun.wait()
        await clock.advance(6)
        await run.answer((await asked(run)).id, False)
        with anyio.fail_after(10):
            result = await run.wait()
    assert (result.value, hangs.did) == ("sorry: NotDone", ["pay"])


async def test_a_pause_interrupts_it_like_a_death_without_a_store_too() -> None:
    for verify, value in ((yes, "thanks by verify of run/pay#1"), (None, OutcomeUnknown)):
        hangs, clock = Hangs({"pay"}), FakeClock()
        async with plain(hangs, verify).start(Job(), clock=clock, run_id=RUN) as run:
            await hangs.begun.wait()
            await run.pause()
            await run.resume()
            with anyio.fail_after(10):
                result = await run.wait()
        assert hangs.did == ["pay"]
        if isinstance(value, str):
            assert result.value == value
        else:
            assert type(result.failure.exception) is value  # type: ignore[union-attr]


async def test_in_a_cancelled_run_it_stays_as_unknown(store: RunStore) -> None:
    hangs, clock = Hangs({"pay"}), FakeClock()
    async with plain(hangs, yes).start(Job(), clock=clock, store=store, run_id=RUN) as run:
        await hangs.begun.wait()
        await run.cancel()
        result = await run.wait()
    assert result.status == "cancelled"
    assert [row.status for row in (await store.load(RUN)).calls] == ["unknown"]


@pytest.mark.behaviour("S1-29")
async def test_a_late_look_changes_nothing_of_a_stopped_run(store: RunStore) -> None:
    hangs, clock, late, did = Hangs({"pay"}), FakeClock(), anyio.Event(), list[str]()

    async def look(step: Step[Job]) -> bool:
        did.append("looks")
        with anyio.CancelScope(shield=True):
            await late.wait()
        did.append("is late")
        return True

    async with plain(hangs, look).start(Job(), clock=clock, store=store, run_id=RUN, grace=1.0) as run:
        await hangs.begun.wait()
        await run.pause()
        await run.resume()
        while not did:
            await anyio.lowlevel.checkpoint()
        async with anyio.create_task_group() as group:
            group.start_soon(run.cancel, "interrupt")
            await clock.advance(3)
        result, before = await run.wait(), await store.load(RUN)
        late.set()
        await clock.settle()
        kinds = [event.kind async for event in run.events()]
    assert (result.status, result.stragglers, did) == ("cancelled", ("pay#1",), ["looks", "is late"])
    assert await store.load(RUN) == before
    assert [row.status for row in before.calls] == ["unknown"]
    assert kinds[-1] == "run.cancelled"
    assert "run.completed" not in kinds


async def test_the_time_of_the_flow_around_it_leaves_it_unknown(store: RunStore) -> None:
    hangs, clock = Hangs({"pay"}), FakeClock()
    inner = plain(hangs, yes).as_node("inner", state=Job).using(timeout=3)
    async with Flow("outer", inner.to(thanks).on_error(sorry), thanks, sorry).start(
        Job(), clock=clock, store=store, run_id=RUN
    ) as run:
        await hangs.begun.wait()
        await clock.advance(4)
        with anyio.fail_after(10):
            result = await run.wait()
    assert result.value == "sorry: NodeTimeout"
    assert [row.status for row in (await store.load(RUN)).calls] == ["unknown"]


async def test_its_own_failure_is_known_and_routed_and_what_verify_must_not_say_is_not() -> None:
    @node(effects=True, verify=yes)
    async def pay(step: Step[Job]) -> Continue:
        raise ConnectionError("refused")

    flow = Flow("fails", pay.to(thanks).on_error(sorry), thanks, sorry)
    assert await flow.run(Job()) == "sorry: ConnectionError"

    hangs, clock = Hangs({"pay"}), FakeClock()

    def wrong(step: Step[Job]):  # type: ignore[no-untyped-def]
        return Continue("elsewhere")

    async with plain(hangs, wrong).start(Job(), clock=clock) as run:
        await hangs.begun.wait()
        await run.pause()
        await run.resume()
        with anyio.fail_after(10):
            result = await run.wait()
    assert isinstance(result.failure.exception, ContractError)  # type: ignore[union-attr]


def test_what_verify_says_is_checked_when_the_flow_is_made() -> None:
    async def elsewhere(step: Step[Job]) -> Continue[Literal["elsewhere"]] | Literal[False]:
        return False

    for verify, given in ((yes, "bool"), (elsewhere, "Continue[Literal['elsewhere']]")):
        with pytest.raises(FlowError) as raised:
            forked(Hangs(), verify)
        assert [(problem.code, problem.where) for problem in raised.value.problems] == [("verify_mismatch", "pay")]
        ways = "Continue('all') or Continue('part') or Complete[int]"
        said = f"verify returns {given}, but the node may end with {ways}"
        assert raised.value.problems[0].message == said
    for options in ({"verify": yes}, {"verify": "yes", "effects": True}):
        with pytest.raises(TypeError, match=r"give a function of one step, and effects=True"):
            node(**options)(sorry.definition.fn)  # type: ignore[arg-type]
    made: Node[Job, Any, Any, Any] = node(effects=True, verify=yes)(sorry.definition.fn)  # type: ignore[arg-type]
    assert made.definition.effects


@pytest.mark.behaviour("S1-20", "A89")
def test_a_killed_process_has_paid_once(tmp_path: Path) -> None:
    database, seen = tmp_path / "runs.db", tmp_path / "seen"
    assert process(__file__, str(database), str(seen), "dies") == -9
    assert process(__file__, str(database), str(seen), "") == 0
    assert seen.read_text() == "run/pay#1\n"


async def _child(database: str, seen: Path, dies: str) -> None:
    def look(step: Step[Job]) -> bool:
        step.state.paid.append("found")
        return step.idempotency_key in seen.read_text().split()

    @node(effects=True, verify=look)
    async def pay(step: Step[Job]) -> Continue:
        with seen.open("a") as file:
            file.write(f"{step.idempotency_key}\n")
        os.kill(os.getpid(), 9)
        return Continue()

    flow = Flow("plain", pay.to(thanks), thanks)
    store, clock = SQLiteRunStore(database), FakeClock()
    if dies:
        await flow.run(Job(), store=store, run_id=RUN, clock=clock)
    await clock.advance(60)
    assert await flow.resume(RUN, store=store, clock=clock) == "thanks found"


if __name__ == "__main__":
    anyio.run(_child, sys.argv[1], Path(sys.argv[2]), sys.argv[3])
