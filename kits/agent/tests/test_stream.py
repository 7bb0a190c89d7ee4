"""The stream: what a client is told of a run, up to its end, which always comes."""

from __future__ import annotations

from types import SimpleNamespace as Kit
from typing import Any, get_args

import anyio
import anyio.lowlevel
import pytest

from flowcore.control import control
from flowcore.errors import ModelRequestError
from flowcore.messages import Chunk, Message, ModelReply, ModelRequest
from flowcore.store import MemoryRunStore
from flowcore.testing import ScriptedLine
from flowcore.tools import Allow, Decision, Deny, Proposal
from flowcore_agent import (
    AdmissionError,
    Agent,
    AgentLimits,
    AgentRequest,
    OwnTools,
    StreamKind,
    StreamPiece,
)

KNOWN = ("content", "end")


class Words:
    """A guardrail that blocks texts with a word."""

    name = "words"
    fails_open = False

    def __init__(self, word: str) -> None:
        self.word = word

    async def check(self, text: str, messages: Any, /) -> str:
        """Return whether it has the word."""
        return f"says {self.word}" if self.word in text else ""


def ask(text: str = "Go.", **given: Any) -> AgentRequest:
    return AgentRequest((Message("user", text),), **given)


async def heard(agent: Agent, request: AgentRequest | None = None, **options: Any) -> list[StreamPiece]:
    """Returns all pieces of a run."""
    with anyio.fail_after(20):
        async with agent.stream(request or ask(), **options) as pieces:
            return [piece async for piece in pieces]


def result_of(pieces: list[StreamPiece]) -> Any:
    return pieces[-1].result


def text_of(pieces: list[StreamPiece]) -> str:
    return "".join(piece.text for piece in pieces if piece.kind == "content")


@pytest.mark.behaviour("S0-48", "S4-06", "S4-13")
async def test_a_stream_has_content_reasoning_and_what_happens_and_those_who_ignore_it_get_the_text(
    kit: Kit,
) -> None:
    def policy(proposal: Proposal) -> Decision:
        return Deny("not allowed to") if proposal.tool.name == "erase" else Allow()

    spec = {
        "own_tools": OwnTools(sub_agent=True),
        "memory": Memory(),
        "policy": policy,
        "output_guards": [Words("nothing of this")],
        "limits": AgentLimits(keep_recent=0),
    }
    lines = [
        kit.calls("look", "erase", kit.call("delegate", '{"task": "Look."}'), text="I look.", reasoning="Hm."),
        "Seen by a sub-agent.",
        ModelReply("It is seen.", reasoning="Well."),
    ]
    desk = kit.Desk(lines, [look, erase], spec=spec)
    pieces = await heard(Agent(desk.agent), ask(user="ann"))
    kinds = {piece.kind for piece in pieces}
    assert kinds >= {"content", "reasoning", "guardrail", "run", "step", "model", "tool", "sub_agent", "memory"}
    assert kinds >= {"artifact", "policy", "end"}
    assert kinds <= set(get_args(StreamKind))
    assert (pieces[0].kind, pieces[0].name) == ("run", "run.started")
    assert [piece.kind for piece in pieces].index("memory") > 0
    assert (pieces[-1].kind, result_of(pieces).value.text) == ("end", "It is seen.")
    assert [piece.kind for piece in pieces].count("end") == 1
    simple = "".join(piece.text for piece in pieces if piece.kind in KNOWN)
    assert simple == text_of(pieces) == "I look.It is seen."
    assert "".join(piece.text for piece in pieces if piece.kind == "reasoning") == "Hm.Well."
    guardrails = [piece.data["status"] for piece in pieces if piece.kind == "guardrail"]
    assert guardrails == ["passed", "passed"]
    assert [piece.data["call"] for piece in pieces if piece.kind == "policy"] == ["erase"]
    inner = [piece for piece in pieces if piece.kind == "sub_agent" and "task" in piece.data]
    assert all(piece.data["depth"] == 1 for piece in inner)


@pytest.mark.behaviour("S4-13")
@pytest.mark.parametrize("kind", ["step", "content", "tool", "memory", "skills", "artifact", "policy"])
def test_each_kind_of_progress_is_a_kind_of_piece(kind: str) -> None:
    assert kind in get_args(StreamKind)


@pytest.mark.behaviour("S0-45", "S0-48")
@pytest.mark.parametrize(
    ("line", "status", "text"),
    [
        ("Fine.", "completed", "Fine."),
        (ModelRequestError("gone", status=400), "failed", ""),
        (
            ScriptedLine(pieces=("Half", " of it"), breaks=ModelRequestError("gone", status=400)),
            "completed",
            "Half of it",
        ),
        (AssertionError("a fault of the model's code"), "failed", ""),
    ],
)
async def test_a_stream_ends_with_one_end_however_the_run_ended(
    kit: Kit, line: Any, status: str, text: str
) -> None:
    pieces = await heard(Agent(kit.Desk([line]).agent))
    assert [piece.kind for piece in pieces].count("end") == 1
    assert result_of(pieces).status == status
    assert text_of(pieces) == text


