"""Ends that nobody wishes for: guards, timeouts, failures, a budget that runs out."""

from __future__ import annotations

from types import SimpleNamespace as Kit
from typing import Any

import pytest

from flowcore import Budget, BudgetExhausted, Reserve
from flowcore.errors import ModelRequestError, ModelTimeout, NodeTimeout, ToolError
from flowcore.events import ToolWarned
from flowcore.messages import Message
from flowcore.testing import FakeClock, FlowRunner, ScriptedLine
from flowcore.tools import tool
from flowcore_agent import AgentLimits, Issue
from flowcore_agent.loop.ask import CUT_SHORT

REFUSED = ModelRequestError("400: the tool 'look' has no valid schema", status=400)
BUSY = ModelRequestError("429: too many requests", status=429, retryable=True)


@tool
async def look(at: int = 0) -> str:
    """Look."""
    return f"seen {at}"


@tool
async def listen() -> str:
    """Listen."""
    return "heard"


def looks(kit: Kit, count: int, text: str = "") -> list[Any]:
    return [kit.calls(kit.call("look", f'{{"at": {n}}}', f"c{n}"), text=text) for n in range(count)]


# ---- Repetition ---------------------------------------------------------------------------------------------


@pytest.mark.behaviour("S0-34")
async def test_the_same_call_is_skipped_from_the_third_time_on(kit: Kit) -> None:
    same = [kit.call("look", text, f"c{n}") for n, text in enumerate(('{"at": 1}', '{ "at":1 }') * 2)]
    lines: list[Any] = [
        kit.calls(same[0]),
        kit.calls(same[1]),
        kit.calls(same[2], "listen"),
        kit.calls(same[3]),
        "So.",
    ]
    result = await kit.Desk(lines, [look, listen]).run()
    said = (
        "Skipped: look was called with the same arguments {} times."
        " Use the earlier result, or change the arguments."
    )
    assert kit.results(result.value) == ["seen 1", "seen 1", said.format(3), "heard", said.format(4)]
    assert result.value.reason == "answer"


@pytest.mark.behaviour("S0-34", "S0-39")
async def test_what_was_compacted_still_counts_as_said_before(kit: Kit) -> None:
    desk = kit.Desk([*looks(kit, 1), "So."], [look])
    state = desk.state()
    for n in range(2):
        state.turns.extend(
            [
                Message("assistant", "", (kit.call("look", '{"at": 0}', f"x{n}"),)),
                Message("tool", "seen 0", tool_call_id=f"x{n}"),
            ]
        )
    state.compacted = 4
    result = await desk.flow.run(state, check=False)
    assert "3 times" in kit.results(result.value)[-1]


@pytest.mark.behaviour("S0-35", "S1-15")
async def test_one_tool_again_and_again_is_warned_of_and_then_ends_the_loop(kit: Kit) -> None:
    desk = kit.Desk([*looks(kit, 7), "Enough."], [look])
    heard: list[Any] = []
    async with desk.flow.start(desk.state()) as run:
        async for event in run.events():
            heard += [event.turns] if isinstance(event, ToolWarned) else []
        result = await run.wait()
    assert heard == [5]
    assert len(desk.requests) == 8
    assert desk.requests[7].tools == ()
    assert kit.results(result.value)[6] == (
        "Skipped: look was called in 7 replies in a row. Answer now with what you have."
    )
    assert (result.value.text, result.value.reason) == ("Enough.", "repetition")


@pytest.mark.behaviour("S0-36", "S0-37")
async def test_the_numbers_of_the_guard_can_be_set_and_switched_off(kit: Kit) -> None:
    tight = AgentLimits(same_call=None, same_tool_warn=None, same_tool_end=2)
    desk = kit.Desk([*looks(kit, 2), "Enough."], [look], spec={"limits": tight})
    assert (await desk.run()).value.reason == "repetition"
    off = AgentLimits(same_call=None, same_tool_warn=None, same_tool_end=None)
    desk = kit.Desk([kit.calls("look") for _ in range(13)], [look], spec={"limits": off})
    result = await desk.run(budget=Budget(tool_calls=9))
    assert result.usage.tool_calls == 9  # a limit holds without the guard
    assert result.exhausted == "tool_calls"


async def test_a_model_that_calls_only_what_is_not_there_is_ended_by_the_guard(kit: Kit) -> None:
    lines = [kit.calls(kit.call("vanish", f'{{"n": {n}}}', f"c{n}")) for n in range(7)]
    desk = kit.Desk([*lines, "I cannot."], [look])
    result = await desk.run()
    assert (result.value.text, result.value.reason) == ("I cannot.", "repetition")
    assert result.usage.tool_calls == 0


# ---- Timeouts and failures of tools -------------------------------------------------------------------------


