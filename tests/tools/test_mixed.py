"""Any mix of calls: one result for each, in their order, and each tool ran exactly if its result says so."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowcore import Budget, Scope
from flowcore.messages import ToolCall
from flowcore.tools import Allow, Deny, Proposal, Status, ToolCatalog, ToolExecutor, tool

KINDS: dict[str, Status] = {
    "good": "ok",
    "thread": "ok",
    "bad": "failed",
    "wrong": "invalid_output",
    "slow": "timeout",
    "deny": "denied",
    "raise_policy": "denied",
    "cut": "invalid_arguments",
    "misfit": "invalid_arguments",
    "nowhere": "unknown_tool",
    "sent": "unknown",
}
RAN = {"good", "thread", "bad", "wrong", "slow", "sent"}
ran: list[int] = []


@tool
async def good(number: int) -> int:
    ran.append(number)
    for _ in range(number % 5):
        await anyio.lowlevel.checkpoint()
    return number


@tool
def thread(number: int) -> int:
    ran.append(number)
    return number


@tool
async def bad(number: int) -> int:
    ran.append(number)
    raise ValueError(number)


@tool
async def wrong(number: int) -> int:
    ran.append(number)
    return "wrong"  # type: ignore[return-value]


@tool(timeout=0.001)
async def slow(number: int) -> None:
    ran.append(number)
    await anyio.sleep_forever()


@tool(timeout=0.001, effects=True)
async def sent(number: int) -> None:
    ran.append(number)
    await anyio.sleep_forever()


def policy(proposal: Proposal) -> Any:
    if proposal.call.name == "raise_policy":
        raise OSError("no rules")
    return Deny("no") if proposal.call.name == "deny" else Allow()


NAMED = [tool(name=name)(good.fn) for name in ("deny", "raise_policy", "cut", "misfit")]
EXECUTOR = ToolExecutor(
    ToolCatalog([good, thread, bad, wrong, slow, sent, *NAMED]), policy=policy, concurrency=3, guard=None
)


def proposed(kind: str, number: int) -> ToolCall:
    arguments = {"cut": f'{{"number": {number}', "misfit": '{"number": "x"}'}.get(kind, f'{{"number": {number}}}')
    return ToolCall("same", kind, arguments)


@given(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=9))
@settings(max_examples=60, deadline=None)
@pytest.mark.behaviour("TOOL-6", "S0-20")
async def test_any_mix_of_calls_has_one_result_for_each_in_their_order(kinds: list[str]) -> None:
    ran.clear()
    async with Scope(Budget()) as scope:
        results = await EXECUTOR.run([proposed(kind, number) for number, kind in enumerate(kinds)])
    assert [(result.call.name, result.status) for result in results] == [(kind, KINDS[kind]) for kind in kinds]
    assert len({result.call.id for result in results}) == len(kinds)
    assert [number for number, result in enumerate(results) if result.handler_ran] == sorted(ran)
    assert scope.used.tool_calls == len(ran) == sum(kind in RAN for kind in kinds)
