"""The gate in a stream: pieces wait until their window has passed, and no border hides a phrase."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace as Kit
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowcore.errors import ModelRequestError
from flowcore.messages import Chunk, Message
from flowcore.testing import ScriptedLine
from flowcore_agent import Agent, AgentLimits, AgentRequest, GuardReport, OwnTools
from flowcore_agent.guardrails.gate import OutputGate
from flowcore_agent.guardrails.windows import Windows

SMALL = AgentLimits(guard_window=10, guard_overlap=4)
texts = st.text(alphabet="ab ", max_size=12)


class Words:
    """A guardrail that blocks texts with a word, and keeps what it has looked at."""

    def __init__(self, *words: str, name: str = "words", fails: Sequence[int] = ()) -> None:
        self.words = words
        self.name = name
        self.fails_open = True
        self.fails = fails
        self.seen: list[str] = []

    async def check(self, text: str, messages: Sequence[Message], /) -> str:
        """Return the word that blocks."""
        self.seen.append(text)
        if len(self.seen) - 1 in self.fails:
            raise OSError("no answer")
        return next((f"says {word}" for word in self.words if word in text), "")


class Sink:
    """What the client of a stream gets."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []

    async def output(self, chunk: Chunk, /) -> None:
        """Take a piece."""
        self.chunks.append(chunk)

    @property
    def text(self) -> str:
        """All text so far."""
        return "".join(chunk.text for chunk in self.chunks)


class Stop(Exception):
    """A window does not pass."""


def ask(text: str = "Go.", **given: Any) -> AgentRequest:
    return AgentRequest((Message("user", text),), **given)


def agent_of(kit: Kit, lines: Sequence[Any], sink: Sink, *guards: Any, **spec: Any) -> Agent:
    given = {"sink": sink, "output_guards": guards, "limits": SMALL, **spec}
    return Agent(kit.Desk(lines, spec=given).agent)


@pytest.mark.behaviour("S0-50")
@given(st.lists(texts), st.integers(1, 4), st.integers(1, 9))
@settings(max_examples=300, deadline=None)
def test_windows_show_everything_and_let_go_what_was_seen_with_what_follows(
    pieces: list[str], overlap: int, more: int
) -> None:
    size = overlap + more
    windows, shown, text = Windows(size, overlap), list[str](), ""
    for piece in pieces:
        windows.add(piece)
        text += piece
        shown += windows.full()
        assert windows.length == len(text)
        assert len(text) - windows.passed < size
        for end in range(1, windows.passed + 1):  # every phrase that has begun to go on was seen whole
            phrase = text[end - 1 : end - 1 + overlap]
            assert any(phrase in window for window in shown)
    shown += windows.rest()
    assert windows.passed == len(text)
    assert all(len(window) <= size for window in shown)
    for start in range(len(text)):
        assert any(text[start : start + overlap + 1] in window for window in shown)


@pytest.mark.behaviour("S0-50")
@given(st.lists(texts), st.sampled_from(["aab", "bb b", "a"]))
@settings(max_examples=300, deadline=None)
async def test_the_gate_lets_nothing_of_a_phrase_go_on(pieces: list[str], phrase: str) -> None:
    sink = Sink()

    async def look(window: str) -> None:
        if phrase in window:
            raise Stop

    gate, text, stopped = OutputGate(sink, look, 10, 4), "".join(pieces), False
    try:
        for piece in pieces:
            await gate.output(Chunk(text=piece))
        await gate.close()
    except Stop:
        stopped = True
    assert stopped == (phrase in text)
    assert text.startswith(sink.text)
    if stopped:
        assert len(sink.text) <= text.index(phrase)
    else:
        assert sink.text == text


@pytest.mark.behaviour("S0-50")
async def test_pieces_are_held_back_until_their_window_has_passed(kit: Kit) -> None:
    guard, sink = Words(), Sink()
    told: list[tuple[str, int]] = []

    class Watched(Words):
        async def check(self, text: str, messages: Sequence[Message], /) -> str:
            told.append((text, len(sink.text)))
            return ""

    pieces = ("abcd", "efgh", "ijkl", "mnop", "qr")
    agent = agent_of(kit, [ScriptedLine(pieces=pieces)], sink, guard, Watched(name="watched"))
    reply = await agent.run(ask())
    assert guard.seen == ["abcdefghij", "ghijklmnop", "mnopqr"]
    assert told == [("abcdefghij", 0), ("ghijklmnop", 4), ("mnopqr", 12)]
    assert [chunk.text for chunk in sink.chunks] == [*pieces, ""]
    assert sink.chunks[-1].finish_reason == "stop"
    assert reply.guards == (GuardReport("output", "words", "passed"), GuardReport("output", "watched", "passed"))