@pytest.mark.behaviour("S0-28", "S0-29", "S0-30")
@pytest.mark.parametrize(("own", "limit", "seconds"), [(None, {}, 60), (None, {"tool_timeout": 5}, 5), (3, {}, 3)])
async def test_a_tool_has_its_own_time_else_that_of_the_loop(kit: Kit, own: Any, limit: Any, seconds: int) -> None:
    clock = FakeClock()

    @tool(timeout=own)
    async def sleep() -> None:
        """Sleep."""
        await clock.sleep(1_000)

    runner = FlowRunner(backend="asyncio")
    desk = kit.Desk([kit.calls("sleep"), "Late."], [sleep], clock=clock, spec={"limits": AgentLimits(**limit)})
    result = await runner.run(desk.flow, desk.state(), clock=clock)
    assert kit.results(result.value) == [
        f"It took longer than {seconds} s and was stopped. Try something smaller, or go on without it."
    ]
    assert result.usage.seconds == pytest.approx(seconds)
    assert result.value.reason == "answer"


@pytest.mark.behaviour("S0-44")
async def test_a_tool_that_raises_is_told_to_the_model(kit: Kit) -> None:
    def broken() -> None:
        """Break."""
        raise OSError("no disk")

    result = await kit.Desk([kit.calls("broken", "listen"), "It broke."], [broken, listen]).run()
    assert kit.results(result.value) == ["It failed: OSError: no disk", "heard"]
    assert result.value.reason == "answer"


@pytest.mark.behaviour("S0-46")
async def test_a_tool_whose_failure_ends_the_visit_leaves_what_was_said(kit: Kit) -> None:
    @tool(on_failure="fail")
    def broken() -> None:
        """Break."""
        raise OSError("no disk")

    result = await kit.Desk([kit.calls("broken", text="I look it up.")], [broken]).run()
    assert (result.value.text, result.value.reason, result.value.is_partial) == ("I look it up.", "failed", True)
    assert kit.results(result.value) == [CUT_SHORT]
    assert result.value.issues == (Issue("tools", "act#1", "ToolError: broken: It failed: OSError: no disk"),)
    with pytest.raises(ToolError, match="no disk"):
        await kit.Desk([kit.calls("broken")], [broken]).flow.run(kit.Desk([]).state())


# ---- Failures of the model ----------------------------------------------------------------------------------


@pytest.mark.behaviour("S0-43", "S0-46", "S3-23")
@pytest.mark.parametrize("status", [400, 401, 403])
async def test_what_is_refused_is_not_sent_again_and_fails_with_the_models_error(kit: Kit, status: int) -> None:
    desk = kit.Desk([ModelRequestError("refused: tools[0] look: no valid schema", status=status)], [look])
    with pytest.raises(ModelRequestError, match="tools\\[0\\] look") as caught:
        await desk.flow.run(desk.state())
    assert caught.value.status == status
    assert len(desk.requests) == 1


@pytest.mark.behaviour("S0-46")
async def test_text_that_was_said_before_a_failure_is_kept_as_partial(kit: Kit) -> None:
    desk = kit.Desk([*looks(kit, 1, "Let me look."), REFUSED], [look])
    result = await desk.run()
    assert result.status == "completed"
    assert result.path == "trim > think > act > trim > think! > salvage > end"
    assert (result.value.text, result.value.reason, result.value.is_partial) == ("Let me look.", "failed", True)
    assert result.value.issues == (Issue("model", "think#2", f"ModelRequestError: {REFUSED}"),)
    failed = [visit for visit in result.trace if visit.failure is not None]
    assert [visit.failure.code for visit in failed] == ["model_request"]


@pytest.mark.behaviour("S0-45", "S0-46")
async def test_of_a_stream_that_breaks_what_was_seen_is_kept(kit: Kit) -> None:
    seen: list[str] = []

    async def sink(chunk: Any) -> None:
        seen.append(chunk.text)

    line = ScriptedLine(pieces=("It is ", "four"), breaks=ModelRequestError("the stream broke", text="It is four"))
    desk = kit.Desk([line], spec={"sink": sink}, runner={"retry": None})
    async with desk.flow.start(desk.state()) as run:
        kinds = [event.kind async for event in run.events()]
        result = await run.wait()
    assert "".join(seen) == "It is four"
    assert kinds[-1] == "run.completed"
    assert (result.value.text, result.value.is_partial) == ("It is four", True)


async def test_the_answer_goes_to_the_sink_piece_by_piece(kit: Kit) -> None:
    seen: list[str] = []

    async def sink(chunk: Any) -> None:
        seen.append(chunk.text)

    result = await kit.Desk([*looks(kit, 1, "I look."), "It is four."], [look], spec={"sink": sink}).run()
    assert [text for text in seen if text] == ["I", " look.", "It", " is", " four."]
    assert result.value.text == "It is four."


@pytest.mark.behaviour("S0-42")
async def test_a_model_that_is_busy_is_asked_again_after_a_pause(kit: Kit) -> None:
    clock = FakeClock()
    desk = kit.Desk([BUSY, BUSY, "At last."], clock=clock)
    result = await FlowRunner().run(desk.flow, desk.state(), clock=clock)
    assert (result.value.text, len(desk.requests)) == ("At last.", 3)
    assert (result.usage.rounds, result.usage.requests) == (1, 3)
    assert result.usage.seconds > 0.5


