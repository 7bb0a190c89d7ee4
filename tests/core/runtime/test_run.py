"""The run: what it takes, what it gives back, and that runs of one flow know nothing of one another."""

from __future__ import annotations

import asyncio  # noqa: TID251 - the way its users cancel a task
import contextvars
import threading
from typing import Any, Literal

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from pydantic import Field

from flowcore import Budget, Complete, Continue, ContractError, Flow, Run, RunResult, Step, node, result_of

from ..runs import Boom, chain, does, ends, raising
from ..states import Note


class Client:
    def __init__(self, name: str) -> None:
        self.name = name


@node
async def wants_client(step: Step[Note, Client]) -> Complete[str]:
    return Complete(step.deps.name)


@node
async def number(step: Step[Note]) -> Complete[int]:
    await anyio.lowlevel.checkpoint()
    step.state.words.append(str(step.state.number))
    return Complete(step.state.number)


# ---- What a run takes --------------------------------------------------------------------------------------


async def test_deps_reach_the_nodes() -> None:
    assert await Flow("f", wants_client).run(Note(), deps=Client("c")) == "c"


@pytest.mark.parametrize("deps", [None, "client", Client], ids=["missing", "of another type", "the class"])
async def test_deps_that_no_node_can_use_are_refused_before_anything_runs(deps: Any) -> None:
    flow = Flow("f", wants_client)
    with pytest.raises(ContractError, match=r"wants_client wants deps of type Client, not .*: pass deps="):
        await flow.run(Note(), deps=deps)


async def test_deps_are_tried_for_nodes_inside_sub_flows_too() -> None:
    end = ends(Note)
    inner = Flow("inner", wants_client)
    with pytest.raises(ContractError, match="in/wants_client wants deps of type Client"):
        await Flow("f", inner.as_node("in").to(end), end).run(Note())


@pytest.mark.behaviour("S2-11")
@pytest.mark.parametrize(
    "state", [None, {}, "text", Note, object()], ids=["None", "dict", "text", "class", "object"]
)
async def test_a_state_of_another_type_is_refused_before_anything_runs(state: Any) -> None:
    ran: list[str] = []
    flow = Flow("f", does(lambda step: Complete(ran.append("ran")), "only", Note, Complete[None]))
    with pytest.raises(ContractError, match="flow 'f' wants a state of type Note, not "):
        await flow.run(state)
    assert ran == []


async def test_a_state_of_a_subclass_is_taken_and_given_back_as_what_it_is() -> None:
    class More(Note):
        extra: list[int] = Field(default=[])

    def act(step: Any) -> None:
        step.state.extra.append(1)

    result = await chain(Note, act).run(More(number=2), check=False)
    assert type(result.state) is More
    assert result.state == More(number=2, extra=[1])


# ---- What it gives back ------------------------------------------------------------------------------------


async def test_run_gives_the_value_and_check_false_the_result() -> None:
    flow = Flow("f", number)
    assert await flow.run(Note(number=3)) == 3
    result = await flow.run(Note(number=3), check=False)
    assert isinstance(result, RunResult)
    assert (result.status, result.value, result.failure, result.exhausted) == ("completed", 3, None, None)
    assert (result.state, result.usage.rounds, len(result.trace)) == (Note(number=3, words=["3"]), 1, 1)


async def test_check_false_returns_a_failed_run_and_raises_nothing() -> None:
    end = ends(Note)
    result = await Flow("f", does(raising(), "bad", Note).to(end), end).run(Note(), check=False)
    assert (result.status, result.value) == ("failed", None)
    assert result.failure is not None
    assert (result.failure.path, result.failure.type) == ("bad#1", "Boom")


async def test_each_run_has_an_id_of_its_own_or_the_one_it_was_given() -> None:
    seen: list[str] = []
    flow = chain(Note, lambda step: seen.append(step.run_id))
    await flow.run(Note())
    await flow.run(Note())
    await flow.run(Note(), run_id="mine")
    assert len(set(seen)) == 3
    assert seen[2] == "mine"


# ---- One flow, many runs -----------------------------------------------------------------------------------


@pytest.mark.behaviour("S2-16", "A143")
async def test_fifty_runs_of_one_flow_at_once_do_not_meet() -> None:
    flow = chain(Note, *[lambda step: count(step)] * 3, value=lambda step: step.state.number)
    values: dict[int, int] = {}

    async def count(step: Any) -> None:
        before = step.state.number
        await anyio.lowlevel.checkpoint()
        step.state.number = before + 1000

    async def one(number: int) -> None:
        values[number] = await flow.run(Note(number=number))

    async with anyio.create_task_group() as tasks:
        for item in range(50):
            tasks.start_soon(one, item)
    assert values == {item: item + 3000 for item in range(50)}


