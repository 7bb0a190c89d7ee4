"""Earlier turns: what was kept of them comes back as calls with their results."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace as Kit
from typing import Any

import pytest

from flowcore import ContractError
from flowcore.messages import Attachment, Message, ToolCall
from flowcore.tools import ToolOutput, tool
from flowcore_agent import AgentRequest
from flowcore_agent.context.history import restored

ASKED = Message("assistant", "I look.", (ToolCall("c1", "look", '{"at": 1}'), ToolCall("c2", "look", "{}")))
FOUND = (Message("tool", "seen 1", tool_call_id="c1"), Message("tool", "seen", tool_call_id="c2"))
SAID = Message("assistant", "Seen.")
TURN = (ASKED, *FOUND, SAID)
PICTURE = Message("user", "The tools returned what is attached.", attachments=(Attachment("image/png", b"x"),))


@tool
async def look(at: int = 0) -> str:
    """Look."""
    return f"seen {at}"


@tool
async def shoot() -> ToolOutput:
    """Take a picture."""
    return ToolOutput("a picture", attachments=(Attachment("image/png", b"x"),))


def request(*history: Any, said: str = "Seen.") -> AgentRequest:
    talk = (Message("user", "Look."), Message("assistant", said), Message("user", "And now?"))
    return AgentRequest(talk, history=history)


@pytest.mark.behaviour("S3-24", "S0-22")
async def test_the_turn_of_a_reply_is_the_history_of_the_next_request(kit: Kit) -> None:
    desk = kit.Desk([kit.calls("look", "shoot", text="I look."), "Seen.", "Still there."], [look, shoot])
    first = (await desk.ask("Look.")).value
    before = desk.requests[1].messages[1:]
    second = await desk.ask(
        "And now?", Message("user", "Look."), Message("assistant", first.text), history=(first.turn,)
    )
    assert desk.requests[2].messages[1:] == (*before, first.turn[-1], Message("user", "And now?"))
    assert desk.requests[2].messages[2:6] == first.turn[:4]
    assert [message.role for message in first.turn] == ["assistant", "tool", "tool", "user", "assistant"]
    assert second.value.issues == ()


@pytest.mark.behaviour("S3-24")
def test_a_turn_stands_in_the_place_of_its_message() -> None:
    messages, issues = restored(request(TURN))
    assert messages == [Message("user", "Look."), *TURN, Message("user", "And now?")]
    assert issues == []


def test_what_the_user_has_seen_is_what_was_said() -> None:
    messages, _ = restored(request(TURN, said="That was cleaned."))
    assert messages[1:5] == [ASKED, *FOUND, Message("assistant", "That was cleaned.")]
    messages, _ = restored(request(TURN[:3]))
    assert messages[1:5] == list(TURN)


def test_an_answer_without_words_adds_nothing_to_its_turn() -> None:
    messages, _ = restored(request(TURN[:3], said=" "))
    assert messages == [Message("user", "Look."), *TURN[:3], Message("user", "And now?")]


def test_an_earlier_turn_may_have_no_history() -> None:
    for history in ((), ((),)):
        messages, issues = restored(request(*history))
        assert (messages[1], issues) == (SAID, [])


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        ((ASKED, FOUND[0], SAID), "there is no result of c2"),
        ((ASKED,), "there is no result of c1, c2"),
        ((FOUND[0], SAID), "a result answers no call: 'c1'"),
        ((ASKED, *FOUND, FOUND[0]), "a result answers no call: 'c1'"),
        ((Message("system", "Obey."), SAID), "it has a message of role system"),
        ((Message("user", "Hm."), SAID), "it has a message of role user"),
        ((ASKED, *FOUND, replace(PICTURE, attachments=())), "it has a message of role user"),
        ((SAID, PICTURE), "it has a message of role user"),
        (
            (replace(ASKED, tool_calls=ASKED.tool_calls[:1] * 2), FOUND[0], FOUND[0]),
            "two calls have one id: c1, c1",
        ),
        ((Message("assistant", " "), SAID), "it has a message that says nothing"),
        (("Seen.",), "it has a str and no message"),
    ],
)
def test_a_turn_that_is_not_sound_is_an_issue_and_its_message_stands_alone(turn: Any, why: str) -> None:
    messages, (issue,) = restored(request(turn))
    assert messages == [*request().messages]
    assert (issue.stage, issue.name, issue.message) == ("prepare", "history", f"a turn is left out: {why}")


def test_pictures_of_tools_are_part_of_a_turn() -> None:
    turn = (ASKED, *FOUND, PICTURE, SAID)
    messages, issues = restored(request(turn))
    assert (messages[1:6], issues) == ([*turn], [])


def test_turns_that_belong_to_no_message_are_left_out() -> None:
    messages, (issue,) = restored(request(TURN, TURN))
    assert len(messages) == 6
    assert issue.message == "there are 1 more turns than messages of the assistant, and they are left out"


@pytest.mark.parametrize(
    ("history", "why"),
    [
        ((None,), "history: give each turn as a tuple"),
        ("x", "history='x': give the turns of earlier replies"),
    ],
)
def test_a_history_that_is_none_is_refused(history: Any, why: str) -> None:
    with pytest.raises(ContractError, match=why):
        AgentRequest((Message("user", "Go."),), history=history)
