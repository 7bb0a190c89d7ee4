"""What is sent again, after what pause, and what never is."""

from __future__ import annotations

import socket
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowcore import Budget, BudgetExhausted, ContractError, Retry, Scope
from flowcore.errors import ContextOverflow, ModelError, ModelRequestError, ModelTimeout
from flowcore.messages import Chunk, ModelReply, TokenUsage
from flowcore.models import ModelRunner
from flowcore.testing import FakeClock, ScriptedLine, ScriptedModel

TRANSIENT: list[Exception] = [
    ModelRequestError("too many requests", status=429, retryable=True),
    ModelRequestError("down", status=503, retryable=True),
    ModelRequestError("broken", status=500, retryable=True),
    ModelRequestError("no such host", retryable=True),
    socket.gaierror(-2, "Name or service not known"),
    ConnectionResetError("reset by peer"),
    ConnectionRefusedError("refused"),
    ModelTimeout("no answer within 30 s", 30),
]
LASTING: list[Exception] = [
    ModelRequestError("invalid", status=400),
    ModelRequestError("invalid, and wrongly marked", status=400, retryable=True),
    ModelRequestError("who are you?", status=401),
    ModelRequestError("not you", status=403),
    ModelRequestError("not here", status=404),
    ModelRequestError("TLS failed"),
    ModelRequestError("not made", status=501),
    ContextOverflow("too long"),
    ContractError("broken"),
    BudgetExhausted("tokens", 5, 5),
    ValueError("a fault of the model's own code"),
]
NAMES = {"ids": lambda error: f"{type(error).__name__}-{error}"[:40]}