@pytest.mark.behaviour("S2-16", "A143")
async def test_runs_of_one_flow_share_neither_counts_nor_limits_nor_records() -> None:
    seen: dict[str, list[tuple[int, int, int, int]]] = {}
    results: dict[str, RunResult[Any]] = {}

    async def act(step: Any) -> Any:
        used = step.scope.used
        seen[step.run_id].append((step.visit, step.round, used.rounds, used.requests))
        step.scope.charge(requests=1)
        while min(map(len, seen.values())) < step.visit:
            await anyio.lowlevel.checkpoint()
        return Continue("done" if step.visit == 3 else "more")

    again = does(act, "again", Note, Continue[Literal["more", "done"]])
    end = ends(Note)
    flow = Flow("f", again.to(more=again, done=end).using(max_visits=3), end)

    async def one(run_id: str) -> None:
        budget = Budget(rounds=3, requests=3)
        results[run_id] = await flow.run(Note(), run_id=run_id, budget=budget, check=False)

    for run_ids in (["one", "two"], ["after"]):
        seen = {run_id: [] for run_id in run_ids}
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                for run_id in run_ids:
                    tasks.start_soon(one, run_id)
        assert seen == {run_id: [(1, 1, 1, 0), (2, 2, 2, 1), (3, 3, 3, 2)] for run_id in run_ids}
    for run_id in ("one", "two", "after"):
        assert (results[run_id].status, results[run_id].trace.run_id) == ("completed", run_id)
        assert results[run_id].trace.path == "again > again > again > end"


@pytest.mark.behaviour("S2-16")
async def test_a_flow_is_frozen() -> None:
    flow = Flow("f", number)
    for change in (lambda: setattr(flow, "name", "g"), lambda: setattr(flow, "_plan", None)):
        with pytest.raises(AttributeError):
            change()
    assert flow.nodes == ("number",)


@pytest.mark.behaviour("S2-16")
def test_rows_are_values_and_a_route_changes_nothing() -> None:
    end = ends(Note)
    first = does(lambda step: None, "first", Note)
    row = first.to(end).using(timeout=1).on_error(end).named("other")
    assert (first.routes, first.errors, first.id, row.id) == ((), (), "first", "other")
    assert first.is_reference


# ---- From synchronous code ---------------------------------------------------------------------------------


def test_run_sync_does_what_run_does() -> None:
    flow = Flow("f", number)
    assert flow.run_sync(Note(number=4)) == 4
    assert flow.run_sync(Note(), check=False).status == "completed"
    end = ends(Note)
    with pytest.raises(Boom) as caught:
        Flow("f", does(raising(), "bad", Note).to(end), end).run_sync(Note())
    assert result_of(caught.value).status == "failed"


async def test_run_sync_inside_a_running_loop_is_one_clear_error() -> None:
    with pytest.raises(ContractError) as caught:
        Flow("f", number).run_sync(Note())
    assert "use `await flow.run(...)` there" in str(caught.value)


async def test_run_sync_in_a_worker_thread_is_allowed() -> None:
    assert await anyio.to_thread.run_sync(lambda: Flow("f", number).run_sync(Note(number=6))) == 6


def test_run_sync_has_told_its_observers_everything_when_it_returns() -> None:
    seen: list[str] = []

    async def slow(event: Any) -> None:
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        seen.append(event.kind)

    Flow("f", number).run_sync(Note(), observers=[slow])
    assert seen[-1] == "run.completed"


# ---- Threads and context -----------------------------------------------------------------------------------


async def test_a_plain_function_runs_in_a_worker_thread() -> None:
    @node
    def where(step: Step[Note]) -> Complete[int]:
        step.state.number = 1
        return Complete(threading.get_ident())

    result = await Flow("f", where).run(Note(), check=False)
    assert result.value != threading.get_ident()
    assert result.state.number == 1


variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


@node
def in_a_thread(step: Step[Note]) -> Continue:
    step.state.words.append(variable.get())
    variable.set("thread")
    return Continue()


async def test_the_callers_variables_are_seen_beneath_and_what_a_run_sets_stays_in_it() -> None:
    def sets(step: Any) -> None:
        step.state.words.append(variable.get())
        variable.set("node")

    def looks(step: Any) -> None:
        step.state.words.append(variable.get())

    end = ends(Note)
    first, last = does(sets, "first", Note), does(looks, "last", Note)
    flow = Flow("f", first.to(in_a_thread), in_a_thread.to(last), last.to(end), end)
    token = variable.set("caller")
    result = await flow.run(Note(), check=False)
    assert result.state.words == ["caller", "node", "node"]
    assert variable.get() == "caller"
    variable.reset(token)


