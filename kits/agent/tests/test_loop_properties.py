"""The loop, whatever a model says: it ends in time, and every conversation that it sends is a sound one."""

from __future__ import annotations

from types import SimpleNamespace as Kit
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowcore import Budget
from flowcore.errors import ContextOverflow, ModelRequestError
from flowcore.messages import Message, ModelReply, ToolCall
from flowcore.tools import tool
from flowcore_agent import AgentLimits, AgentRequest, OwnTools
from flowcore_agent.context.history import restored

TURNS = 5
NAMES = ("look", "Look", "fail", "vanish", "todo", "complete")


@tool
async def look(at: int = 0) -> str:
    """Look."""
    return f"seen {at} " + "and seen " * 60


@tool
async def fail() -> None:
    """Fail."""
    raise OSError("no disk")


CALLS = st.builds(
    ToolCall,
    st.sampled_from(("a", "b", "")),
    st.sampled_from(NAMES),
    st.sampled_from(("{}", '{"at": 1}', '{"at": 2}', '{"items": []}', '{"at": "x"}', '{"at', "[]")),
)
CALL = ToolCall("c", "look", '{"at": 3}')
REPLIES = st.builds(
    ModelReply,
    st.sampled_from(("", " ", "So.", "I look. ")),
    tool_calls=st.lists(CALLS, min_size=1, max_size=3).map(tuple) | st.sampled_from([(CALL,), (CALL,), ()]),
)
FAILURES = st.sampled_from(
    (
        ContextOverflow("too long"),
        ModelRequestError("refused", status=400),
        ModelRequestError("broken", text="So far"),
    )
)
LINES = st.builds(
    lambda replies, failures: [failures.get(n, reply) for n, reply in enumerate(replies)],
    st.lists(REPLIES, min_size=TURNS * 4, max_size=TURNS * 4),
    st.dictionaries(st.integers(0, TURNS + 3), FAILURES, max_size=2),
)
BUDGETS = st.builds(
    Budget,
    rounds=st.integers(1, 9),
    requests=st.one_of(st.none(), st.integers(0, 9)),
    tool_calls=st.one_of(st.none(), st.integers(0, 9)),
)


@pytest.mark.behaviour("S0-21", "S0-26", "S0-46", "S3-23", "S3-24")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=LINES,
    budget=BUDGETS,
    error=st.booleans(),
    context=st.sampled_from((None, 700, 4_000)),
    end=st.sampled_from((None, 2, 7)),
)
def test_it_ends_in_time_and_sends_nothing_unsound(
    kit: Kit, lines: list[Any], budget: Budget, error: bool, context: int | None, end: int | None
) -> None:
    limits = AgentLimits(turns=TURNS, on_limit="error" if error else "wrap_up", same_tool_end=end, keep_recent=2)
    spec = {"limits": limits, "own_tools": OwnTools(todo=True, completion=True)}
    desk = kit.Desk(lines, [look, fail], runner={"context_limit": context, "retry": None}, spec=spec)
    result = anyio.run(lambda: desk.run("What is there?", budget=budget))

    asked = [request for request in desk.requests if "sum up the older part" not in request.messages[0].content]
    reductions = sum(isinstance(line, ContextOverflow) for line in lines[: len(desk.requests)])
    assert len(asked) <= TURNS + 1 + reductions
    for request in asked:
        check(request.messages)
        assert "What is there?" in [message.content for message in request.messages]
    assert result.status in ("completed", "failed")
    if result.status == "completed":
        check(result.value.turn)
        asked_again = (Message("user", "1"), Message("assistant", result.value.text), Message("user", "2"))
        restored_turn, issues = restored(AgentRequest(asked_again, history=(result.value.turn,)))
        assert (tuple(restored_turn[1:-1])[: len(result.value.turn) - 1], issues) == (result.value.turn[:-1], [])
        assert not result.value.is_partial or result.value.text.strip()
        assert result.value.reason != "answer" or result.value.text.strip()
    else:
        codes = ("model_request", "context_overflow", "budget_exhausted", "turn_limit")
        assert result.failure.code in codes, result.failure


def check(messages: tuple[Message, ...]) -> None:
    """Fail unless each call has one result, right after its message and in the order of the calls."""
    wanted: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert wanted
            assert message.tool_call_id == wanted.pop(0)
            continue
        assert wanted == []
        wanted = [call.id for call in message.tool_calls]
        assert len(set(wanted)) == len(wanted)
        assert message.content.strip() or message.tool_calls
    assert wanted == []
