"""The same conversations through three loops: what each sends, runs and returns, and where ours differs why."""

from __future__ import annotations

import json
from itertools import takewhile

import pytest
from tests.agents.beside import differences
from tests.agents.loops_page import PAGE, put, row, table, told_by_all
from tests.agents.scripts import SCRIPTS, Script
from tests.agents.sides import Told, flowcore_agent

from flowcore.messages import Message

BY_NAME = {script.name: script for script in SCRIPTS}


@pytest.fixture
def anyio_backend() -> str:
    """The other loops know asyncio alone."""
    return "asyncio"


def sound(requests: list[tuple[Message, ...]]) -> None:
    """Hold that each request could be sent to any server: each call has an id, an object, and one result."""
    for messages in requests:
        for at, message in enumerate(messages):
            ids = [call.id for call in message.tool_calls]
            assert all(ids)
            assert len(set(ids)) == len(ids)
            assert all(isinstance(json.loads(call.arguments), dict) for call in message.tool_calls)
            told = [each.tool_call_id for each in takewhile(_is_result, messages[at + 1 :])]
            assert told == ids or message.role == "tool"


def _is_result(message: Message) -> bool:
    return message.role == "tool"


@pytest.mark.behaviour("S0-14", "S0-16", "S0-17", "S0-20", "S0-22", "S0-47")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
async def test_each_difference_is_explained_and_stands_in_the_page(script: Script) -> None:
    told = await told_by_all(script)
    ours, *others = told.values()
    sound(ours.requests)
    assert any(differences(ours, each) for each in others) == bool(script.why)
    assert row(script, told) in PAGE.read_text("utf-8"), "write it anew: python -m tests.agents.loops_page"


async def test_the_page_is_as_it_would_be_written() -> None:
    page = PAGE.read_text("utf-8")
    assert put(page, await table()) == page
    assert len(SCRIPTS) >= 30
    assert len(BY_NAME) == len(SCRIPTS)


async def test_ours_sends_exactly_this() -> None:
    told = await flowcore_agent(BY_NAME["one id twice in a reply"])
    first = (Message("system", "Be brief."), Message("user", "Go."))
    assert told.requests[0] == first
    assert told.requests[1][:2] == first
    assert [call.id for call in told.requests[1][2].tool_calls] == ["x", "x-2"]
    assert told.requests[1][3:] == (
        Message("tool", "3", tool_call_id="x"),
        Message("tool", "seen", tool_call_id="x-2"),
    )
    assert (told.tools, told.ran) == ([("add", "look")] * 2, [("add", 1, 2), ("look",)])


def test_every_kind_of_difference_is_found() -> None:
    """Else a difference would pass unseen."""
    ours = Told([(Message("user", "Go."),)], [("add",)], [("add", 1)], "answer", "Done.")
    assert differences(ours, ours) == []
    assert differences(ours, Told(ours.requests, [("sub",)], ours.ran, "answer", "Done.")) == [
        "other tools are shown"
    ]
    assert differences(ours, Told(ours.requests, ours.tools, [("add", 2)], "answer", "Done.")) == [
        "tools run otherwise"
    ]
    assert differences(ours, Told(ours.requests, ours.tools, ours.ran, "answer", "Do.")) == ["another answer"]
    other = Told([(Message("user", "Stop."),)], ours.tools, ours.ran, "answer", "Done.")
    assert differences(ours, other) == ["other words"]