@pytest.mark.behaviour("S0-50")
async def test_a_phrase_across_the_border_is_seen_and_the_request_is_not_read_to_its_end(kit: Kit) -> None:
    guard, sink = Words("jkl"), Sink()
    pieces = ("abcd", "efgh", "ijkl", "mnop", "qrst", "uvwx")
    agent = agent_of(kit, [ScriptedLine(pieces=pieces)], sink, guard, refusal="No.")
    reply = await agent.run(ask())
    assert (sink.text, guard.seen) == ("abcd", ["abcdefghij", "ghijklmnop"])
    assert (reply.text, reply.reason) == ("No.", "blocked")
    assert reply.turn == (Message("assistant", "No."),)
    assert reply.guards == (GuardReport("output", "words", "blocked", "says jkl"),)
    assert reply.usage.requests == 1


@pytest.mark.behaviour("S0-50")
async def test_what_passed_the_gate_is_not_looked_at_again_and_what_was_cleaned_is(kit: Kit) -> None:
    guard, sink = Words("secret"), Sink()
    reply = await agent_of(kit, ["All fine."], sink, guard).run(ask())
    assert (guard.seen, reply.text) == (["All fine."], "All fine.")
    hidden = Words("secret")
    line = ScriptedLine(pieces=("The sec", "\u200bret."))
    reply = await agent_of(kit, [line], Sink(), hidden, limits=AgentLimits()).run(ask())
    assert hidden.seen == ["The sec\u200bret.", "The secret."]
    assert (reply.text, reply.reason) == ("", "blocked")


@pytest.mark.behaviour("S0-51")
async def test_a_guard_that_failed_open_once_has_not_passed(kit: Kit) -> None:
    sink = Sink()
    guard = Words(fails=[1])
    reply = await agent_of(kit, [ScriptedLine(pieces=("abcdefgh", "ijklmnop", "qr"))], sink, guard).run(ask())
    assert len(guard.seen) == 3
    assert (sink.text, reply.guards) == (
        "abcdefghijklmnopqr",
        (GuardReport("output", "words", "failed_open", "OSError: no answer"),),
    )


@pytest.mark.behaviour("S0-48", "S0-50")
async def test_reasoning_has_windows_of_its_own_and_all_goes_on_in_order(kit: Kit) -> None:
    guard, sink = Words(), Sink()
    pieces = (Chunk(reasoning="I think."), Chunk(text="So"), Chunk(reasoning="Hm."), Chunk(text=" it is."))
    await agent_of(kit, [ScriptedLine(pieces=pieces)], sink, guard).run(ask())
    assert guard.seen == ["I think.", "So", "ink.Hm.", "So it is."]
    assert [chunk.text or chunk.reasoning for chunk in sink.chunks] == ["I think.", "So", "Hm.", " it is.", ""]
    stopped = Sink()
    reply = await agent_of(kit, [ScriptedLine(pieces=pieces)], stopped, Words("think")).run(ask())
    assert (stopped.chunks, reply.reason) == ([], "blocked")


@pytest.mark.behaviour("S0-46", "S0-50")
async def test_a_stream_that_breaks_leaves_text_that_is_looked_at_whole(kit: Kit) -> None:
    error = ModelRequestError("gone", status=400)
    line = ScriptedLine(pieces=("abcd", "efgh", "ijkl"), breaks=error)
    guard, sink = Words(), Sink()
    reply = await agent_of(kit, [line], sink, guard).run(ask())
    assert (reply.text, reply.is_partial, reply.reason) == ("abcdefghijkl", True, "failed")
    assert (sink.text, guard.seen) == ("abcd", ["abcdefghij", "abcdefghijkl"])
    blocked = await agent_of(kit, [line], Sink(), Words("kl")).run(ask())
    assert (blocked.text, blocked.is_partial, blocked.reason) == ("", False, "blocked")


async def test_words_for_the_user_in_the_arguments_of_a_call_do_not_pass_by_the_gate(kit: Kit) -> None:
    sink = Sink()
    lines = [kit.calls(kit.call("complete", '{"answer": "The secret."}'))]
    agent = agent_of(kit, lines, sink, Words("secret"), own_tools=OwnTools(completion=True))
    reply = await agent.run(ask())
    assert [(chunk.call_name, chunk.arguments) for chunk in sink.chunks] == [("complete", ""), ("", "")]
    assert (reply.text, reply.reason) == ("", "blocked")


async def test_what_was_said_before_is_no_answer_in_the_place_of_what_was_blocked(kit: Kit) -> None:
    limits = AgentLimits(turns=1)
    lines = [kit.calls("look", text="I look."), "The secret."]
    desk = kit.Desk(lines, [look], spec={"sink": Sink(), "output_guards": [Words("secret")], "limits": limits})
    result = await Agent(desk.agent).run(ask())
    assert (result.text, result.reason, result.is_partial) == ("", "blocked", False)


async def look() -> str:
    """Look."""
    return "seen"
