"""The delivery: the answer is cleaned, kept and sent once, whatever is cut off in between."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace as Kit
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from flowcore import ContractError
from flowcore.errors import ModelRequestError, StoreError
from flowcore.messages import Message
from flowcore.requests import Verification
from flowcore.store import MemoryRunStore, RunStore, SQLiteRunStore
from flowcore.testing import FakeClock
from flowcore_agent import Agent, AgentLimits, AgentReply, AgentRequest, OwnTools
from flowcore_agent.delivery.clean import clean


@dataclass
class Post:
    """A store and a messenger that knows its keys. It fails, or hangs before or after its work, where it is to."""

    fails: dict[str, Exception] = field(default_factory=dict[str, Exception])
    hangs: dict[str, str] = field(default_factory=dict[str, str])
    knows: bool = True
    stored: list[AgentReply] = field(default_factory=list[AgentReply])
    sent: list[str] = field(default_factory=list[str])
    keys: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])
    begun: anyio.Event = field(default_factory=anyio.Event)

    async def store(self, request: AgentRequest, reply: AgentReply, key: str, /) -> None:
        """Keep a reply."""
        await self._do("store", key, self.stored, reply)

    async def send(self, request: AgentRequest, text: str, key: str, /) -> None:
        """Send a text."""
        await self._do("send", key, self.sent, text)

    async def was_done(self, key: str, /) -> bool | None:
        """Return whether it was."""
        self.asked.append(key)
        return key in self.keys if self.knows else None

    async def _do(self, what: str, key: str, done: list[Any], value: Any) -> None:
        if what in self.fails:
            raise self.fails[what]
        hangs = self.hangs.pop(what, "")
        if hangs != "before":
            done.append(value)
            self.keys.append(key)
        if hangs:
            self.begun.set()
            await anyio.sleep_forever()


def ask(text: str = "Go.", **given: Any) -> AgentRequest:
    known: dict[str, Any] = {"source": "message", **given}
    return AgentRequest((Message("user", text),), **known)


def agent_of(kit: Kit, lines: Any, post: Post, tools: Any = (), **spec: Any) -> Agent:
    return Agent(kit.Desk(lines, tools, spec={"delivery": post, **spec}).agent)


def say(kit: Kit, *texts: str, id: str = "m") -> Any:
    wanted = [kit.call("send_message", f'{{"text": "{text}"}}', f"{id}{n}") for n, text in enumerate(texts)]
    return kit.calls(*wanted)


MESSAGE = {"own_tools": OwnTools(message=True)}


@pytest.mark.behaviour("S1-22")
async def test_the_answer_is_cleaned_then_stored_and_sent_as_one_text(kit: Kit) -> None:
    raw = "<think>hidden</think>\n\x1b[1mFour.\x1b[0m<|im_end|>\r\n"
    post = Post()
    agent = agent_of(kit, [raw], post)
    result: Any = await agent.flow.run(await agent.admit(ask()), check=False)
    assert result.path == "prepare > route > trim > think > clean > store > send > deliver"
    assert [reply.text for reply in post.stored] == post.sent == [result.value.text] == [clean(raw)] == ["Four."]
    assert result.value.was_delivered


@pytest.mark.behaviour("S1-23")
async def test_only_a_messaging_run_sends_its_answer_and_each_keeps_it(kit: Kit) -> None:
    for source in ("direct", "chat", "schedule", "event", "delegation"):
        post = Post()
        reply = await agent_of(kit, ["Four."], post).run(ask(source=source))
        assert ([each.text for each in post.stored], post.sent, reply.was_delivered) == (["Four."], [], False)
    post = Post()
    reply = await agent_of(kit, ["Four."], post).run(ask())
    assert (post.sent, reply.was_delivered, len(set(post.keys))) == (["Four."], True, 2)


@pytest.mark.behaviour("S1-23")
async def test_an_explicit_message_takes_the_place_of_the_answer(kit: Kit) -> None:
    post = Post()
    reply = await agent_of(kit, [say(kit, "Here it is: 4.\\u0007"), "Told him."], post, **MESSAGE).run(ask())
    assert (post.sent, [each.text for each in post.stored]) == (["Here it is: 4."], ["Told him."])
    assert (reply.text, reply.was_delivered) == ("Told him.", True)
    assert kit.results(reply) == ["Sent."]


@pytest.mark.behaviour("S1-23")
async def test_a_message_that_was_not_sent_leaves_the_answer_to_be(kit: Kit) -> None:
    class Guard:
        name = "words"
        fails_open = False

        async def check(self, text: str, messages: Any, /) -> str:
            return "says secret" if "secret" in text else ""

    post = Post()
    lines = [say(kit, "The secret.", " "), "Four."]
    reply = await agent_of(kit, lines, post, output_guards=[Guard()], **MESSAGE).run(ask())
    told = kit.results(reply)
    assert told[0] == "Not sent: words does not let it pass. Say it in another way."
    assert "the message is empty, and was not sent: say something" in told[1]
    assert (post.sent, reply.text, reply.was_delivered) == (["Four."], "Four.", True)
    assert [(each.status, each.reason) for each in reply.guards] == [("blocked", "says secret")]


@pytest.mark.behaviour("S1-23")
async def test_a_messenger_that_fails_for_the_message_leaves_the_answer_to_be_sent(kit: Kit) -> None:
    post = Post(fails={"send": OSError("no line")})

    def repaired(request: Any) -> str:
        post.fails.clear()
        return "Four."

    reply = await agent_of(kit, [say(kit, "Now."), repaired], post, **MESSAGE).run(ask())
    assert (post.sent, reply.was_delivered) == (["Four."], True)


@pytest.mark.behaviour("S1-23")
async def test_nothing_to_say_sends_nothing(kit: Kit) -> None:
    post = Post()
    reply = await agent_of(kit, [""], post).run(ask())
    assert (post.sent, reply.was_delivered, [each.reason for each in post.stored]) == ([], False, ["no_answer"])


@pytest.mark.behaviour("S0-46")
async def test_partial_text_is_delivered_and_a_failure_with_nothing_said_is_not(kit: Kit) -> None:
    broken = ModelRequestError("gone", status=400)
    post = Post()
    reply = await agent_of(kit, [kit.calls("look", text="Half of it."), broken], post, [look]).run(ask())
    assert ([each.is_partial for each in post.stored], post.sent) == ([True], ["Half of it."])
    assert (reply.text, reply.is_partial, reply.reason) == ("Half of it.", True, "failed")
    nothing = Post()
    with pytest.raises(ModelRequestError):
        await agent_of(kit, [broken], nothing).run(ask())
    assert (nothing.stored, nothing.sent, nothing.keys) == ([], [], [])


@pytest.mark.parametrize("what", ["store", "send"])
async def test_what_cannot_be_delivered_is_an_issue_and_the_rest_goes_on(kit: Kit, what: str) -> None:
    post = Post(fails={what: OSError("full")})
    reply = await agent_of(kit, ["Four."], post).run(ask())
    assert (reply.text, reply.reason, reply.was_delivered) == ("Four.", "answer", what == "store")
    assert [(each.stage, each.name, each.message) for each in reply.issues] == [
        ("deliver", f"{what}#1", "OSError: full")
    ]
    assert (len(post.stored), len(post.sent)) == ((0, 1) if what == "store" else (1, 0))


def test_a_message_tool_needs_somewhere_to_send_to(kit: Kit) -> None:
    with pytest.raises(ContractError, match=r"own_tools\.message is on, and there is nowhere to send to"):
        kit.Desk([], spec=MESSAGE)


class Process:
    """What a process has of a store: as long as it lives."""

    def __init__(self, store: RunStore) -> None:
        self.store, self.is_dead = store, False

    def __getattr__(self, name: str) -> Any:
        if self.is_dead and name != "listen":
            raise StoreError("this process is dead")
        return getattr(self.store, name)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Any) -> RunStore:
    return MemoryRunStore() if request.param == "memory" else SQLiteRunStore(tmp_path / "runs.db")


async def die(agent: Agent, post: Post, store: RunStore, clock: FakeClock) -> None:
    """Run until the post hangs; then the process dies, and its lease runs out."""
    process: Any = Process(store)
    with anyio.fail_after(20):
        async with agent.start(ask(), store=process, run_id="run", clock=clock) as run:
            while not post.begun.is_set():
                await anyio.lowlevel.checkpoint()
                assert run.trace.ending is None, run.trace.ending
            process.is_dead = True
            await run.cancel("shutdown")
    await clock.advance(31)


@pytest.mark.behaviour("S1-22", "S1-23")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("what", ["store", "send"])
async def test_a_crash_in_the_delivery_neither_loses_nor_doubles_anything(
    kit: Kit, store: RunStore, what: str, when: str
) -> None:
    post, clock = Post(hangs={what: when}), FakeClock()
    agent = agent_of(kit, ["Four."], post)
    await die(agent, post, store, clock)
    result: Any = await agent.flow.resume("run", store=store, clock=clock, check=False)
    assert ([each.text for each in post.stored], post.sent) == (["Four."], ["Four."])
    reply = result.value
    assert (reply.text, reply.was_delivered, reply.issues, result.usage.requests) == ("Four.", True, (), 1)
    assert (f"{what}_again" in result.path) == (when == "before")
    assert post.asked == [f"run/{what}"]
    assert post.keys == ["run/store", "run/send"]


@pytest.mark.behaviour("S1-23")
async def test_a_crash_between_store_and_send_sends_once(kit: Kit, store: RunStore) -> None:
    post, clock = Post(hangs={"send": "before"}), FakeClock()
    agent = agent_of(kit, ["Four."], post)
    await die(agent, post, store, clock)
    assert (len(post.stored), post.sent) == (1, [])
    await agent.flow.resume("run", store=store, clock=clock)
    assert (len(post.stored), post.sent) == (1, ["Four."])


@pytest.mark.behaviour("S1-23")
@pytest.mark.parametrize("was_sent", [True, False])
async def test_what_the_messenger_cannot_tell_a_person_is_asked(kit: Kit, store: RunStore, was_sent: bool) -> None:
    post, clock = Post(hangs={"send": "after" if was_sent else "before"}, knows=False), FakeClock()
    agent = agent_of(kit, ["Four."], post)
    await die(agent, post, store, clock)
    with anyio.fail_after(20):
        async with agent.flow.reopen("run", store=store, clock=clock) as run:
            while not run.requests:
                await anyio.lowlevel.checkpoint()
            (request,) = run.requests
            assert request.question == "send#1 was interrupted: was it done?"
            await run.answer(request.id, Verification(was_sent))
            reply = await run.result()
    assert post.sent == ["Four."]
    assert reply.text == "Four."


@pytest.mark.behaviour("S1-23")
async def test_a_message_of_which_nobody_knows_is_marked_and_nothing_is_sent_after_it(
    kit: Kit, store: RunStore
) -> None:
    post, clock = Post(hangs={"send": "before"}), FakeClock()
    agent = agent_of(kit, [say(kit, "Now."), "Four."], post, **MESSAGE)
    await die(agent, post, store, clock)
    with anyio.fail_after(20):
        async with agent.flow.reopen("run", store=store, clock=clock) as run:
            while not run.requests:
                await anyio.lowlevel.checkpoint()
            await run.answer(None, Verification(None))
            reply = await run.result()
    assert (post.sent, reply.was_delivered, [each.text for each in post.stored]) == ([], True, ["Four."])
    assert [(each.stage, each.name) for each in reply.issues] == [("deliver", "send_message")]


@pytest.mark.behaviour("S1-23")
async def test_a_message_that_was_sent_before_a_crash_is_not_sent_again(kit: Kit, store: RunStore) -> None:
    post, clock = Post(hangs={"store": "before"}), FakeClock()
    agent = agent_of(kit, [say(kit, "Now."), "Four."], post, **MESSAGE)
    await die(agent, post, store, clock)
    reply = await agent.flow.resume("run", store=store, clock=clock)
    assert (post.sent, reply.was_delivered, len(post.stored)) == (["Now."], True, 1)


async def look() -> str:
    """Look."""
    return "seen"


@pytest.mark.behaviour("S1-23")
@pytest.mark.parametrize(
    ("hangs", "knows", "sent", "was_delivered"),
    [("after", True, 1, True), ("before", True, 0, False), ("after", False, 1, False)],
)
async def test_a_messenger_that_takes_too_long_is_looked_up_and_left(
    kit: Kit, hangs: str, knows: bool, sent: int, was_delivered: bool
) -> None:
    post = Post(hangs={"send": hangs}, knows=knows)
    reply = await agent_of(kit, ["Four."], post, limits=AgentLimits(tool_timeout=0.01)).run(ask())
    assert (reply.text, len(post.sent), reply.was_delivered) == ("Four.", sent, was_delivered)
    unsure = "TimeoutError: it took longer than 0.01 seconds, and may have been done"
    assert [each.message for each in reply.issues] == ([] if was_delivered else [unsure])


@pytest.mark.behaviour("S1-23")
async def test_a_message_that_was_cut_off_is_marked_and_the_answer_is_not_sent(kit: Kit) -> None:
    post, clock = Post(hangs={"send": "after"}, knows=False), FakeClock()
    agent = agent_of(kit, [say(kit, "Now."), "Four."], post, **MESSAGE)
    with anyio.fail_after(20):
        async with agent.start(ask(), clock=clock) as run:
            await post.begun.wait()
            await clock.advance(61)
            reply = await run.result()
    assert (post.sent, [each.text for each in post.stored], reply.was_delivered) == (["Now."], ["Four."], True)
    assert [(each.stage, each.name) for each in reply.issues] == [("deliver", "send_message")]


async def test_a_run_that_is_cancelled_while_it_sends_sends_nothing_more(kit: Kit, store: RunStore) -> None:
    post = Post(hangs={"send": "before"})
    agent = agent_of(kit, ["Four."], post)
    with anyio.fail_after(20):
        async with agent.start(ask(), store=store, run_id="run") as run:
            await post.begun.wait()
            await run.cancel()
            result = await run.wait()
    assert (result.status, post.sent, post.asked, len(post.stored)) == ("cancelled", [], [], 1)
    rows = (await store.load("run")).calls
    assert [(row.name, row.status) for row in rows if row.kind == "node"] == [
        ("store", "done"),
        ("send", "unknown"),
    ]


def test_what_is_no_end_of_a_run_is_refused_when_the_spec_is_made(kit: Kit) -> None:
    with pytest.raises(ContractError) as caught:
        kit.Desk([], spec={"delivery": object(), "sink": 7, "observers": [7], "guards": 7})
    for fault in (
        "delivery is a object without store, send, was_done: give these async methods",
        "sink is a int: give an async function, or an object with async output()",
        "observers has 7: give async functions of a request and its reply",
        "guards is a int: give a list of guardrails",
    ):
        assert fault in str(caught.value)


@pytest.mark.behaviour("S1-22", "S1-23")
def test_the_end_of_the_flow_as_it_is_declared(kit: Kit) -> None:
    flow = agent_of(kit, [], Post(), output_guards=[Passing()], guards=[Passing()]).flow
    tail = {"clean", "guard_output", "store", "store_again", "send", "send_again", "deliver", "guard_input"}
    edges = {
        (source, data["label"] if data["kind"] == "label" else data["kind"], target)
        for source, target, data in flow.graph.edges(data=True)
        if source in tail and target in flow.graph.nodes
    }
    assert {edge for edge in edges if edge[2] in {*tail, "prepare"}} == {
        ("guard_input", "passed", "prepare"),
        ("guard_input", "blocked", "clean"),
        ("clean", "next", "guard_output"),
        ("guard_output", "passed", "store"),
        ("guard_output", "blocked", "store"),
        ("store", "next", "send"),
        ("store", "error", "store_again"),
        ("store", "error", "send"),
        ("store_again", "next", "send"),
        ("store_again", "error", "send"),
        ("send", "next", "deliver"),
        ("send", "error", "send_again"),
        ("send", "error", "deliver"),
        ("send_again", "next", "deliver"),
        ("send_again", "error", "deliver"),
    }


@pytest.mark.behaviour("S0-49", "S1-23")
async def test_a_refusal_is_kept_and_sent_once_and_looked_at_by_nobody(kit: Kit) -> None:
    post, outer = Post(), Passing()
    spec = {"guards": [Passing("Go")], "output_guards": [outer], "refusal": "No."}
    reply = await agent_of(kit, [], post, **spec).run(ask())
    assert (post.sent, [each.text for each in post.stored], outer.seen) == (["No."], ["No."], [])
    assert (reply.turn, reply.reason) == ((Message("assistant", "No."),), "blocked")
    assert [(each.side, each.status) for each in reply.guards] == [("input", "blocked")]


class Passing:
    """A guardrail that blocks texts with a word, and all else not."""

    name = "passing"
    fails_open = False

    def __init__(self, word: str = "never said") -> None:
        self.word, self.seen = word, list[str]()

    async def check(self, text: str, messages: Any, /) -> str:
        """Return whether it has the word."""
        self.seen.append(text)
        return "says it" if self.word in text else ""