class NotingClock(FakeClock):
    """A clock that notes for how long it was slept on."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await super().sleep(seconds)


async def asked(runner: ModelRunner, clock: NotingClock, **options: Any) -> tuple[Any, list[float]]:
    """Returns the reply, or the error, and the pauses before it."""
    outcome: Any = None

    async def go_on() -> None:
        while True:
            await clock.jump()

    async with anyio.create_task_group() as group:
        group.start_soon(go_on)
        try:
            outcome = await runner.invoke("hello", **options)
        except Exception as error:
            outcome = error
        group.cancel_scope.cancel()
    return outcome, clock.slept


def runner_for(model: ScriptedModel, clock: NotingClock, **options: Any) -> ModelRunner:
    return ModelRunner(model, **{"clock": clock, "timeout": None, "piece_timeout": None, **options})


@pytest.mark.behaviour("S0-42")
@pytest.mark.parametrize("error", TRANSIENT, **NAMES)
async def test_what_fails_for_a_while_is_sent_again_after_growing_pauses(error: Exception) -> None:
    clock, model = NotingClock(), ScriptedModel([error] * 4 + ["never"])
    async with Scope() as scope:
        runner = runner_for(model, clock, retry=Retry(attempts=4, wait=1.0))
        outcome, pauses = await asked(runner, clock)
    assert outcome is error
    assert len(model.requests) == scope.used.requests == 4
    assert len(pauses) == 3
    for pause, most in zip(pauses, [1, 2, 4], strict=True):
        assert most / 2 <= pause <= most


@pytest.mark.behaviour("S0-43")
@pytest.mark.parametrize("error", LASTING, **NAMES)
async def test_what_will_fail_again_is_not_sent_again(error: Exception) -> None:
    clock, model = NotingClock(), ScriptedModel([error, "never"])
    async with Scope() as scope:
        outcome, pauses = await asked(runner_for(model, clock), clock)
    assert outcome is error
    assert (len(model.requests), scope.used.requests, pauses) == (1, 1, [])


async def test_pauses_are_not_all_alike() -> None:
    seen = set()
    for _ in range(5):
        clock = NotingClock()
        async with Scope():
            runner = runner_for(ScriptedModel([TRANSIENT[0], "yes"]), clock, retry=Retry(attempts=2, wait=1.0))
            _, pauses = await asked(runner, clock)
        seen.update(pauses)
    assert len(seen) == 5


@pytest.mark.parametrize(("after", "pause"), [(7.0, 7.0), (7_000.0, 30.0), (0.0, None), (None, None)])
async def test_a_server_that_says_how_long_to_wait_is_heeded_up_to_the_longest_pause(
    after: float | None, pause: float | None
) -> None:
    error = ModelRequestError("too many", status=429, retryable=True, retry_after=after)
    clock, model = NotingClock(), ScriptedModel([error, "yes"])
    async with Scope():
        runner = runner_for(model, clock, retry=Retry(attempts=2, wait=1.0, max_wait=30.0))
        outcome, pauses = await asked(runner, clock)
    assert outcome.text == "yes"
    assert len(pauses) == 1
    assert pauses[0] == pause if pause is not None else 0.5 <= pauses[0] <= 1


async def test_a_step_that_took_too_long_is_sent_again() -> None:
    clock = NotingClock()
    model = ScriptedModel([ScriptedLine("late", wait=100), "in time"], clock=clock)
    async with Scope() as scope:
        runner = runner_for(model, clock, timeout=30)
        outcome, pauses = await asked(runner, clock)
    assert (outcome.text, sorted(pauses)[-2:], scope.used.requests, model.open) == ("in time", [30, 100], 2, 0)


async def test_without_a_policy_nothing_is_sent_again() -> None:
    clock, model = NotingClock(), ScriptedModel([TRANSIENT[0], "never"])
    async with Scope():
        outcome, _ = await asked(runner_for(model, clock, retry=None), clock)
    assert outcome is TRANSIENT[0]
    assert len(model.requests) == 1


async def test_the_policy_may_name_fewer_errors() -> None:
    clock, model = NotingClock(), ScriptedModel([ConnectionResetError("reset"), "never"])
    async with Scope():
        outcome, _ = await asked(runner_for(model, clock, retry=Retry(attempts=3, on=(ModelTimeout,))), clock)
    assert isinstance(outcome, ConnectionResetError)


async def test_each_attempt_needs_a_request_of_the_budget() -> None:
    clock, model = NotingClock(), ScriptedModel([TRANSIENT[0]] * 3)
    async with Scope(Budget(requests=2)) as scope:
        outcome, _ = await asked(runner_for(model, clock, retry=Retry(attempts=5)), clock)
    assert isinstance(outcome, BudgetExhausted)
    assert len(model.requests) == scope.used.requests == 2


@pytest.mark.behaviour("S0-43")
async def test_a_cancellation_while_pausing_ends_the_pause_and_sends_nothing() -> None:
    clock, model = NotingClock(), ScriptedModel([TRANSIENT[0], "never"])
    runner = runner_for(model, clock, retry=Retry(attempts=2, wait=10.0))
    async with Scope() as scope, anyio.create_task_group() as group:
        group.start_soon(runner.invoke, "hello")
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert (len(model.requests), scope.used.requests) == (1, 1)


# ---- Streams -----------------------------------------------------------------------------------------------


async def test_a_stream_that_breaks_before_its_first_piece_is_sent_again() -> None:
    seen: list[str] = []

    async def sink(chunk: Chunk) -> None:
        seen.append(chunk.text)

    clock = NotingClock()
    model = ScriptedModel([ConnectionResetError("reset"), "all is well"])
    async with Scope() as scope:
        outcome, _ = await asked(runner_for(model, clock), clock, sink=sink)
    assert outcome.text == "".join(seen) == "all is well"
    assert scope.used.requests == 2


@pytest.mark.parametrize("error", [TRANSIENT[1], ConnectionResetError("reset by peer"), TRANSIENT[-1]], **NAMES)
async def test_a_stream_that_breaks_later_is_not_sent_again_and_the_error_says_so(error: Exception) -> None:
    seen: list[str] = []

    async def sink(chunk: Chunk) -> None:
        seen.append(chunk.text)

    clock, model = NotingClock(), ScriptedModel([ScriptedLine("so far so good", breaks=error), "never"])
    async with Scope() as scope:
        outcome, _ = await asked(runner_for(model, clock), clock, sink=sink)
    assert isinstance(outcome, ModelTimeout if isinstance(error, ModelTimeout) else ModelRequestError)
    told = "4 pieces of the answer had been handed to the sink, so the request was not sent again"
    assert str(outcome) == f"{error}; {told}"
    assert outcome.__cause__ is error
    assert getattr(outcome, "status", None) == getattr(error, "status", None)
    assert ("".join(seen), len(model.requests), scope.used.requests) == ("so far so good", 1, 1)


# ---- Any mix -----------------------------------------------------------------------------------------------

usual = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
answers = st.one_of(
    st.sampled_from(TRANSIENT), st.sampled_from(LASTING), st.just(ModelReply("yes", TokenUsage(3, 1), cost=0.5))
)


@usual
@given(st.lists(answers, min_size=1, max_size=8), st.integers(1, 5), st.integers(0, 6), st.booleans())
def test_in_any_mix_what_is_sent_is_what_is_charged(
    lines: list[Any], attempts: int, limit: int, streams: bool
) -> None:
    async def sink(chunk: Chunk) -> None: ...

    async def play() -> None:
        clock, model = NotingClock(), ScriptedModel([*lines, ValueError("out of lines")])
        async with Scope(Budget(requests=limit)) as scope:
            runner = runner_for(model, clock, retry=Retry(attempts=attempts, wait=1.0))
            outcome, pauses = await asked(runner, clock, sink=sink if streams else None)
        sent = len(model.requests)
        assert sent == scope.used.requests <= min(attempts, limit)
        refused = isinstance(outcome, BudgetExhausted) and outcome.dimension == "requests"
        assert len(pauses) == max(0, sent - 1 + (refused and sent > 0))
        for line in lines[: max(0, sent - 1)]:
            assert line in TRANSIENT
        if isinstance(outcome, ModelReply):
            assert (outcome.text, scope.used.tokens, scope.used.cost) == ("yes", 4, 0.5)
            assert lines[sent - 1].text == "yes"
        else:
            assert isinstance(outcome, ModelError | OSError | ContractError | BudgetExhausted | ValueError)
            assert (scope.used.tokens, scope.used.cost) == (0, 0.0)

    anyio.run(play)
