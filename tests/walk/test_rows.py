"""One budget, one cancellation, one ending: each promise shown once, by the smallest flow that shows it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

import anyio
import anyio.lowlevel
import pytest
from tests.core.runs import Boom, does, ends
from tests.stepping import StepClock, living, passes, quiet_down

from flowcore import (
    Budget,
    BudgetExhausted,
    Complete,
    Continue,
    ContractError,
    Flow,
    FlowcoreError,
    NodeTimeout,
    Reserve,
    Retry,
    Run,
    Scope,
    Step,
    current_scope,
    node,
    result_of,
)
from flowcore.events import Event, ModelFinished
from flowcore.messages import ModelReply, TokenUsage
from flowcore.models import ModelRunner
from flowcore.testing import ScriptedModel


@dataclass
class State:
    log: list[str] = field(default_factory=list)
    text: str = ""


def alone(act: Callable[[Any], Any], **options: Any) -> Flow[Any, Any, Any]:
    """Returns a flow of the one node `a`, which completes with what `act(step)` returns."""

    async def complete(step: Any) -> Any:
        returned = act(step)
        if hasattr(returned, "__await__"):
            returned = await returned
        return Complete(returned)

    return Flow("alone", does(complete, "a", State, Complete[Any], **options))


def loop(act: Callable[[Any], Any], times: int) -> Flow[Any, Any, Any]:
    """Returns a flow whose node `a` is entered so many times, each for a round."""

    async def again(step: Any) -> Any:
        returned = act(step)
        if hasattr(returned, "__await__"):
            await returned
        return Complete(step.visit) if step.visit == times else Continue()

    a = does(again, "a", State, Continue | Complete[int], starts_round=True)
    return Flow("loop", a.to(a))


def kit(model: Any, calls: int) -> Flow[Any, Any, Any]:
    """A kit: a function that returns a flow. It asks a model so many times."""
    runner = ModelRunner(model)

    async def ask(step: Any) -> str:
        replies = [await runner.invoke("hello") for _ in range(calls)]
        return replies[-1].text

    return alone(ask)


def inside(flow: Flow[Any, Any, Any], budget: Budget | None = None) -> Flow[Any, Any, Any]:
    """Returns a flow in which the flow stands as the node `part`; every error leads to `end`."""
    end = ends(State)
    return Flow("outer", flow.as_node("part", state=State, budget=budget).to(end).on_error(end), end)


async def told(flow: Flow[Any, Any, Any], **options: Any) -> tuple[Any, list[Event]]:
    async with flow.start(State(), **options) as run:
        return await run.wait(), [event async for event in run.events()]


# ---- Kits --------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("S2-08", "A27")
@pytest.mark.parametrize("limit", [0, 3, 10, 11])
async def test_what_a_kit_asks_is_paid_from_the_budget_around_it(limit: int) -> None:
    model = ScriptedModel(["yes"] * 20)
    result = await inside(kit(model, calls=10)).run(State(), budget=Budget(requests=limit), check=False)
    assert len(model.requests) == result.usage.requests == min(limit, 10)
    assert result.trace.path == ("part(a) > end" if limit >= 10 else "part!(a!) > end")
    if limit < 10:
        error = result.trace[0].failure.exception  # type: ignore[union-attr]
        assert isinstance(error, BudgetExhausted)
        assert (error.dimension, error.limit, error.used, error.path) == ("requests", limit, limit, "")


@pytest.mark.behaviour("S2-09", "A37")
async def test_the_cancellation_of_a_run_reaches_the_model_call_of_a_kit_and_takes_no_route() -> None:
    seen: list[type[BaseException]] = []

    class Waiting:
        async def complete(self, request: Any) -> ModelReply:
            try:
                await anyio.sleep_forever()
            except BaseException as error:
                seen.append(type(error))
                raise

    async with inside(kit(Waiting(), calls=2)).start(State()) as run:
        await passes(20)
        await run.cancel()
        result = await run.wait()
    assert seen == [anyio.get_cancelled_exc_class()]
    assert (result.status, result.trace.path, result.usage.requests) == ("cancelled", "part!(a!)", 1)


@pytest.mark.behaviour("S2-10")
@pytest.mark.parametrize(
    ("act", "kind", "code"),
    [
        (lambda step: step.scope.charge(requests=9), BudgetExhausted, "budget_exhausted"),
        (lambda step: anyio.sleep(10), NodeTimeout, "node_timeout"),
        (lambda step: current_scope().charge(rounds=9), BudgetExhausted, "budget_exhausted"),
    ],
)
async def test_a_kit_fails_with_the_errors_of_the_core(act: Any, kind: type[FlowcoreError], code: str) -> None:
    a = does(act, "a", State, Complete[Any])
    flow = inside(Flow("kit", a.using(timeout=0.01)))
    with pytest.raises(kind) as caught:
        await Flow("bare", a.using(timeout=0.01)).run(State(), budget=Budget(requests=5, rounds=5))
    result = await flow.run(State(), budget=Budget(requests=5, rounds=5), check=False)
    failure = result.trace[0].failure
    assert failure is not None
    assert type(failure.exception) is type(caught.value) is kind
    assert failure.code == caught.value.code == code


@pytest.mark.behaviour("S2-13", "S2-14")
@pytest.mark.parametrize("proposed", ["delete", "part", "a", "end", "", "a/b"])
async def test_a_model_that_names_a_node_makes_none_and_is_not_followed(proposed: str) -> None:
    async def ask(step: Any) -> Any:
        reply = await ModelRunner(ScriptedModel([proposed])).invoke("where to?")
        return Continue(reply.text)

    a = does(ask, "a", State, Continue[Literal["good"]])
    end = ends(State, lambda step: "ended")
    flow = Flow("f", a.to(good=end).on_error(end), end)
    nodes, signature, plan = flow.nodes, flow.signature, flow.to_json()
    result = await flow.run(State(), check=False)
    assert (result.status, result.trace.path) == ("failed", "a!")
    assert result.failure is not None
    assert result.failure.code == "contract"
    assert (flow.nodes, flow.signature, flow.to_json()) == (nodes, signature, plan)
    with pytest.raises(AttributeError, match="cannot be changed"):
        flow.nodes = ()  # type: ignore[misc]


# ---- Rounds, visits, exhaustion ----------------------------------------------------------------------------


@pytest.mark.behaviour("S2-26", "A37")
@pytest.mark.parametrize("default", [True, False])
async def test_a_node_that_cannot_be_paid_is_not_run_and_no_error_route_takes_it(default: bool) -> None:
    seen: list[str] = []
    a = does(lambda step: None, "a", State)
    b = does(lambda step: seen.append("b"), "b", State, starts_round=True)
    x = does(lambda step: seen.append("x") or Complete(1), "x", State, Complete[int])
    row = b.to(x) if default else b.to(x).on_error(x)
    flow = Flow("f", a.to(b), row, x, on_error=x if default else None)
    with pytest.raises(BudgetExhausted) as caught:
        await flow.run(State(), budget=Budget(rounds=1))
    assert seen == []
    assert (caught.value.dimension, result_of(caught.value).trace.path) == ("rounds", "a")


@pytest.mark.behaviour("A13", "A21")
@pytest.mark.parametrize("limit", range(7))
async def test_a_limit_that_ends_a_run_is_said_and_one_that_is_just_enough_is_not(limit: int) -> None:
    flow = loop(lambda step: step.state.log.append("x"), times=5)
    result, events = await told(flow, budget=Budget(rounds=limit))
    if limit >= 5:
        assert (result.status, result.exhausted, result.value) == ("completed", None, 5)
    else:
        assert (result.status, result.exhausted, result.value) == ("failed", "rounds", None)
        assert isinstance(result.failure.exception, BudgetExhausted)
        assert events[-1].exhausted == "rounds"  # type: ignore[attr-defined]
        assert [event.dimension for event in events if event.kind == "budget.exhausted"] == ["rounds"]  # type: ignore[attr-defined]
    assert result.state.log == ["x"] * min(limit, 5)
    assert result.usage.rounds == min(limit, 5)


@pytest.mark.behaviour("A15")
async def test_rounds_go_on_counting_and_attempts_begin_anew() -> None:
    seen: list[tuple[int, int, int]] = []

    def act(step: Any) -> None:
        seen.append((step.round, step.visit, step.attempt))
        if step.attempt < 3:
            raise Boom

    async def again(step: Any) -> Any:
        act(step)
        return Complete(None) if step.visit == 2 else Continue()

    a = does(again, "a", State, Continue | Complete[None])
    result = await Flow("f", a.to(a).using(retry=Retry(attempts=3))).run(State(), check=False)
    assert seen == [(1, 1, 1), (1, 1, 2), (1, 1, 3), (2, 2, 1), (2, 2, 2), (2, 2, 3)]
    assert [visit.attempts for visit in result.trace] == [3, 3]
    assert result.usage.rounds == 2


@pytest.mark.behaviour("A17")
async def test_a_visit_too_many_takes_the_over_limit_route_and_costs_nothing() -> None:
    draft = does(lambda step: None, "draft", State)
    repair = does(lambda step: None, "repair", State, starts_round=True)
    end = ends(State, lambda step: (step.error, step.exhausted))
    flow = Flow("f", draft.to(repair), repair.to(draft).using(max_visits=2).over_limit(end), end)
    result = await flow.run(State(), budget=Budget(rounds=20), check=False)
    assert result.trace.path == "draft > repair > draft > repair > draft > repair- > end"
    assert (result.status, result.value, result.exhausted) == ("completed", (None, None), None)
    assert result.usage.rounds == 5


@pytest.mark.behaviour("A19")
@pytest.mark.parametrize("budget", [None, Budget(rounds=3), Budget(rounds=50)])
async def test_what_remains_never_grows_at_whatever_depth(budget: Budget | None) -> None:
    seen: list[Any] = []
    look = lambda step: seen.append(step.scope.remaining["rounds"])  # noqa: E731
    part = loop(look, times=3).as_node("part", state=State, budget=budget)
    before, after = does(look, "before", State), does(look, "after", State)
    end = ends(State)
    flow = Flow("f", before.to(part), part.to(after), after.to(end), end)
    await flow.run(State(), budget=Budget(rounds=9))
    assert seen == ([8, 2, 1, 0, 5] if budget == Budget(rounds=3) else [8, 7, 6, 5, 5])


# ---- Time --------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("S0-27")
@pytest.mark.parametrize(
    ("timeout", "limit", "ended", "why"),
    [
        (5.0, {"budget": Budget(seconds=2)}, 2.0, "seconds"),
        (5.0, {"deadline": timedelta(seconds=2)}, 2.0, "seconds"),
        (5.0, {"budget": Budget(seconds=9), "deadline": timedelta(seconds=2)}, 2.0, "seconds"),
        (5.0, {"budget": Budget(seconds=2), "deadline": timedelta(seconds=9)}, 2.0, "seconds"),
        (1.0, {"budget": Budget(seconds=2)}, 1.0, None),
    ],
)
async def test_the_tighter_of_timeout_budget_and_deadline_wins(
    timeout: float, limit: dict[str, Any], ended: float, why: str | None
) -> None:
    clock = StepClock()
    if "deadline" in limit:
        limit = {**limit, "deadline": clock.utcnow() + limit["deadline"]}
    a = does(lambda step: clock.sleep(100), "a", State, Complete[Any]).using(timeout=timeout)
    async with Flow("f", a).start(State(), clock=clock, **limit) as run:
        await passes(10)
        for _ in range(20):
            if clock.now >= ended:
                break
            clock.step_towards(ended)
            await passes(10)
        result = await run.wait()
    assert (result.status, result.exhausted, clock.now, result.usage.seconds) == ("failed", why, ended, ended)
    assert result.failure is not None
    assert result.failure.type == ("BudgetExhausted" if why else "NodeTimeout")


@pytest.mark.behaviour("A35", "A141")
@pytest.mark.parametrize("seconds", [0.5, 1.0])
async def test_the_target_of_an_error_route_has_its_timeout_and_the_budget_holds(
    seconds: float,
) -> None:
    clock = StepClock()

    def fail(step: Any) -> None:
        raise Boom

    x = does(fail, "x", State)
    h = does(lambda step: clock.sleep(10), "h", State)
    g = ends(State, lambda step: (clock.now, step.error.type))
    flow = Flow("f", x.to(g).on_error(h), h.to(g).on_error(g), g, node_timeout=0.7)
    async with flow.start(State(), clock=clock, budget=Budget(seconds=seconds)) as run:
        await passes(10)
        while clock.tick():
            await passes(10)
        result = await run.wait()
    if seconds > 0.7:
        assert (result.status, result.value) == ("completed", (0.7, "NodeTimeout"))
    else:
        assert (result.status, result.exhausted, clock.now) == ("failed", "seconds", 0.5)
        assert result.trace.path == "x! > h!"


@pytest.mark.behaviour("A41", "A141")
@pytest.mark.parametrize("how", ["raises", "times out"])
async def test_a_retry_repeats_its_node_alone(how: str) -> None:
    clock = StepClock()
    outside: list[str] = []

    async def flaky(step: Any) -> None:
        outside.append(f"x{step.attempt}")
        step.state.log.append(f"x{step.attempt}")
        if step.attempt < 3:
            await (clock.sleep(100) if how == "times out" else anyio.lowlevel.checkpoint())
            raise Boom

    before = does(lambda step: outside.append("before"), "before", State)
    x = does(flaky, "x", State)
    end = ends(State)
    row = x.to(end).using(timeout=1, retry=Retry(attempts=3, wait=0.5))
    async with Flow("f", before.to(x), row, end).start(State(), clock=clock) as run:
        await passes(10)
        while clock.tick():
            await passes(10)
        result = await run.wait()
        kinds = [event.kind async for event in run.events()]
    assert outside == ["before", "x1", "x2", "x3"]
    assert result.state.log == ["x3"]
    assert [(visit.attempts, len(visit.retried)) for visit in result.trace] == [(1, 0), (3, 2), (1, 0)]
    assert kinds.count("node.retrying") == 2
    assert result.usage.seconds == (3.5 if how == "times out" else 1.5)
    assert result.usage.rounds == 1


# ---- Events ------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("S4-04", "S4-06")
async def test_the_first_event_names_run_and_flow_and_all_others_come_after_it() -> None:
    def act(step: Any) -> None:
        step.state.text = "running"
        step.emit("recalled", 3)
        step.artifact("notes", "text")

    result, events = await told(alone(act), run_id="run-7")
    first = events[0]
    assert (first.kind, first.run_id, first.seq, first.flow) == ("run.started", "run-7", 1, "alone")  # type: ignore[attr-defined]
    assert {event.run_id for event in events} == {"run-7"}
    assert [event.kind for event in events[1:]] == [
        "round.started", "node.started", "custom", "artifact.added", "state.patched", "node.finished",
        "run.completed",
    ]  # fmt: skip
    assert result.trace.run_id == "run-7"


@pytest.mark.behaviour("S4-11", "S4-12")
@pytest.mark.parametrize("how", ["completed", "failed", "cancelled"])
async def test_steps_are_numbered_and_ended_and_are_those_of_the_trace(how: str) -> None:
    async def act(step: Any) -> None:
        if step.visit == 3 and how == "failed":
            raise Boom
        if step.visit == 3 and how == "cancelled":
            await anyio.sleep_forever()

    async with loop(act, times=4).start(State()) as run:
        await passes(40)
        if how == "cancelled":
            await run.cancel()
        result = await run.wait()
        events = [event async for event in run.events()]
    began = [event.path for event in events if event.kind == "node.started"]
    over = [event.path for event in events if event.kind in ("node.finished", "node.failed")]
    assert began == over == [visit.path for visit in result.trace]
    assert [visit.number for visit in result.trace] == list(range(1, len(began) + 1))
    assert result.status == how


@pytest.mark.behaviour("S4-18")
@pytest.mark.parametrize("known", [True, False])
async def test_usage_is_told_and_where_the_model_says_nothing_of_it_estimated(known: bool) -> None:
    reply = ModelReply("yes", TokenUsage(10, 5), cost=0.25) if known else ModelReply("yes")
    result = await kit(ScriptedModel([reply]), calls=1).run(State(), check=False)
    (finished,) = [note for note in result.trace.notes if note.event is ModelFinished]
    used = (result.usage.requests, result.usage.tokens, result.usage.cost, finished.values["estimated"])
    assert used == ((1, 15, 0.25, False) if known else (1, 13, 0.0, True))


@pytest.mark.behaviour("S4-19")
async def test_a_failed_run_has_failed_whatever_it_wrote() -> None:
    def write(step: Any) -> None:
        step.state.text = "An answer that looks whole."

    def fail(step: Any) -> None:
        raise Boom("no")

    a, b = does(write, "a", State), does(fail, "b", State, Complete[Any])
    result, events = await told(Flow("f", a.to(b), b))
    assert (result.status, result.value, result.state.text) == ("failed", None, "An answer that looks whole.")
    assert events[-1].kind == "run.failed"


# ---- Observers ---------------------------------------------------------------------------------------------


class Observers:
    """Observers that do every wrong thing."""

    def __init__(self) -> None:
        self.run: Run[Any] | None = None
        self.calls = 0
        self.gate = anyio.Event()

    async def slow(self, event: Event) -> None:
        self.calls += 1
        await self.gate.wait()

    def raises(self, event: Event) -> None:
        self.calls += 1
        raise Boom(event.kind)

    async def raises_later(self, event: Event) -> None:
        self.calls += 1
        await anyio.lowlevel.checkpoint()
        raise Boom(event.kind)

    def blocks(self, event: Event) -> None:
        self.calls += 1
        threading.Event().wait(0.001)

    def interrupts(self, event: Event) -> None:
        self.calls += 1
        raise SystemExit(3)

    async def gives_up(self, event: Event) -> None:
        self.calls += 1
        with anyio.CancelScope() as scope:
            scope.cancel()
            await anyio.sleep_forever()

    async def wrong(self) -> None:
        """Takes no event."""


WRONG = ["slow", "raises", "raises_later", "blocks", "interrupts", "gives_up", "wrong"]


@pytest.mark.behaviour("S2-32")
@pytest.mark.parametrize("kind", WRONG)
async def test_an_observer_can_neither_change_a_run_nor_another_observer(kind: str) -> None:
    alive = living()
    observers = Observers()
    seen: list[str] = []
    flow = inside(loop(lambda step: anyio.lowlevel.checkpoint(), times=3))
    plain, events = await told(flow)
    result, others = await told(flow, observers=[getattr(observers, kind), lambda event: seen.append(event.kind)])
    await quiet_down(alive + (kind == "slow"))
    kinds = [event.kind for event in events]
    assert (result.status, result.value, result.trace.path) == (plain.status, plain.value, plain.trace.path)
    assert seen == [event.kind for event in others] == kinds
    observers.gate.set()
    await quiet_down(alive)
    assert living() == alive
    assert observers.calls in (
        (0,) if kind == "wrong" else (1, len(kinds)) if kind == "interrupts" else (len(kinds),)
    )


async def test_an_observer_may_cancel_the_run_that_it_observes() -> None:
    box: list[Run[Any]] = []
    after: list[str] = []

    async def cancel(event: Event) -> None:
        if event.kind == "node.finished":
            await box[0].cancel("stop")
            after.append((await box[0].wait()).status)

    async with loop(lambda step: anyio.lowlevel.checkpoint(), times=1000).start(
        State(), budget=Budget(rounds=None), observers=[cancel]
    ) as run:
        box.append(run)
        with anyio.fail_after(5):
            result = await run.wait()
        await passes(20)
    assert (result.status, result.reason) == ("cancelled", "stop")
    assert set(after) == {"cancelled"}


async def test_an_observer_of_run_sync_has_seen_the_end_when_it_returns() -> None:
    def sync() -> list[str]:
        seen: list[str] = []

        async def slow(event: Event) -> None:
            await anyio.sleep(0.001)
            seen.append(event.kind)

        alone(lambda step: "x").run_sync(State(), observers=[slow])
        return seen

    assert (await anyio.to_thread.run_sync(sync))[-1] == "run.completed"


# ---- Context variables -------------------------------------------------------------------------------------

colour: ContextVar[str] = ContextVar("colour", default="none")


async def test_the_callers_context_is_seen_everywhere_and_what_a_run_sets_stays_in_it() -> None:
    seen: list[str] = []

    def look(step: Any) -> None:
        seen.append(f"{step.path} {colour.get()}")

    async def paint(step: Any) -> None:
        look(step)
        colour.set("green")

    def in_thread(step: Any) -> Any:
        look(step)
        colour.set("blue")
        return Continue()

    in_thread.__annotations__.update(step=Step[State], **{"return": Continue})
    a, b, c = does(paint, "a", State), node(id="b")(in_thread), does(look, "c", State)
    inner = alone(look).as_node("part", state=State)
    end = ends(State)
    flow = Flow("f", a.to(b), b.to(c), c.to(inner), inner.to(end), end)
    token = colour.set("red")
    try:
        observed: list[str] = []
        await flow.run(State(), observers=[lambda event: observed.append(colour.get())])
        assert colour.get() == "red"
    finally:
        colour.reset(token)
    assert seen == ["a#1 red", "b#1 green", "c#1 green", "part#1/a#1 green"]
    assert set(observed) == {"red"}
    with pytest.raises(LookupError):
        current_scope()


@pytest.mark.behaviour("A143")
async def test_many_runs_of_one_flow_at_once_keep_apart() -> None:
    async def act(step: Any) -> None:
        colour.set(step.state.text)
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
            assert colour.get() == step.state.text
        step.scope.charge(requests=int(step.state.text))
        step.state.log.append(step.state.text)

    flow = loop(act, times=3)
    results: dict[int, Any] = {}
    before = flow.signature

    async def one(number: int) -> None:
        results[number] = await flow.run(State(text=str(number)), check=False)

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(one, number)
    for number, result in results.items():
        assert (result.status, result.state.log) == ("completed", [str(number)] * 3)
        assert (result.usage.requests, result.usage.rounds) == (3 * number, 3)
    assert len(results) == 50
    assert flow.signature == before


# ---- Bad input ---------------------------------------------------------------------------------------------


NAN = float("nan")


@pytest.mark.parametrize("kind", [Budget, Reserve])
@pytest.mark.parametrize("name", ["rounds", "requests", "tool_calls", "tokens", "cost", "seconds"])
@pytest.mark.parametrize(
    ("limit", "error"),
    [
        (-1, ValueError),
        (float("nan"), ValueError),
        ("3", TypeError),
        (True, TypeError),
        ([], TypeError),
        (1.5, None),
    ],
)
def test_a_limit_that_is_none_is_refused_when_it_is_made(kind: Any, name: str, limit: Any, error: Any) -> None:
    fraction = name in ("cost", "seconds")
    if error is None and fraction:
        assert getattr(kind(**{name: limit}), name) == limit
        return
    if isinstance(limit, float) and not fraction:
        error = TypeError
    with pytest.raises(error or TypeError, match=name):
        kind(**{name: limit})


@pytest.mark.parametrize("name", ["rounds", "requests", "tool_calls", "tokens"])
async def test_a_limit_of_zero_refuses_the_first_use(name: str) -> None:
    def act(step: Any) -> None:
        if name == "tokens":
            step.scope.charge(requests=1)
        step.scope.charge(**{name: 1})

    result = await alone(act).run(State(), budget=Budget(**{name: 0}), check=False)  # type: ignore[arg-type]
    assert (result.status, result.exhausted, getattr(result.usage, name)) == ("failed", name, 0)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"budget": {"rounds": 3}}, TypeError),
        ({"budget": 5}, TypeError),
        ({"deadline": "tomorrow"}, TypeError),
        ({"observers": [3]}, TypeError),
        ({"grace": -1}, ValueError),
        ({"grace": float("nan")}, ValueError),
        ({"grace": None}, TypeError),
    ],
)
async def test_an_option_of_the_wrong_kind_is_refused_before_anything_runs(
    options: dict[str, Any], error: type[Exception]
) -> None:
    called: list[str] = []
    with pytest.raises(error, match=next(iter(options))):
        await alone(lambda step: called.append("a")).run(State(), **options)
    assert called == []


@pytest.mark.parametrize("how", ["completed", "failed", "cancelled"])
async def test_a_scope_that_is_used_after_its_run_refuses_with_one_clear_error(how: str) -> None:
    kept: list[Scope] = []

    async def act(step: Any) -> None:
        kept.append(step.scope)
        step.scope.charge(requests=1)
        if how == "failed":
            raise Boom
        if how == "cancelled":
            await anyio.sleep_forever()

    async with alone(act).start(State(), budget=Budget(requests=5)) as run:
        await passes(10)
        if how == "cancelled":
            await run.cancel()
        result = await run.wait()
    for use in (lambda: kept[0].charge(requests=1), lambda: kept[0].add(tokens=1)):
        with pytest.raises(ContractError):
            use()
    assert not kept[0].can_invoke()
    assert (kept[0].used.requests, result.usage.requests) == (1, 1)


async def test_run_sync_inside_a_loop_says_what_to_do() -> None:
    called: list[str] = []
    with pytest.raises(ContractError, match=r"await flow\.run"):
        alone(lambda step: called.append("a")).run_sync(State())
    assert called == []


async def test_a_step_is_no_outcome_not_even_that_of_another_run() -> None:
    kept: list[Any] = []
    await alone(kept.append).run(State())

    async def act(step: Any) -> Any:
        kept[0].emit("late")
        kept[0].state.log.append("late")
        return kept[0]

    end = ends(State)
    flow = Flow("f", does(act, "a", State, Continue).to(end).on_error(end), end)
    result, events = await told(flow)
    assert (result.status, result.failure.code, result.trace.path) == ("failed", "contract", "a!")
    assert "custom" not in [event.kind for event in events]
    assert result.state.log == []


async def test_a_state_of_another_run_may_be_put_in_place_and_is_not_shared() -> None:
    kept: list[Any] = []
    await alone(lambda step: kept.append(step.state)).run(State(text="first"))

    def take(step: Any) -> None:
        step.state = State(log=["mine"], text="second")

    end = ends(State)
    flow = Flow("f", does(take, "a", State).to(end), end)
    start = State()
    result = await flow.run(start, check=False)
    assert (result.state, start) == (State(log=["mine"], text="second"), State())
    assert kept[0].text == "first"


# ---- The finish path ---------------------------------------------------------------------------------------


def finishing(reserve: Reserve, finish: Callable[[Any], Any] | None = None) -> Flow[Any, Any, Any]:
    """Returns a flow that spends requests without end, and its finish, which spends one."""

    def spend(step: Any) -> None:
        step.state.log.append("spent")
        step.scope.charge(requests=1)

    def last(step: Any) -> Any:
        step.scope.charge(requests=1)
        return Complete((step.exhausted, step.error, len(step.state.log)))

    a = does(spend, "a", State, starts_round=True)
    b = does(lambda step: Continue(), "b", State, Continue | Complete[Any])
    fin = does(finish or last, "fin", State, Complete[Any])
    return Flow("f", a.to(b), b.to(a), fin, finish=fin, reserve=reserve)


@pytest.mark.parametrize(
    ("budget", "reserve", "dimension", "spent"),
    [
        (Budget(rounds=3), Reserve(), "rounds", 3),
        (Budget(requests=4), Reserve(requests=1), "requests", 3),
        (Budget(rounds=9, requests=6), Reserve(requests=2), "requests", 4),
    ],
)
@pytest.mark.parametrize("place", ["run", "part"])
async def test_what_runs_out_leads_to_the_finish_once_and_its_reserve_is_kept_for_it(
    budget: Budget, reserve: Reserve, dimension: str, spent: int, place: str
) -> None:
    flow = finishing(reserve)
    if place == "part":
        values: list[Any] = []

        def leave(draft: State, value: Any) -> Continue:
            values.append(value)
            return Continue()

        end = ends(State)
        part = flow.as_node("part", state=State, enter=lambda state: State(), leave=leave, budget=budget)
        result = await Flow("outer", part.to(end), end).run(State(), budget=Budget(rounds=50), check=False)
        assert (result.status, result.exhausted) == ("completed", None)
        value = values[0]
    else:
        result = await flow.run(State(), budget=budget, check=False)
        assert (result.status, result.exhausted) == ("completed", dimension)
        value = result.value
    assert value == (dimension, None, spent)
    assert sum(visit.node == "fin" for visit in result.trace) == 1
    assert result.usage.requests == spent + 1


async def test_a_finish_that_runs_out_itself_fails_and_is_not_entered_again() -> None:
    def greedy(step: Any) -> None:
        step.scope.charge(requests=2)

    result = await finishing(Reserve(requests=1), greedy).run(State(), budget=Budget(requests=3), check=False)
    assert (result.status, result.exhausted) == ("failed", "requests")
    assert result.trace.path.endswith("a! > fin!")
    assert result.usage.requests == 2


@pytest.mark.parametrize("seconds", [0.0, 1.0])
@pytest.mark.parametrize("stays", [0.5, 1.5])
async def test_time_leads_to_the_finish_only_where_time_is_held_back_for_it(seconds: float, stays: float) -> None:
    clock = StepClock()

    async def fin(step: Any) -> Any:
        await clock.sleep(stays)
        return Complete((step.exhausted, clock.now))

    a = does(lambda step: clock.sleep(100), "a", State, Continue)
    last = does(fin, "fin", State, Complete[Any])
    end = ends(State)
    flow = Flow("f", a.to(end), end, last, finish=last, reserve=Reserve(seconds=seconds))
    async with flow.start(State(), clock=clock, budget=Budget(seconds=4)) as run:
        await passes(10)
        while clock.now < 4 and run.trace.notes[-1].event.kind not in ("run.failed", "run.completed"):
            clock.step_towards(4)
            await passes(20)
        result = await run.wait()
    if seconds > stays:
        assert (result.status, result.value, result.exhausted) == ("completed", ("seconds", 3.5), "seconds")
    else:
        assert (result.status, result.exhausted, clock.now) == ("failed", "seconds", 4.0)
        assert result.trace.path == ("a! > fin!" if seconds else "a!")


async def test_a_reserve_larger_than_its_budget_is_refused_at_the_start() -> None:
    with pytest.raises(ValueError, match="reserve of 5 requests is more than the budget of 4"):
        await finishing(Reserve(requests=5)).run(State(), budget=Budget(requests=4))
    part = finishing(Reserve(requests=5))
    result = await inside(part, Budget(requests=4)).run(State(), check=False)
    assert result.trace[0].failure is not None
    assert result.trace[0].failure.type == "ValueError"


async def test_a_nested_run_gives_back_what_it_held_and_did_not_spend() -> None:
    seen: list[Any] = []

    async def call(step: Any) -> None:
        for _ in range(3):
            seen.append(step.scope.remaining["requests"])
            await finishing(Reserve(requests=2)).run(State(), budget=Budget(rounds=1))

    await alone(call).run(State(), budget=Budget(requests=20))
    assert seen == [20, 18, 16]


async def test_a_finish_path_can_invoke_what_is_held_back_for_it() -> None:
    seen: list[Any] = []

    def fin(step: Any) -> Any:
        seen.append((step.scope.can_invoke(), step.scope.can_invoke(requests=2), step.scope.remaining["requests"]))
        step.scope.charge(requests=1)
        return Complete(None)

    part = finishing(Reserve(requests=1), fin)
    await inside(part, Budget(requests=3)).run(State(), budget=Budget(requests=3))
    await part.run(State(), budget=Budget(requests=3))
    assert seen == [(True, False, 1)] * 2


async def test_a_reserve_is_not_refused_to_the_finish_path_by_an_answer_that_overran() -> None:
    async def spend(step: Any) -> Any:
        async with step.scope.request() as request:
            request.used(tokens=200)
        return Continue()

    async def fin(step: Any) -> Any:
        async with step.scope.request() as request:
            request.used(tokens=5)
        return Complete(step.exhausted)

    a = does(spend, "a", State, Continue | Complete[Any])
    last = does(fin, "fin", State, Complete[Any])
    flow = Flow("f", a.to(a), last, finish=last, reserve=Reserve(requests=1, tokens=20))
    result = await flow.run(State(), budget=Budget(requests=5, tokens=100), check=False)
    assert (result.status, result.value, result.exhausted) == ("completed", "tokens", "tokens")
    assert (result.usage.requests, result.usage.tokens) == (2, 205)


# ---- Budgets are told of -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "each"), [("requests", 1), ("tool_calls", 1), ("tokens", 10), ("cost", 0.5)])
async def test_four_fifths_of_a_limit_are_told_once(name: str, each: float) -> None:
    def act(step: Any) -> None:
        step.scope.charge(**{name: each})

    _, events = await told(loop(act, times=5), budget=Budget(**{name: 5 * each}))  # type: ignore[arg-type]
    warned = [event for event in events if event.kind == "budget.warned"]
    assert [(event.dimension, event.used) for event in warned] == [(name, 4 * each)]  # type: ignore[attr-defined]


async def test_another_function_under_a_node_leaves_the_flow_as_it_is() -> None:
    flow = loop(lambda step: None, times=3)
    other = does(lambda step: Complete(99), "a", State, Continue | Complete[int], starts_round=True)
    assert (await flow.replace(a=other).run(State()), await flow.run(State())) == (99, 3)
