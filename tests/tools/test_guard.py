"""The repetition guard: what it counts, from the messages alone."""

from __future__ import annotations

from typing import Any

import pytest
from tests.tools.room import Room, call, statuses, turn

from flowcore import Budget, BudgetExhausted
from flowcore.messages import Message
from flowcore.tools import RepetitionGuard, tool_messages


def counting() -> tuple[list[Any], Any, Any]:
    ran: list[Any] = []

    def search(query: str, page: int = 1) -> str:
        ran.append(query)
        return "nothing"

    def fetch(query: str) -> str:
        ran.append(query)
        return "a page"

    return ran, search, fetch


@pytest.mark.behaviour("S0-34", "S0-22")
async def test_the_third_identical_call_is_skipped_and_the_model_is_told_to_do_otherwise() -> None:
    ran, search, _ = counting()
    room = Room([search])
    history: list[Message] = [Message("user", "go on")]
    told: list[tuple[str, str]] = []
    texts = [
        '{"query": "x", "page": 2}',
        '{"page": 2, "query": "x"}',
        '{"page": 2,"query":"x",}',
        "{'query': 'x', 'page': 2}",
    ]
    for number, text in enumerate(texts):
        one = call("search" if number else "Search", text, f"c{number}")
        (result,) = await room.run(one, history=history)
        told.append((result.status, result.text))
        history += [turn(one), *tool_messages([result])]
    assert ran == ["x", "x"]
    assert [status for status, _ in told] == ["ok", "ok", "skipped", "skipped"]
    again = "search was called with the same arguments 3 times"
    assert told[2][1] == f"Skipped: {again}. Use the earlier result, or change the arguments."
    assert "4 times" in told[3][1]


@pytest.mark.behaviour("S0-34")
async def test_identical_calls_of_one_reply_count_one_by_one() -> None:
    ran, search, _ = counting()
    same = [call("search", '{"query": "x"}', f"c{number}") for number in range(4)]
    results = await Room([search]).run(*same, call("search", '{"query": "y"}', "other"))
    assert statuses(results) == ["ok", "ok", "skipped", "skipped", "ok"]
    assert sorted(ran) == ["x", "x", "y"]


@pytest.mark.behaviour("S0-35")
async def test_the_same_tool_again_and_again_warns_at_5_and_ends_at_7() -> None:
    ran, search, _ = counting()
    room = Room([search])
    history: list[Message] = []
    seen: list[tuple[str, bool, list[int]]] = []
    for number in range(1, 8):
        one = call("search", f'{{"query": "{number}"}}', f"c{number}")
        (result,) = await room.run(one, history=history)
        seen.append((result.status, result.must_end, [event.turns for event in room.heard("tool.warned")]))
        history += [turn(one), *tool_messages([result])]
    assert seen == [("ok", False, [])] * 4 + [("ok", False, [5]), ("ok", False, []), ("skipped", True, [])]
    assert result.text == "Skipped: search was called in 7 replies in a row. Answer now with what you have."
    assert len(ran) == 6


@pytest.mark.behaviour("S0-35")
@pytest.mark.parametrize(
    "between", [[call("fetch", '{"query": "z"}')], [call("search"), call("fetch", "{}", "f")]]
)
async def test_another_tool_begins_the_row_anew(between: Any) -> None:
    _, search, fetch = counting()
    history = [turn(call("search", f'{{"query": "{n}"}}')) for n in range(6)]
    history.insert(3, turn(*between))
    (result,) = await Room([search, fetch]).run(call("search", '{"query": "last"}'), history=history)
    assert (result.status, result.must_end) == ("ok", False)


async def test_a_new_message_of_the_user_begins_anew() -> None:
    _, search, _ = counting()
    history = [turn(call("search", '{"query": "x"}')) for _ in range(8)] + [Message("user", "and now?")]
    (result,) = await Room([search]).run(call("search", '{"query": "x"}'), history=history)
    assert (result.status, result.must_end) == ("ok", False)


async def test_what_stands_right_after_results_is_no_question_of_the_user() -> None:
    _, search, _ = counting()
    one = [
        turn(call("search", '{"query": "x"}')),
        Message("tool", "r", tool_call_id="search"),
        Message("user", "see"),
    ]
    (result,) = await Room([search]).run(call("search", '{"query": "x"}'), history=one * 6)
    assert (result.status, result.must_end) == ("skipped", True)


@pytest.mark.behaviour("S1-15")
async def test_calls_that_never_fit_end_the_loop_too() -> None:
    ran, search, _ = counting()
    history = [turn(call("search", '{"query": ', f"c{n}")) for n in range(6)]
    (result,) = await Room([search]).run(call("search", '{"query": '), history=history)
    assert (result.status, result.must_end, ran) == ("invalid_arguments", True, [])


@pytest.mark.behaviour("S0-36")
async def test_each_number_can_be_set_and_each_rule_switched_off() -> None:
    _, search, _ = counting()
    same = [call("search", '{"query": "x"}', f"c{number}") for number in range(3)]
    once = Room([search], {"guard": RepetitionGuard(same_call=2)})
    assert statuses(await once.run(*same)) == ["ok", "skipped", "skipped"]
    never = Room([search], {"guard": RepetitionGuard(same_call=None, same_tool_warn=2, same_tool_end=3)})
    assert statuses(await never.run(*same)) == ["ok", "ok", "ok"]
    history = [turn(call("search", '{"query": "a"}')), turn(call("search", '{"query": "b"}'))]
    (result,) = await never.run(same[0], history=history)
    assert (result.status, result.must_end) == ("skipped", True)
    (result,) = await never.run(same[0], history=history[:1])
    assert (result.status, len(never.heard("tool.warned"))) == ("ok", 1)
    off = Room([search], {"guard": None})
    (result,) = await off.run(same[0], history=history * 10)
    assert (result.status, result.must_end) == ("ok", False)


@pytest.mark.behaviour("S0-37")
async def test_without_the_guard_the_budget_still_holds() -> None:
    ran, search, _ = counting()
    same = [call("search", '{"query": "x"}', f"c{number}") for number in range(3)]
    with pytest.raises(BudgetExhausted, match="tool_calls"):
        await Room([search], {"guard": None}).run(*same, budget=Budget(tool_calls=2))
    assert ran == []


@pytest.mark.parametrize("limit", [0, -1, True, 1.5])
def test_a_limit_that_cannot_be_meant_is_refused(limit: Any) -> None:
    with pytest.raises(ValueError, match="give a number above zero, or None"):
        RepetitionGuard(same_call=limit)
