"""The context of a turn: what does not fit is pruned, summed up, and once reduced by force."""

from __future__ import annotations

from types import SimpleNamespace as Kit
from typing import Any

import pytest

from flowcore import Budget
from flowcore.errors import ContextOverflow
from flowcore.events import ContextCompacted
from flowcore.messages import Message, ModelReply, ToolCall
from flowcore_agent import AgentLimits, Issue

TOO_LONG = ContextOverflow("the provider says: too long")
WORDS = "word " * 200
"""About 250 tokens."""


def read(n: int) -> str:
    """Read a page."""
    return f"page {n}: {WORDS * 3}"


def pages(kit: Kit, count: int) -> list[Any]:
    return [kit.calls(kit.call("read", f'{{"n": {n}}}', f"c{n}")) for n in range(count)]


def talk(count: int) -> list[Message]:
    """A conversation of old, of about 500 tokens a round."""
    roles = ("user", "assistant")
    return [Message(roles[n % 2], f"{n} {WORDS}") for n in range(2 * count)]  # type: ignore[arg-type]


def asks_for_a_summary(request: Any) -> bool:
    return "sum up the older part" in request.messages[0].content


async def heard(desk: Any, state: Any) -> tuple[Any, list[Any]]:
    async with desk.flow.start(state) as run:
        told = [event async for event in run.events() if isinstance(event, ContextCompacted)]
        return await run.wait(), told


@pytest.mark.behaviour("S0-38", "S1-05")
async def test_what_fits_is_left_as_it_is(kit: Kit) -> None:
    for runner in ({}, {"context_limit": 100_000}):
        desk = kit.Desk(["Fine."], runner=runner)
        result = await desk.flow.run(desk.state("Go.", *talk(4)), check=False)
        assert result.path == "trim > think > end"
        assert len(desk.requests[0].messages) == 10


@pytest.mark.behaviour("S0-38", "S0-41", "S1-05")
async def test_old_messages_are_summed_up_before_the_first_turn(kit: Kit) -> None:
    old = talk(6)
    limits = AgentLimits(keep_recent=4)
    desk = kit.Desk(["They talked.", "Fine."], runner={"context_limit": 3_500}, spec={"limits": limits})
    result, events = await heard(desk, desk.state("And now?", *old))
    assert result.path == "trim > compact > think > end"
    assert [asks_for_a_summary(request) for request in desk.requests] == [True, False]
    assert desk.requests[1].messages == (
        Message("system", "Be brief."),
        Message("user", "Summary of the earlier conversation:\nThey talked."),
        *old[-3:],
        Message("user", "And now?"),
    )
    (event,) = events
    assert (event.how, event.messages_before, event.messages_after) == ("compact", 13, 5)
    assert event.tokens_before > event.tokens_after
    assert result.usage.rounds == 1


@pytest.mark.behaviour("S0-39", "S0-41", "S1-05")
async def test_older_results_of_tools_are_pruned_after_tools_and_the_newest_kept(kit: Kit) -> None:
    desk = kit.Desk([*pages(kit, 2), "Read."], [read], runner={"context_limit": 2_000})
    result, events = await heard(desk, desk.state())
    assert "compact" not in result.path
    sent = [message.content for message in desk.requests[2].messages if message.role == "tool"]
    assert sent[0].startswith("[This result of read was left out: 3,")
    assert sent[1] == read(1)
    assert kit.results(result.value) == [read(0), read(1)]  # the turn stays whole
    assert [event.how for event in events] == ["prune_tool_results"]


