"""Sub-agents, whatever a model says: they end with their agent, within its budget, and cannot delegate."""

from __future__ import annotations

from functools import partial
from random import Random
from types import SimpleNamespace as Kit
from typing import Any

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowcore import Budget
from flowcore.errors import ContextOverflow, ModelRequestError
from flowcore.messages import Message, ModelReply, ModelRequest, ToolCall
from flowcore.testing import ScriptedLine
from flowcore.tools import tool
from flowcore_agent import AgentLimits, AgentRequest, OwnTools, admit, agent_flow

GO = AgentRequest((Message("user", "Go."),))
NAMES = ("delegate", "delegate", "look", "fail", "todo", "vanish", "complete")
ARGUMENTS = ('{"task": "Look."}', '{"task": "Look again."}', "{}", '{"at": 1}', '{"items": []}', "[]")


@tool
async def look(at: int = 0) -> str:
    """Look."""
    await anyio.lowlevel.checkpoint()
    return f"seen {at} " + "and seen " * 60


@tool
async def fail() -> None:
    """Fail."""
    raise OSError("no disk")


def said_by(chance: Random, request: ModelRequest) -> Any:
    """Anything: words, calls, nothing, or a failure."""
    if chance.random() < 0.05:
        return ScriptedLine(chance.choice((ContextOverflow("long"), ModelRequestError("refused", status=400))))
    wanted = chance.choice((0, 0, 1, 1, 2, 3))
    calls = [ToolCall(f"c{n}", chance.choice(NAMES), chance.choice(ARGUMENTS)) for n in range(wanted)]
    return ModelReply(chance.choice(("", "So.", "I look. ")), tool_calls=tuple(calls))


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10**6),
    budget=st.builds(
        Budget,
        rounds=st.integers(1, 40),
        requests=st.one_of(st.none(), st.integers(1, 30)),
        tool_calls=st.one_of(st.none(), st.integers(0, 20)),
    ),
    turns=st.integers(1, 5),
    error=st.booleans(),
    context=st.sampled_from((None, 900, 4_000)),
)
def test_they_end_with_the_run_and_spend_of_it_alone(
    kit: Kit, seed: int, budget: Budget, turns: int, error: bool, context: int | None
) -> None:
    chance = Random(seed)
    limits = AgentLimits(turns=turns, sub_turns=3, on_limit="error" if error else "wrap_up", keep_recent=2)
    spec = {"limits": limits, "own_tools": OwnTools(sub_agent=True, todo=True, completion=True)}
    lines = [partial(said_by, chance)] * 1000
    desk = kit.Desk(lines, [look, fail], runner={"context_limit": context, "retry": None}, spec=spec)
    flow = agent_flow(desk.agent)

    async def run() -> Any:
        return await flow.run(admit(desk.agent, GO), budget=budget, check=False)

    result = anyio.run(run)
    codes = ("model_request", "context_overflow", "budget_exhausted", "turn_limit")
    assert result.status == "completed" or result.failure.code in codes, result.failure
    assert result.usage.requests == len(desk.requests) <= (budget.requests or 1000)
    assert result.usage.rounds <= (budget.rounds or 0)
    assert budget.tool_calls is None or result.usage.tool_calls <= budget.tool_calls
    assert desk.model.open == 0
    inner = [request for request in desk.requests if "You are a sub-agent" in request.messages[0].content]
    assert not any(schema.name == "delegate" for request in inner for schema in request.tools)
    assert not any(message.content == "Go." for request in inner for message in request.messages)
