"""Selecting: the newest that fit, whole units, and what always stays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.context.histories import SYSTEM, Chat, called, events_of, flow_of, histories, is_whole, said, user

from flowcore import Log
from flowcore.context import select, selected, tokens_of
from flowcore.errors import ContextOverflow, ContractError
from flowcore.messages import Attachment, Message
from flowcore.models import ModelRunner
from flowcore.testing import ScriptedModel

LONG = [SYSTEM, user("one " * 10), said("two " * 10), user("three"), said("four"), user("five")]


def test_the_newest_that_fit_are_kept_and_the_system_message_too() -> None:
    assert selected(LONG, limit=tokens_of(LONG)) == LONG
    assert selected(LONG, limit=tokens_of(LONG) - 1) == [SYSTEM, *LONG[2:]]
    assert selected(LONG, limit=tokens_of([SYSTEM, *LONG[3:]])) == [SYSTEM, *LONG[3:]]
    assert selected(LONG, limit=tokens_of([SYSTEM, LONG[-1]])) == [SYSTEM, LONG[-1]]


def test_a_reply_with_calls_goes_with_its_results_and_the_question_stays() -> None:
    history = [SYSTEM, user("find it"), *called(1, 40, 40), *called(2, 8)]
    room = tokens_of(history)
    assert selected(history, limit=room - 1) == [SYSTEM, user("find it"), *called(2, 8)]
    with pytest.raises(ContextOverflow, match="nothing more can be left out") as caught:
        selected(history, limit=10)
    assert (caught.value.limit, caught.value.needed) == (10, tokens_of([SYSTEM, user("find it"), *called(2, 8)]))


def needed_by(messages: list[Message]) -> int:
    """Returns the least limit that is not refused."""
    try:
        return tokens_of(selected(messages, limit=0))
    except ContextOverflow as error:
        return error.needed or 0


@given(histories(), st.integers(1, 200))
def test_what_is_selected_fits_is_whole_and_is_as_much_as_can_be(messages: list[Message], limit: int) -> None:
    assert selected(messages, limit=10**9) == messages
    least = selected(messages, limit=needed_by(messages))
    limit = max(limit, tokens_of(least))
    kept = selected(messages, limit=limit)
    assert tokens_of(kept) <= limit
    assert is_whole(kept)
    assert kept == [message for message in messages if any(message is one for one in kept)]
    leading = list(itertools.takewhile(lambda message: message.role == "system", messages))
    assert kept[: len(leading)] == leading
    asked = [message for message in messages if message.role == "user"]
    assert not asked or any(message is asked[-1] for message in kept)
    assert len(kept) == len(messages) or tokens_of(messages) > limit


def test_nothing_is_selected_from_nothing() -> None:
    assert selected([], limit=1) == []


@pytest.mark.behaviour("S0-41")
async def test_the_node_writes_the_field_and_tells_the_sizes() -> None:
    limit = tokens_of([SYSTEM, *LONG[3:]])
    result, told = await events_of(flow_of(select(Chat, limit=limit)), Chat(Log(LONG)))
    assert result.value.messages == Log([SYSTEM, *LONG[3:]])
    assert [(event.kind, event.path, event.how, event.field) for event in told] == [
        ("context.compacted", "select#1", "select", "messages")
    ]
    assert (told[0].messages_before, told[0].messages_after) == (6, 4)
    assert (told[0].tokens_before, told[0].tokens_after) == (tokens_of(LONG), limit)


async def test_what_fits_already_stays_as_it_is_and_nothing_is_told() -> None:
    result, told = await events_of(flow_of(select(Chat, limit=1_000)), Chat(Log(LONG)))
    assert (result.value.messages, told) == (Log(LONG), [])
    assert result.trace[0].patch == {}


async def test_the_history_can_stay_whole_while_the_selection_goes_into_another_field() -> None:
    limit = tokens_of([SYSTEM, LONG[-1]])
    result, told = await events_of(flow_of(select(Chat, limit=limit, into="kept")), Chat(Log(LONG)))
    assert (result.value.messages, result.value.kept) == (Log(LONG), [SYSTEM, LONG[-1]])
    assert len(told) == 1
    result, told = await events_of(flow_of(select(Chat, limit=1_000, into="kept")), Chat(Log(LONG)))
    assert (result.value.kept, told) == (LONG, [])


class Model(BaseModel):
    said: tuple[Message, ...] = ()


@dataclass
class Bare:
    messages: list[Message] = field(default_factory=list)


async def test_lists_and_tuples_stay_what_they_are() -> None:
    limit = tokens_of(LONG[-1:])
    assert (
        await flow_of(select(Model, limit=limit, field="said"), Model).run(Model(said=tuple(LONG[1:])))
    ).said == (LONG[-1],)
    assert (await flow_of(select(Bare, limit=limit), Bare).run(Bare(LONG[1:]))).messages == [LONG[-1]]


async def test_what_counts_can_be_what_a_runner_really_sends() -> None:
    runner = ModelRunner(ScriptedModel([]))

    def count(messages: Sequence[Message]) -> int:
        return runner.prepare(instructions="Be short. " * 20).measure(messages).tokens

    limit = count(LONG[3:])
    result, told = await events_of(flow_of(select(Bare, limit=limit, count=count), Bare), Bare(LONG[1:]))
    assert result.value.messages == LONG[3:]
    assert (told[0].tokens_before, told[0].tokens_after) == (count(LONG[1:]), limit)


async def test_too_much_is_an_ordinary_error_of_the_node_and_drops_nothing() -> None:
    result = await flow_of(select(Chat, limit=3)).run(Chat(Log(LONG)), check=False)
    assert result.failure is not None
    assert (result.failure.path, result.failure.code) == ("select#1", "context_overflow")
    assert result.state.messages == Log(LONG)


def test_a_wrong_field_or_limit_is_refused_when_the_node_is_made() -> None:
    with pytest.raises(ContractError, match="select: Chat has no field 'history'; name the one with the messages"):
        select(Chat, limit=9, field="history")
    with pytest.raises(ContractError, match="has no field 'there'"):
        select(Chat, limit=9, into="there")
    with pytest.raises(ValueError, match=r"select\(limit=0\)"):
        select(Chat, limit=0)


@dataclass
class Wrong:
    messages: list[str] = field(default_factory=list)


async def test_a_field_without_messages_is_a_contract_error() -> None:
    with pytest.raises(ContractError, match="'messages' holds no messages; declare it as"):
        await flow_of(select(Wrong, limit=9), Wrong).run(Wrong(["hello"]))


def test_attachments_and_calls_count() -> None:
    assert tokens_of([Message("user", "abcd", attachments=(Attachment("image/png", b"x" * 9_000),))]) == 1_005
    assert tokens_of(called(1, 8)) == 4 + 3 + 4 + 2
    assert tokens_of([]) == 0


def test_pictures_that_tools_returned_are_not_taken_for_the_question() -> None:
    shown = Message("user", "The tools returned what is attached.", attachments=(Attachment("image/png", b"x"),))
    talk = [user("What is on it?"), *called(1, 5), shown, *called(2, 5)]
    assert selected(talk, limit=tokens_of([talk[0], *called(2, 5)])) == [talk[0], *called(2, 5)]
