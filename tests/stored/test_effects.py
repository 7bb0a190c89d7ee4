"""Tools with effects: dispatched at most once, whatever happens; what is unknown is found out, or stays so."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.stored.dying import RUN, Hangs, Job, asked, killed_at, process, resumed, store_of

from flowcore import Complete, Flow, Retry, Run, Step, node, tool
from flowcore.errors import OutcomeUnknown
from flowcore.messages import ToolCall
from flowcore.requests import Verification
from flowcore.store import RunStore, SQLiteRunStore
from flowcore.testing import FakeClock
from flowcore.tools import Allow, Ask, ToolCatalog, ToolExecutor


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RunStore:
    return store_of(request.param, tmp_path)


def paying(hangs: Hangs, verify: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Returns a tool that pays."""

    @tool(effects=True, verify=verify, **options)
    async def pay(to: str, cents: int = 1) -> str:
        """Pays somebody."""
        await hangs.do(f"pay {to}")
        return f"paid {to}"

    return pay


def pay(*names: str) -> list[ToolCall]:
    return [ToolCall(f"c{number}", "pay", f'{{"to": "{name}"}}') for number, name in enumerate(names)]


def shop(tool: Any, *turns: list[ToolCall], retry: Retry | None = None, **options: Any) -> Flow[Job, Any, Any]:
    """Returns a flow that runs calls, turn by turn, and completes with what the model is told of each."""
    executor = ToolExecutor(ToolCatalog([tool] if not isinstance(tool, list) else tool), **options)

    @node
    async def go(step: Step[Job]) -> Complete[list[tuple[str, str]]]:
        told: list[tuple[str, str]] = []
        for turn in turns:
            told += [(result.status, result.text) for result in await executor.run(turn)]
        return Complete(told)

    return Flow("shop", go if retry is None else go.using(retry=retry))


@pytest.mark.behaviour("S1-20")
async def test_a_call_with_effects_that_was_done_is_not_made_again_after_a_death(store: RunStore) -> None:
    hangs, clock = Hangs({"pay bob"}), FakeClock()
    flow = shop(paying(hangs, lambda to, cents: None), pay("ann"), pay("bob"))
    await killed_at(hangs, flow, store, clock)
    assert [row.status for row in (await store.load(RUN)).calls] == ["done", "dispatched"]

    async def nobody(run: Run[Any]) -> None:
        await asked(run)
        await clock.advance(301)

    again = await resumed(flow, store, clock, nobody)
    assert again.value[0] == ("ok", "paid ann")
    assert again.value[1][0] == "unknown"
    assert hangs.did == ["pay ann", "pay bob"]
    assert again.statuses == [("effect", "pay", "done"), ("effect", "pay", "unknown")]
    assert [event.answer for event in again.heard("request.answered")] == ["expired"]


@pytest.mark.parametrize(
    ("found", "status", "words"),
    [(True, "ok", "it was done"), (False, "failed", "it was not done")],
)
@pytest.mark.behaviour("S1-20")
async def test_after_a_death_verify_says_what_became_of_a_call(
    store: RunStore, found: bool, status: str, words: str
) -> None:
    hangs, clock, looked = Hangs({"pay ann"}), FakeClock(), list[str]()

    async def look(to: str, cents: int) -> bool:
        looked.append(to)
        return found

    flow = shop(paying(hangs, look), pay("ann"))
    await killed_at(hangs, flow, store, clock)
    again = await resumed(flow, store, clock)
    assert again.value[0][0] == status
    assert again.value[0][1].endswith(f"{words}.")
    assert (hangs.did, looked, again.heard("request.opened")) == (["pay ann"], ["ann"], [])


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Verification(True, "paid ann, no. 7"), ("ok", "It returned: paid ann, no. 7")),
        (True, ("ok", "a person found that it was done.")),
        (Verification(False, reason="The bank has no trace of it."), ("failed", "The bank has no trace of it.")),
        ({"done": False}, ("failed", "a person found that it was not done.")),
        (Verification(None), ("unknown", "nobody knows whether it was done")),
    ],
)
async def test_a_person_says_what_became_of_a_call(store: RunStore, answer: Any, told: tuple[str, str]) -> None:
    hangs, clock, looked = Hangs({"pay ann"}), FakeClock(), list[str]()
    flow = shop(paying(hangs, lambda to, cents: looked.append(to)), pay("ann"), pay("bob"))
    await killed_at(hangs, flow, store, clock)

    async def answering(run: Run[Any]) -> None:
        request = await asked(run)
        assert (request.kind, request.tool, request.call_id) == ("verify", "pay", "c0")
        assert request.arguments == '{"to":"ann","cents":1}'
        with pytest.raises(Exception, match="is answered with what pay returns"):
            await run.answer(request.id, Verification(True, 7))
        await run.answer(request.id, answer, by="ann")

    again = await resumed(flow, store, clock, answering)
    status, words = again.value[0]
    assert status == told[0]
    assert told[1] in words
    assert again.value[1] == ("ok", "paid bob")
    assert (hangs.did, looked) == (["pay ann", "pay bob"], ["ann"])


