"""Pruning: older results give way to a note, the newest stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.context.histories import SYSTEM, Chat, called, events_of, flow_of, histories, said, user

from flowcore import Log
from flowcore.context import prune_tool_results, pruned
from flowcore.errors import ContractError
from flowcore.messages import Message

HISTORY = [SYSTEM, user("find it"), *called(1, 5_000, 20), said("so"), *called(2, 400), *called(3, 9_000, 8_000)]
NOTE = "[This result of look_up was left out: 5,000 characters. Call the tool again if you need it.]"


@pytest.mark.behaviour("S0-39")
def test_an_older_big_result_gives_way_to_a_note_and_the_newest_stay() -> None:
    made = pruned(HISTORY, longest=1_000)
    assert made[3] == Message("tool", NOTE, tool_call_id="c1.0")
    assert [*made[:3], *made[4:]] == [*HISTORY[:3], *HISTORY[4:]]


def test_how_many_stay_and_how_long_they_may_be_can_be_said() -> None:
    def changed(**options: int) -> list[int]:
        made = pruned(HISTORY, **options)
        return [place for place, pair in enumerate(zip(HISTORY, made, strict=True)) if pair[0] != pair[1]]

    assert changed(keep=0) == [3, 9, 10]
    assert changed(keep=1, longest=100) == [3, 7]
    assert changed(keep=2, longest=0) == [3]
    assert changed(keep=9) == []


@given(histories())
def test_only_results_change_they_become_shorter_and_once_is_enough(messages: list[Message]) -> None:
    made = pruned(messages, longest=10, keep=1)
    for before, after in zip(messages, made, strict=True):
        assert before == after or (before.role == "tool" and len(after.content) < len(before.content))
        assert (before.role, before.tool_call_id) == (after.role, after.tool_call_id)
    assert pruned(made, longest=10, keep=1) == made


@pytest.mark.behaviour("S0-39", "S0-41")
async def test_the_node_tells_the_sizes() -> None:
    result, told = await events_of(flow_of(prune_tool_results(Chat)), Chat(Log(HISTORY)))
    assert result.value.messages == Log(pruned(HISTORY))
    assert [(event.how, event.messages_before, event.messages_after) for event in told] == [
        ("prune_tool_results", 11, 11)
    ]
    assert told[0].tokens_before - told[0].tokens_after == (5_000 - len(NOTE)) // 4
    result, told = await events_of(flow_of(prune_tool_results(Chat)), result.value)
    assert told == []


def test_what_cannot_be_meant_is_refused_when_the_node_is_made() -> None:
    with pytest.raises(ValueError, match="longest=-1"):
        prune_tool_results(Chat, longest=-1)
    with pytest.raises(ContractError, match="prune_tool_results: Chat has no field 'said'"):
        prune_tool_results(Chat, field="said")