@pytest.mark.behaviour("S0-45")
async def test_a_stream_of_a_run_that_is_cancelled_ends(kit: Kit) -> None:
    store, seen = MemoryRunStore(), list[StreamPiece]()
    agent = Agent(kit.Desk([ScriptedLine(pieces=("Half", " of it"), pause=3600)]).agent)
    with anyio.fail_after(20):
        async with (
            anyio.create_task_group() as group,
            agent.stream(ask(), store=store, run_id="run") as pieces,
        ):
            async for piece in pieces:
                seen.append(piece)
                if piece.kind == "content":
                    group.start_soon(control(store, "run").interrupt)
    assert text_of(seen) == "Half"
    assert [piece.kind for piece in seen].count("end") == 1
    assert (seen[-1].kind, result_of(seen).status) == ("end", "cancelled")


async def test_who_leaves_early_cancels_the_run(kit: Kit) -> None:
    events: list[Any] = []
    desk = kit.Desk([ScriptedLine(pieces=("Half", " of it"), pause=3600)])
    with anyio.fail_after(20):
        async with Agent(desk.agent).stream(ask(), observers=[events.append]) as pieces:
            async for piece in pieces:
                if piece.kind == "content":
                    break
        while events[-1].kind != "run.cancelled":
            await anyio.lowlevel.checkpoint()
    assert desk.model.open == 0


async def test_an_error_of_the_client_goes_out_as_it_is_and_ends_the_run(kit: Kit) -> None:
    desk = kit.Desk(["One two three."])

    async def client() -> None:
        async with Agent(desk.agent).stream(ask()) as pieces:
            async for piece in pieces:
                if piece.kind == "content":
                    raise KeyError("mine")

    with anyio.fail_after(20), pytest.raises(KeyError, match="mine"):
        await client()
    assert desk.model.open == 0


async def test_a_request_that_is_not_taken_has_no_stream(kit: Kit) -> None:
    with pytest.raises(AdmissionError):
        await heard(Agent(kit.Desk([]).agent), AgentRequest(()))


@pytest.mark.behaviour("S0-50")
async def test_nothing_in_a_stream_has_what_the_guards_blocked(kit: Kit) -> None:
    spec = {"output_guards": [Words("secret")], "refusal": "No.", "own_tools": OwnTools(completion=True)}
    for line in ("The secret is 7.", kit.calls(kit.call("complete", '{"answer": "The secret."}'))):
        pieces = await heard(Agent(kit.Desk([line], spec=spec).agent))
        assert text_of(pieces) == "No."
        assert "The secret" not in repr([piece for piece in pieces if piece.kind != "end"])
        assert "The secret" not in repr(result_of(pieces).value)


@pytest.mark.behaviour("S0-48")
async def test_an_answer_that_no_piece_had_comes_before_the_end(kit: Kit) -> None:
    line = kit.calls(kit.call("complete", '{"answer": "Four."}'), text="I am done.")
    pieces = await heard(Agent(kit.Desk([line], spec={"own_tools": OwnTools(completion=True)}).agent))
    assert [piece.text for piece in pieces if piece.kind == "content"] == ["I", " am", " done.", "Four."]
    blocked = await heard(Agent(kit.Desk([], spec={"guards": [Words("Go")], "refusal": "No."}).agent))
    assert [(piece.kind, piece.text) for piece in blocked if piece.kind in KNOWN] == [
        ("content", "No."),
        ("end", ""),
    ]


async def test_streams_side_by_side_have_each_their_own_pieces_and_the_sink_all(kit: Kit) -> None:
    everything: list[str] = []

    class Sink:
        async def output(self, chunk: Chunk, /) -> None:
            everything.append(chunk.text)

    agent = Agent(kit.Desk([echo] * 4, spec={"sink": Sink()}).agent)
    texts: dict[str, str] = {}

    async def one(name: str) -> None:
        texts[name] = text_of(await heard(agent, ask(name)))

    async with anyio.create_task_group() as group:
        for name in "abcd":
            group.start_soon(one, name)
    assert texts == {name: name for name in "abcd"}
    assert sorted(filter(None, everything)) == list("abcd")


def echo(request: ModelRequest) -> str:
    return request.messages[-1].content


async def look() -> str:
    """Look."""
    return "seen"


async def erase() -> str:
    """Erase."""
    return "erased"


class Memory:
    """A memory that remembers one thing."""

    async def core(self, user: str, agent: str, /) -> str:
        """Return it."""
        return "She likes tea."

    async def generation(self, user: str, agent: str, /) -> int:
        """Return always the same."""
        return 1

    async def recall(self, user: str, agent: str, query: str, most: int, /) -> list[str]:
        """Return nothing more."""
        return []

    async def save(self, user: str, agent: str, text: str, /) -> None:
        """Keep nothing."""