async def test_an_answer_that_was_given_while_no_process_ran_counts(store: RunStore) -> None:
    hangs, clock = Hangs({"pay ann"}), FakeClock()
    flow = shop(paying(hangs), pay("ann"))
    await killed_at(hangs, flow, store, clock)
    hangs.begun.set()
    async with flow.reopen(RUN, store=store, clock=clock) as run:
        request = await asked(run)
        await run.pause()
        at = clock.utcnow().timestamp()
        await store.answer(RUN, request.id, '{"done": true, "value": "paid 7"}', "bob", at)
        await run.resume()
        with anyio.fail_after(10):
            result = await run.wait()
    value: Any = result.value
    assert value[0][0] == "ok"
    assert hangs.did == ["pay ann"]


@pytest.mark.behaviour("S1-20")
async def test_a_call_that_took_too_long_waits_for_a_person_in_a_stored_run_alone(store: RunStore) -> None:
    clock = FakeClock()
    for kept in (None, store):
        hangs = Hangs({"pay ann"})
        flow = shop(paying(hangs, timeout=5), pay("ann"))
        async with flow.start(Job(), store=kept, clock=clock, run_id=RUN) as run:
            await hangs.begun.wait()
            await clock.advance(6)
            if kept is not None:
                await run.answer((await asked(run)).id, True)
            with anyio.fail_after(10):
                result = await run.wait()
        value: Any = result.value
        assert value[0][0] == ("ok" if kept is not None else "unknown")
        assert hangs.did == ["pay ann"]


@pytest.mark.behaviour("S1-20")
async def test_in_a_cancelled_run_it_stays_as_unknown_in_the_record(store: RunStore) -> None:
    hangs, clock = Hangs({"pay ann"}), FakeClock()
    async with shop(paying(hangs), pay("ann")).start(Job(), store=store, clock=clock, run_id=RUN) as run:
        await hangs.begun.wait()
        await run.cancel()
        statuses = [event.status async for event in run.events() if event.kind == "tool.finished"]  # type: ignore[attr-defined]
    assert statuses == ["unknown"]
    assert [row.status for row in (await store.load(RUN)).calls] == ["unknown"]


@pytest.mark.behaviour("S1-21")
async def test_a_second_equal_call_is_denied_until_it_is_known_what_became_of_the_first() -> None:
    hangs, clock = Hangs({"pay ann"}), FakeClock()

    @tool
    async def look(to: str) -> str:
        """Looks."""
        await hangs.do(f"look {to}")
        return "seen"

    late = ToolCall("l", "look", '{"to": "ann"}')
    executor = ToolExecutor(ToolCatalog([paying(hangs, timeout=5), look]), timeout=5)
    told: list[str] = []

    @node
    async def first(step: Step[Job]) -> Complete[None]:
        hangs.at.add("look ann")
        for calls in ([*pay("ann"), late], [*pay("ann", "bob"), late]):
            told.extend(result.status for result in await executor.run(calls))
        return Complete(None)

    @node
    async def second(step: Step[Job]) -> Complete[list[str]]:
        call = ToolCall("again", "pay", '{"cents": 1, "to": "ann"}')
        results = await executor.run([call])
        assert "nobody knows whether it was done" in results[0].text
        return Complete([*told, *(result.status for result in results)])

    flow = Flow("shop", Flow("one", first).as_node("one", state=Job).to(second), second)
    async with flow.start(Job(), clock=clock) as run:
        await hangs.begun.wait()
        await clock.advance(6)
        result = await run.wait()
    assert result.value == ["unknown", "timeout", "denied", "ok", "ok", "denied"]
    assert hangs.did == ["pay ann", "look ann", "pay bob", "look ann"]


