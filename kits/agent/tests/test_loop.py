"""The loop: turns, calls and results, and every way in which it ends."""

from __future__ import annotations

from types import SimpleNamespace as Kit
from typing import Any

import anyio
import pytest

from flowcore import Budget, ContractError
from flowcore.messages import Attachment, Message, ModelReply
from flowcore_agent import AgentLimits
from flowcore_agent.errors import TurnLimitReached
from flowcore_agent.loop.think import SUM_UP
from flowcore_agent.loop.wrap_up import WRAP_UP


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def different(kit: Kit, count: int, text: str = "") -> list[ModelReply]:
    """Replies that each call a tool, with other arguments and the tools by turns, so that no guard minds."""
    return [
        kit.calls(kit.call(("add", "sub")[n % 2], f'{{"a": {n}, "b": 1}}', f"c{n}"), text=text)
        for n in range(count)
    ]


def sub(a: int, b: int) -> int:
    """Subtract."""
    return a - b


@pytest.mark.behaviour("S0-16", "S3-16", "S3-23")
async def test_a_reply_without_calls_is_the_answer(kit: Kit) -> None:
    desk = kit.Desk(["Four."])
    result = await desk.run("2 + 2?")
    assert result.path == "trim > think > end"
    assert (result.value.text, result.value.reason, result.value.is_partial) == ("Four.", "answer", False)
    assert kit.told(desk.requests[0]) == [("system", "Be brief."), ("user", "2 + 2?")]
    assert result.usage.rounds == 1


@pytest.mark.behaviour("S0-17", "S0-21", "S0-22", "S3-16", "S3-17", "S3-23")
async def test_calls_are_run_and_the_next_turn_sees_their_results(kit: Kit) -> None:
    one, two = kit.call("add", '{"a": 1, "b": 2}', "x"), kit.call("sub", '{"a": 9, "b": 2}', "y")
    desk = kit.Desk([kit.calls(one, two), "3 and 7."], [add, sub])
    result = await desk.run()
    assert result.path == "trim > think > act > trim > think > end"
    assert result.value.turn == (
        Message("assistant", "", (one, two)),
        Message("tool", "3", tool_call_id="x"),
        Message("tool", "7", tool_call_id="y"),
        Message("assistant", "3 and 7."),
    )
    assert desk.requests[1].messages == (*desk.requests[0].messages, *result.value.turn[:3])
    assert result.usage.rounds == 2
    assert result.usage.tool_calls == 2


@pytest.mark.behaviour("S0-22", "S3-24")
async def test_a_run_is_rebuilt_from_its_messages_alone(kit: Kit) -> None:
    lines = [
        kit.calls(kit.call("add", '{"a": 1, "b": 2}')),
        kit.calls(kit.call("sub", '{"a": 1, "b": 2}')),
        "Done.",
    ]
    desk = kit.Desk(lines, [add, sub])
    turn = (await desk.run()).value.turn
    again = kit.Desk(["Done."], [add, sub])
    state = again.state("Go.")
    state.turns.extend(turn[:-1])
    await again.flow.run(state)
    assert again.requests[0] == desk.requests[2]


@pytest.mark.behaviour("S0-18")
async def test_thoughts_beside_calls_are_kept(kit: Kit) -> None:
    desk = kit.Desk([kit.calls("look", reasoning="I should look."), "Seen."], [_tool("look")])
    result = await desk.run()
    assert list(result.state.thoughts) == ["I should look."]
    assert result.value.turn[0].tool_calls == (kit.call("look"),)


@pytest.mark.behaviour("S0-12", "S0-15")
async def test_only_what_is_allowed_is_shown_and_run(kit: Kit) -> None:
    done: list[str] = []
    tools = [_tool("look", done), _tool("erase", done)]
    desk = kit.Desk([kit.calls("erase", "vanish"), "No."], tools, spec={"allowed": ["look"]})
    result = await desk.run()
    assert [[tool.name for tool in request.tools] for request in desk.requests] == [["look"], ["look"]]
    assert done == []
    denied, unknown = kit.results(result.value)
    assert denied == "Denied: erase may not be used here."
    assert unknown.startswith("Not run: there is no tool 'vanish'")