@pytest.mark.behaviour("S0-27")
@pytest.mark.parametrize(("budget", "error"), [(None, NodeTimeout), (2, BudgetExhausted)])
async def test_a_turn_has_its_time_and_a_tighter_deadline_wins(kit: Kit, budget: Any, error: Any) -> None:
    clock = FakeClock()
    desk = kit.Desk([ScriptedLine("Late.", wait=100)], clock=clock, spec={"limits": AgentLimits(turn_timeout=5)})
    result = await FlowRunner().run(desk.flow, desk.state(), clock=clock, budget=Budget(seconds=budget))
    assert result.status == "failed"
    assert result.failure.code == error.code
    assert result.usage.seconds == pytest.approx(budget or 5)


@pytest.mark.behaviour("S0-27")
async def test_the_turn_that_wraps_up_has_no_more_time_than_another(kit: Kit) -> None:
    clock = FakeClock()
    lines = [*looks(kit, 1, "I look."), ScriptedLine("Late.", wait=100)]
    desk = kit.Desk(lines, [look], clock=clock, spec={"limits": AgentLimits(turns=1, turn_timeout=5)})
    result = await FlowRunner().run(desk.flow, desk.state(), clock=clock)
    assert (result.value.text, result.value.reason, result.value.is_partial) == ("I look.", "failed", True)
    assert result.usage.seconds == pytest.approx(5)


@pytest.mark.behaviour("S0-27", "S0-42")
async def test_the_runners_own_time_is_tried_again(kit: Kit) -> None:
    clock = FakeClock()
    lines = [ScriptedLine("Late.", wait=100), "In time."]
    desk = kit.Desk(lines, clock=clock, runner={"timeout": 10.0})
    result = await FlowRunner().run(desk.flow, desk.state(), clock=clock)
    assert result.value.text == "In time."
    assert ModelTimeout.code == "model_timeout"


# ---- A budget that runs out ---------------------------------------------------------------------------------


@pytest.mark.behaviour("S0-46", "S1-15")
@pytest.mark.parametrize(
    ("budget", "dimension"),
    [
        (Budget(rounds=2), "rounds"),
        (Budget(requests=2), "requests"),
        (Budget(tool_calls=1), "tool_calls"),
        (Budget(tokens=200), "tokens"),
    ],
)
async def test_a_budget_that_runs_out_ends_with_what_was_said(kit: Kit, budget: Budget, dimension: str) -> None:
    desk = kit.Desk(looks(kit, 6, "I look on."), [look])
    result = await desk.run(budget=budget)
    assert (result.status, result.exhausted) == ("completed", dimension)
    assert (result.value.text, result.value.reason, result.value.is_partial) == ("I look on.", "exhausted", True)
    assert result.value.turn[-1].role == "tool"


async def test_a_budget_that_runs_out_with_nothing_said_fails_with_the_limit(kit: Kit) -> None:
    desk = kit.Desk(looks(kit, 3), [look])
    with pytest.raises(BudgetExhausted, match="the rounds ran out: 2 of 2 used"):
        await desk.flow.run(desk.state(), budget=Budget(rounds=2))


async def test_with_a_reserve_the_model_is_asked_once_more(kit: Kit) -> None:
    limits = AgentLimits(reserve=Reserve(requests=1, rounds=1))
    desk = kit.Desk([*looks(kit, 2), "As far as I came."], [look], spec={"limits": limits})
    result = await desk.run(budget=Budget(rounds=3, requests=10))
    assert result.path == "trim > think > act > trim > think > act > trim > wrap_up > end"
    assert (result.exhausted, result.value.reason) == ("rounds", "exhausted")
    assert (result.value.text, result.value.is_partial) == ("As far as I came.", False)
    assert desk.requests[2].tools == ()


async def test_with_seconds_in_reserve_running_out_of_time_leaves_what_was_said(kit: Kit) -> None:
    clock = FakeClock()
    limits = AgentLimits(reserve=Reserve(seconds=1))
    lines = [*looks(kit, 1, "I look."), ScriptedLine("Late.", wait=100)]
    desk = kit.Desk(lines, [look], clock=clock, spec={"limits": limits})
    result = await FlowRunner().run(desk.flow, desk.state(), clock=clock, budget=Budget(seconds=10))
    assert (result.exhausted, result.value.text, result.value.reason) == ("seconds", "I look.", "exhausted")


async def test_the_default_budget_is_wide_enough_for_the_default_turns(kit: Kit) -> None:
    lines = [kit.calls(kit.call(("look", "listen")[n % 2], "{}", f"c{n}")) for n in range(12)]
    limits = AgentLimits(same_call=None)
    result = await kit.Desk([*lines, "Summary."], [look, listen], spec={"limits": limits}).run()
    assert (result.value.reason, result.exhausted) == ("limit", None)