@pytest.mark.behaviour("S1-21")
@pytest.mark.parametrize(("found", "status", "did"), [(True, "ok", 1), (False, "ok", 2), (None, "denied", 1)])
async def test_a_second_equal_call_is_looked_after_first(
    store: RunStore, found: bool | None, status: str, did: int
) -> None:
    hangs, clock, says = Hangs({"pay ann"}), FakeClock(), [None, found]
    flow = shop(paying(hangs, lambda to, cents: says.pop(0), timeout=5), pay("ann"), pay("ann"))
    async with flow.start(Job(), store=store, clock=clock, run_id=RUN) as run:
        await hangs.begun.wait()
        await clock.advance(6)
        await run.answer((await asked(run)).id, Verification(None))
        with anyio.fail_after(10):
            result = await run.wait()
    assert [each[0] for each in result.value or []] == ["unknown", status]
    assert len(hangs.did) == did
    kept = [row.status for row in (await store.load(RUN)).calls]
    assert kept[0] == {True: "done", False: "failed", None: "unknown"}[found]


@pytest.mark.behaviour("S1-21")
async def test_what_is_unknown_bars_equal_calls_after_a_resume_too(store: RunStore) -> None:
    hangs, clock = Hangs({"pay ann", "wait"}), FakeClock()
    executor = ToolExecutor(ToolCatalog([paying(hangs, timeout=5)]))

    @node
    async def one(step: Step[Job]) -> Complete[None]:
        await executor.run(pay("ann"))
        return Complete(None)

    @node
    async def two(step: Step[Job]) -> Complete[list[str]]:
        await hangs.do("wait")
        return Complete([result.status for result in await executor.run(pay("ann", "bob"))])

    flow = Flow("shop", Flow("one", one).as_node("one", state=Job).to(two), two)
    async with flow.start(Job(), store=store, clock=clock, run_id=RUN) as run:
        await hangs.begun.wait()
        hangs.begun = anyio.Event()
        await clock.advance(6)
        await run.answer((await asked(run)).id, Verification(None))
        await hangs.begun.wait()
        await run.pause()
        await run.resume()
        with anyio.fail_after(10):
            result = await run.wait()
    assert result.value == ["denied", "ok"]

    hangs.at, hangs.begun, hangs.did = {"pay ann", "wait"}, anyio.Event(), []
    other = store_of("memory", Path())
    async with flow.start(Job(), store=other, clock=clock, run_id=RUN) as run:
        await hangs.begun.wait()
        hangs.begun = anyio.Event()
        await clock.advance(6)
        await run.answer((await asked(run)).id, Verification(None))
        await hangs.begun.wait()
        await run.pause()
        await other.release(RUN, (await other.run(RUN)).owner)
        again = await resumed(flow, other, clock)
        await run.cancel()
    assert again.value == ["denied", "ok"]
    assert hangs.did == ["pay ann", "wait", "wait", "pay bob"]


async def test_a_node_with_a_retry_does_not_run_its_calls_with_effects_again() -> None:
    hangs = Hangs()
    executor = ToolExecutor(ToolCatalog([paying(hangs)]))

    @node
    async def go(step: Step[Job]) -> Complete[list[str]]:
        results = [await executor.run(pay("ann")), await executor.run(pay("ann"))]
        if step.attempt < 3:
            raise ValueError("not yet")
        return Complete([each[0].text for each in results])

    flow = Flow("shop", go.using(retry=Retry(attempts=3)))
    result = await flow.run(Job(), check=False)
    assert result.value == ["paid ann", "paid ann"]  # two equal calls are two calls, in every attempt
    assert (hangs.did, result.usage.tool_calls) == (["pay ann", "pay ann"], 2)


async def test_a_call_that_was_cut_off_by_the_timeout_of_its_node_is_unknown_to_the_next_attempt() -> None:
    hangs, clock = Hangs({"pay ann"}), FakeClock()
    executor = ToolExecutor(ToolCatalog([paying(hangs)]))

    @node
    async def go(step: Step[Job]) -> Complete[list[str]]:
        return Complete([result.status for result in await executor.run(pay("ann"))])

    async with Flow("shop", go.using(timeout=5, retry=Retry(attempts=2))).start(Job(), clock=clock) as run:
        await hangs.begun.wait()
        await clock.advance(6)
        result = await run.wait()
    assert (result.value, hangs.did) == (["unknown"], ["pay ann"])