@pytest.mark.behaviour("S0-38", "S0-39")
async def test_the_loop_goes_on_after_it_was_compacted_twice(kit: Kit) -> None:
    def reply(request: Any) -> ModelReply:
        if asks_for_a_summary(request):
            return ModelReply("What was read so far.")
        turn = sum(not asks_for_a_summary(each) for each in desk.requests)
        return kit.calls(kit.call(("read", "Read")[turn % 2], f'{{"n": {turn}}}', f"c{turn}"))

    limits = AgentLimits(keep_recent=2, turns=8, same_tool_end=None)
    desk = kit.Desk([reply] * 30, [read], runner={"context_limit": 1_150}, spec={"limits": limits})
    result = await desk.run(budget=Budget(rounds=9))
    assert result.value.reason == "limit"
    assert result.path.count("compact") >= 2
    turns = [request for request in desk.requests if not asks_for_a_summary(request)]
    assert len(turns) == 9
    for request in turns:
        assert ("user", "Go.") in kit.told(request)
        open_calls: set[str] = set()
        for message in request.messages:
            if message.role == "tool":
                open_calls.remove(message.tool_call_id)
            open_calls |= {call.id for call in message.tool_calls}
        assert not open_calls
    assert len(result.value.turn) == 8 * 2 + 2


async def test_a_summary_that_cannot_be_had_is_an_issue_and_the_loop_goes_on(kit: Kit) -> None:
    desk = kit.Desk(["", "Fine."], runner={"context_limit": 3_500})
    result = await desk.flow.run(desk.state("And now?", *talk(6)), check=False)
    assert result.path == "trim > compact! > think > end"
    assert result.value.text == "Fine."
    (issue,) = result.value.issues
    assert (issue.stage, issue.name) == ("model", "compact#1")
    assert isinstance(issue, Issue)
    assert "the model sums up with an empty text" in issue.message


@pytest.mark.behaviour("S0-40", "S0-41")
async def test_what_the_provider_finds_too_long_is_reduced_once_and_stays_so(kit: Kit) -> None:
    old = talk(4)
    desk = kit.Desk([TOO_LONG, *pages(kit, 1), "Read."], [read])
    result, events = await heard(desk, desk.state("And now?", *old))
    assert result.value.text == "Read."
    assert (result.usage.rounds, result.usage.requests, result.state.turn) == (2, 3, 2)
    kept = desk.requests[1].messages
    assert kept == (Message("system", "Be brief."), *old[5:], Message("user", "And now?"))
    assert desk.requests[2].messages[: len(kept)] == kept
    (event,) = events
    assert (event.how, event.messages_before, event.messages_after) == ("reduce", 9, 4)


@pytest.mark.behaviour("S0-40", "S0-43")
async def test_what_is_still_too_long_fails_after_two_requests(kit: Kit) -> None:
    desk = kit.Desk([TOO_LONG, TOO_LONG, "Never."])
    result = await desk.flow.run(desk.state("And now?", *talk(4)), check=False)
    assert (result.status, len(desk.requests)) == ("failed", 2)
    assert result.failure.code == "context_overflow"
    desk = kit.Desk([TOO_LONG, "Never."])
    result = await desk.run()
    assert (result.status, len(desk.requests)) == ("failed", 1)  # there was nothing to leave out


async def test_a_reducer_of_the_runner_is_asked_in_place_of_the_loops(kit: Kit) -> None:
    desk = kit.Desk([TOO_LONG, "Fine."], runner={"reducer": lambda messages, error: messages[-1:]})
    result = await desk.flow.run(desk.state("And now?", *talk(2)), check=False)
    assert result.value.text == "Fine."
    assert kit.told(desk.requests[1]) == [("user", "And now?")]


async def test_the_question_stays_when_the_last_turn_is_reduced(kit: Kit) -> None:
    desk = kit.Desk([*pages(kit, 2), TOO_LONG, "Summary."], [read], spec={"limits": AgentLimits(turns=3)})
    result = await desk.run("Read it all.")
    assert result.value.text == "Summary."
    last = kit.told(desk.requests[3])
    assert last[1] == ("user", "Read it all.")
    assert last[-1][1].startswith("This is the last turn")
    assert ToolCall("c1", "read", '{"n": 1}') in desk.requests[3].messages[-3].tool_calls