async def test_a_direct_answer_has_no_tools_and_can_call_none(kit: Kit) -> None:
    done: list[str] = []
    desk = kit.Desk([kit.calls("look"), "So be it."], [_tool("look", done)])
    result = await desk.flow.run(desk.state(route="direct"), check=False)
    assert [request.tools for request in desk.requests] == [(), ()]
    assert done == []
    assert kit.results(result.value) == ["Denied: look may not be used here."]


@pytest.mark.behaviour("S0-19", "S0-20", "S3-22")
@pytest.mark.parametrize(("limits", "most"), [({}, 4), ({"concurrency": 2}, 2)])
async def test_calls_of_a_turn_share_a_pool_and_keep_their_order(kit: Kit, limits: Any, most: int) -> None:
    running, peak, gate = 0, 0, anyio.Event()

    async def work(n: int) -> int:
        """Work."""
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        if running == most:
            gate.set()
        await gate.wait()
        for _ in range(8 - n):  # the later ones end first
            await anyio.lowlevel.checkpoint()
        running -= 1
        return n

    wanted = [kit.call("work", f'{{"n": {n}}}', f"c{n}") for n in range(8)]
    desk = kit.Desk([kit.calls(*wanted), "Done."], [work], spec={"limits": AgentLimits(**limits)})
    result = await desk.run()
    assert peak == most
    assert kit.results(result.value) == [str(n) for n in range(8)]


@pytest.mark.behaviour("S0-23", "S0-24", "S0-25", "S0-26")
async def test_the_last_turn_is_told_to_sum_up_and_one_without_tools_follows(kit: Kit) -> None:
    desk = kit.Desk([*different(kit, 12), "Summary."], [add, sub])
    result = await desk.run()
    assert len(desk.requests) == 13
    assert all(len(request.tools) == 2 for request in desk.requests[:12])
    assert all(SUM_UP not in dict(kit.told(request)).values() for request in desk.requests[:11])
    assert desk.requests[11].messages[-1] == Message("user", SUM_UP)
    assert desk.requests[12].tools == ()
    assert desk.requests[12].messages[-2:] == (
        Message("tool", "Not executed: the turns are used up.", tool_call_id="c11"),
        Message("user", WRAP_UP),
    )
    assert result.usage.tool_calls == 11
    assert result.usage.rounds == 13
    assert (result.value.text, result.value.reason, result.value.is_partial) == ("Summary.", "limit", False)


@pytest.mark.behaviour("S0-23")
async def test_the_number_of_turns_can_be_set(kit: Kit) -> None:
    desk = kit.Desk([*different(kit, 2), "Summary."], [add, sub], spec={"limits": AgentLimits(turns=2)})
    assert (await desk.run()).value.reason == "limit"
    assert len(desk.requests) == 3


@pytest.mark.behaviour("S0-25", "S0-26")
async def test_nothing_follows_the_turn_without_tools_whatever_it_returns(kit: Kit) -> None:
    lines = [kit.calls("look", "list", text="So far so good."), kit.calls("look")]
    desk = kit.Desk(lines, [_tool("look"), _tool("list")], spec={"limits": AgentLimits(turns=1)})
    result = await desk.run()
    assert len(desk.requests) == 2
    assert result.usage.tool_calls == 0
    assert (
        kit.results(result.value)
        == [
            "Not executed: the turns are used up.",
        ]
        * 3
    )
    assert (result.value.text, result.value.reason, result.value.is_partial) == ("So far so good.", "limit", True)


async def test_an_answer_in_the_last_turn_is_an_answer(kit: Kit) -> None:
    desk = kit.Desk([*different(kit, 1), "Done: all."], [add, sub], spec={"limits": AgentLimits(turns=2)})
    assert (await desk.run()).value.reason == "answer"
    assert len(desk.requests) == 2