async def test_an_approved_call_is_not_asked_about_again_and_its_twin_is(store: RunStore) -> None:
    hangs, clock = Hangs({"wait"}), FakeClock()

    @tool
    async def wait() -> None:
        """Waits."""
        await hangs.do("wait")

    def policy(proposal: Any) -> Any:
        return Ask("May it?") if proposal.tool.effects else Allow()

    one, waits = [ToolCall("c", "pay", '{"to": "ann"}')], [ToolCall("w", "wait", "{}")]
    flow = shop([paying(hangs), wait], one, waits, one, policy=policy)
    async with flow.start(Job(), store=store, clock=clock, run_id=RUN) as run:
        await run.answer((await asked(run)).id, True)
        await hangs.begun.wait()
        await run.pause()
        await run.resume()
        request = await asked(run)
        assert hangs.did == ["pay ann", "wait", "wait"]
        await run.answer(request.id, False)
        with anyio.fail_after(10):
            result = await run.wait()
    assert [status for status, _ in result.value or []] == ["ok", "ok", "denied"]
    assert hangs.did == ["pay ann", "wait", "wait"]


async def test_an_unknown_outcome_that_fails_its_visit_does_so_after_a_resume_too(store: RunStore) -> None:
    hangs, clock = Hangs({"pay ann"}), FakeClock()
    flow = shop(paying(hangs, on_failure="fail"), pay("ann"), retry=Retry(attempts=3))
    await killed_at(hangs, flow, store, clock)

    async def failing(run: Run[Any]) -> None:
        await run.answer((await asked(run)).id, Verification(None))

    again = await resumed(flow, store, clock, failing)
    assert isinstance(again.result.failure.exception, OutcomeUnknown)  # type: ignore[union-attr]
    assert hangs.did == ["pay ann"]


@pytest.mark.behaviour("S1-29", "S0-33")
async def test_late_tools_and_looks_change_nothing(store: RunStore) -> None:
    clock, late = FakeClock(), anyio.Event()
    did: list[str] = []

    def look(to: str, cents: int) -> bool:
        did.append("looked")
        return True

    @tool(effects=True, verify=look)
    async def pay(to: str, cents: int = 1) -> str:
        """Pays."""
        did.append("began")
        with anyio.CancelScope(shield=True):
            await late.wait()
        did.append("ended")  # outside it has happened, whatever became of the run
        return "paid"

    flow = shop(pay, [ToolCall("c", "pay", '{"to": "ann"}')])
    async with flow.start(Job(), store=store, clock=clock, run_id=RUN, grace=1.0) as run:
        while not did:
            await anyio.lowlevel.checkpoint()
        async with anyio.create_task_group() as group:
            group.start_soon(run.cancel, "interrupt")
            await clock.advance(3)
        before = await store.load(RUN)
        result = await run.wait()
        late.set()
        await clock.settle()
        kinds = [event.kind async for event in run.events()]
    assert (result.status, result.reason) == ("cancelled", "interrupt")
    assert did == ["began", "ended"]
    assert [kind for kind in kinds if kind in ("run.completed", "run.failed", "run.cancelled")] == kinds[-1:]
    assert kinds[-1] == "run.cancelled"
    assert await store.load(RUN) == before
    assert [row.status for row in before.calls] == ["unknown"]


@pytest.mark.behaviour("S1-20", "A89")
def test_a_killed_process_has_paid_once(tmp_path: Path) -> None:
    database, seen = tmp_path / "runs.db", tmp_path / "seen"
    assert process(__file__, str(database), str(seen), "dies") == 9
    assert process(__file__, str(database), str(seen), "") == 0
    assert seen.read_text() == "pay ann\npay bob\n"


async def _child(database: str, seen: Path, dies: str) -> None:
    hangs = Hangs()

    async def do(name: str) -> None:
        with seen.open("a") as file:
            file.write(f"{name}\n")
        if name == "pay bob":
            os._exit(9)

    hangs.do = do  # type: ignore[method-assign]
    flow = shop(paying(hangs, lambda to, cents: to in seen.read_text()), pay("ann"), pay("bob"))
    store, clock = SQLiteRunStore(database), FakeClock()
    if dies:
        await flow.run(Job(), store=store, run_id=RUN, clock=clock)
    await clock.advance(60)
    told = await flow.resume(RUN, store=store, clock=clock)
    assert [status for status, _ in told] == ["ok", "ok"], told


if __name__ == "__main__":
    anyio.run(_child, sys.argv[1], Path(sys.argv[2]), sys.argv[3])