# ---- Ended from outside ------------------------------------------------------------------------------------


def waiting(at: int, started: anyio.Event) -> Flow[Any, Any, Any]:
    """Returns a flow of three nodes of which number `at` waits for ever."""

    def act(place: int) -> Any:
        async def node(step: Any) -> None:
            step.state.words.append(str(place))
            if place == at:
                started.set()
                await anyio.sleep_forever()

        return node

    return chain(Note, *[act(place) for place in (1, 2, 3)])


@pytest.mark.behaviour("S2-30", "A55")
@pytest.mark.parametrize("at", [1, 2, 3])
async def test_a_cancelled_caller_cancels_the_run_at_every_position(at: int) -> None:
    started = anyio.Event()
    caught: list[BaseException] = []
    seen: list[str] = []

    async def call() -> None:
        try:
            await waiting(at, started).run(Note(), observers=[lambda event: seen.append(event.kind)])
        except BaseException as error:
            caught.append(error)
            raise

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await started.wait()
        tasks.cancel_scope.cancel()
    [error] = caught
    assert isinstance(error, anyio.get_cancelled_exc_class())
    result = result_of(error)
    assert (result.status, result.reason, result.stragglers) == ("cancelled", "user", ())
    assert result.state.words == [str(place) for place in range(1, at)]
    assert seen[-1] == "run.cancelled"
    assert "run.completed" not in seen


@pytest.mark.behaviour("A57")
async def test_a_cancelled_run_stops_at_the_next_node_though_the_wait_had_just_ended() -> None:
    released, ran = anyio.Event(), []

    async def waits(step: Any) -> None:
        await released.wait()

    flow = chain(Note, waits, lambda step: ran.append("next"))
    async with flow.start(Note()) as run:
        await anyio.lowlevel.checkpoint()
        released.set()
        await run.cancel()
        result = await run.wait()
    assert (result.status, ran) == ("cancelled", [])


@pytest.mark.behaviour("S2-30")
async def test_a_node_that_swallows_a_cancellation_does_not_turn_it_into_an_answer() -> None:
    started, ran = anyio.Event(), []

    async def stubborn(step: Any) -> None:
        step.state.number = 9
        started.set()
        try:
            await anyio.sleep_forever()
        except BaseException:
            ran.append("swallowed")

    flow = chain(Note, stubborn, lambda step: ran.append("next"))
    async with flow.start(Note()) as run:
        await started.wait()
        await run.cancel("stop")
        result = await run.wait()
    assert (result.status, result.reason, result.state, ran) == ("cancelled", "stop", Note(), ["swallowed"])


@pytest.mark.parametrize("observers", [[], [lambda event: None]], ids=["unwatched", "watched"])
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_interrupt_in_a_node_comes_out_as_it_is_and_the_run_is_cancelled(backend: str, observers: Any) -> None:
    end = ends(Note)
    flow = Flow("f", does(raising(error=KeyboardInterrupt("ctrl-c")), "bad", Note).to(end).on_error(end), end)
    results: list[Any] = []

    async def main() -> None:
        try:
            await flow.run(Note(), observers=observers)
        except KeyboardInterrupt as error:
            results.append(result_of(error))

    anyio.run(main, backend=backend)
    [result] = results
    assert (result.status, result.reason, result.trace.path) == ("cancelled", "interrupt", "bad!")
    if backend == "asyncio":
        with pytest.raises(KeyboardInterrupt):
            flow.run_sync(Note())


def test_an_asyncio_task_that_is_cancelled_is_cancelled() -> None:
    async def main() -> bool:
        started = anyio.Event()
        task = asyncio.ensure_future(waiting(2, started).run(Note()))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        return result_of(caught.value).status == "cancelled"

    assert asyncio.run(main())


@pytest.mark.behaviour("S2-30")
async def test_leaving_a_handle_early_cancels_and_waits() -> None:
    started = anyio.Event()
    async with waiting(2, started).start(Note()) as run:
        assert isinstance(run, Run)
        await started.wait()
    result = await run.wait()
    assert (result.status, result.reason, result.state.words) == ("cancelled", "user", ["1"])


def test_a_flow_cannot_be_taken_apart() -> None:
    flow = Flow("f", ends(Note))
    with pytest.raises(AttributeError):
        del flow._plan