@pytest.mark.behaviour("S3-17", "S3-18", "S3-23")
async def test_with_a_limit_that_is_an_error_the_run_fails(kit: Kit) -> None:
    limits = AgentLimits(turns=2, on_limit="error")
    desk = kit.Desk(different(kit, 3, "Working."), [add, sub], spec={"limits": limits})
    result = await desk.run(budget=Budget(rounds=2))
    assert result.status == "failed"
    assert len(desk.requests) == 2
    assert result.failure.code == "turn_limit"
    assert str(result.failure.exception) == (
        "agent 'agent' has no answer after 2 turns: raise AgentLimits(turns=...), or leave on_limit at \"wrap_up\""
    )
    assert all("last turn" not in text for request in desk.requests for _, text in kit.told(request))
    with pytest.raises(TurnLimitReached):
        await kit.Desk(different(kit, 2), [add, sub], spec={"limits": limits}).flow.run(desk.state())


@pytest.mark.behaviour("S3-19", "S0-23")
def test_twelve_turns_by_default_and_fifteen_where_the_limit_is_an_error() -> None:
    assert AgentLimits().most_turns == 12
    assert AgentLimits(on_limit="error").most_turns == 15
    assert AgentLimits(turns=3, on_limit="error").most_turns == 3


@pytest.mark.behaviour("S0-23", "S3-21")
def test_what_is_given_beats_the_environment_and_both_beat_the_default() -> None:
    env = {"FLOWCORE_AGENT_TURNS": "7"}
    assert AgentLimits.from_env({}).most_turns == 12
    assert AgentLimits.from_env({}, on_limit="error").most_turns == 15
    assert AgentLimits.from_env(env, on_limit="error").most_turns == 7
    assert AgentLimits.from_env(env, turns=3).most_turns == 3
    with pytest.raises(ContractError, match="turns=0: give a whole number above zero"):
        AgentLimits.from_env({"FLOWCORE_AGENT_TURNS": "0"})


@pytest.mark.behaviour("S3-20")
@pytest.mark.parametrize("turns", [0, -1, 1.5, True])
@pytest.mark.parametrize("on_limit", ["wrap_up", "error"])
def test_no_number_of_turns_means_without_end(turns: Any, on_limit: Any) -> None:
    with pytest.raises(ContractError, match=r"turns=.*: give a whole number above zero"):
        AgentLimits(turns=turns, on_limit=on_limit)


def test_all_that_is_wrong_with_limits_is_listed() -> None:
    with pytest.raises(ContractError) as caught:
        AgentLimits(same_call=0, keep_recent=-1, tool_timeout=0, compact_at=2, on_limit="stop")  # type: ignore[arg-type]
    assert str(caught.value) == (
        "AgentLimits: same_call=0: give a whole number above zero, or None to switch it off;"
        " keep_recent=-1: give a whole number, zero or more; tool_timeout=0: give seconds above zero;"
        " on_limit='stop': give 'wrap_up' or 'error'; compact_at=2: give a share above 0, at most 1"
    )


@pytest.mark.behaviour("S0-47", "S1-09")
@pytest.mark.parametrize("silent", ["", " \n"])
async def test_a_model_that_says_nothing_is_no_answer_and_no_error(kit: Kit, silent: str) -> None:
    result = await kit.Desk([kit.calls("look", text="I look."), silent], [_tool("look")]).run()
    assert result.status == "completed"
    assert (result.value.text.strip(), result.value.reason, result.value.is_partial) == ("", "no_answer", False)
    assert result.value.turn[-1].role == "tool"


async def test_a_picture_alone_is_an_answer(kit: Kit) -> None:
    picture = Attachment("image/png", b"x")
    result = await kit.Desk([ModelReply("", attachments=(picture,))]).run()
    assert (result.value.reason, result.value.attachments) == ("answer", (picture,))


def _tool(name: str, done: list[str] | None = None) -> Any:
    async def work() -> str:
        if done is not None:
            done.append(name)
        return f"{name} done"

    work.__name__, work.__doc__ = name, f"{name}."
    return work
