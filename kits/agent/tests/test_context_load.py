"""Loading the context: once per request, each section on its own, told by events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace as Kit
from typing import Any

import anyio
import pytest

from flowcore import Budget, BudgetExhausted, Complete, ContractError, Flow, Step, node
from flowcore.errors import SignInNeeded
from flowcore.events import Custom, RunStarted
from flowcore.messages import Attachment, Message
from flowcore.store import MemoryRunStore
from flowcore.testing import FakeClock
from flowcore.tools import Tool, tool
from flowcore_agent import (
    AgentLimits,
    AgentRequest,
    AgentState,
    CustomPrompt,
    FileFolder,
    Issue,
    OwnTools,
    SkillCard,
    SQLiteMemory,
    admit,
    agent_flow,
)
from flowcore_agent.context.context import AgentContext, Given
from flowcore_agent.context.core_memory import CoreMemory
from flowcore_agent.context.load import load_context
from flowcore_agent.errors import ContextUnavailable
from flowcore_agent.parts import Parts


@tool
async def look() -> str:
    """Look."""
    return "seen"


class Spy:
    """A memory, skills and files in one: notes what it was asked, and fails where it is told to."""

    def __init__(self, **errors: Exception) -> None:
        self.asked: list[str] = []
        self.errors = errors
        self.now = 1
        self.text = "Her name is Ann."

    def _note(self, what: str) -> None:
        self.asked.append(what)
        if what in self.errors:
            raise self.errors[what]

    async def generation(self, user: str, agent: str) -> int:
        self._note("generation")
        return self.now

    async def core(self, user: str, agent: str) -> str:
        self._note("core")
        return self.text

    async def recall(self, user: str, agent: str, query: str, most: int) -> Sequence[str]:
        self._note("recall")
        return [f"{user} of {agent} asked {query}"][:most]

    async def save(self, user: str, agent: str, text: str) -> None:
        self._note("save")

    async def cards(self) -> Sequence[SkillCard]:
        self._note("cards")
        return [SkillCard("brew", "How to brew.")]

    async def read(self, name: str) -> str:
        self._note(name)
        return f"All about {name}."


class Shed:
    """A toolset that holds one tool, or cannot be opened."""

    timeout = None

    def __init__(self, name: str, error: Exception | None = None) -> None:
        self.name = name
        self.error = error

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Sequence[Tool]]:
        if self.error is not None:
            raise self.error

        @tool(name=f"{self.name}_dig")
        async def dig() -> str:
            """Dig."""
            return "dug"

        yield [dig]


def spied(spy: Spy, **more: Any) -> dict[str, Any]:
    return {"memory": spy, "skills": spy, "files": spy, **more}


NAMED: dict[str, Any] = {"skills": ("brew",), "context_files": ("tea.md",)}


@pytest.mark.behaviour("S3-13")
async def test_a_request_is_prepared_once_however_many_turns_it_has(kit: Kit) -> None:
    spy = Spy()
    desk = kit.Desk([kit.calls("look"), kit.calls("Look"), "Seen."], [look], spec=spied(spy))
    result = await desk.ask("What of tea?", **NAMED)
    assert len(desk.requests) == 3
    assert sorted(spy.asked) == ["brew", "cards", "core", "generation", "recall", "tea.md"]
    assert result.path.count("prepare") == 1
    first = desk.requests[0].messages
    assert [request.messages[: len(first)] for request in desk.requests] == [first] * 3
    assert [message.role for message in first] == ["system", "user", "assistant", "tool", "tool"]
    assert "- ann of agent asked What of tea?" in first[0].content


@pytest.mark.behaviour("S0-09", "S3-15")
@pytest.mark.parametrize(
    ("fails", "issue"),
    [
        ("core", Issue("memory", "core memory", "OSError: gone")),
        ("generation", Issue("memory", "core memory", "OSError: gone")),
        ("recall", Issue("memory", "recalled memory", "OSError: gone")),
        ("cards", Issue("skills", "skills", "OSError: gone")),
        ("brew", Issue("skills", "brew", "OSError: gone")),
        ("tea.md", Issue("prepare", "tea.md", "OSError: gone")),
    ],
)
async def test_a_section_that_cannot_be_loaded_is_listed_and_the_rest_is_there(
    kit: Kit, fails: str, issue: Issue
) -> None:
    spy = Spy(**{fails: OSError("gone")})
    desk = kit.Desk(["Fine."], spec=spied(spy))
    result = await desk.ask("Tea?", **NAMED)
    assert (result.value.text, result.value.issues) == ("Fine.", (issue,))
    sent = "\n".join(message.content for message in desk.requests[0].messages)
    marks = {
        "core": "Her name is Ann.",
        "generation": "Her name is Ann.",
        "recall": "ann of agent",
        "cards": "How to brew.",
        "brew": "All about brew.",
        "tea.md": "All about tea.md.",
    }
    missing = marks.pop(fails)
    there = {mark for mark in marks.values() if mark != missing}
    assert {mark for mark in [*there, missing] if mark in sent} == there
    assert f"- {issue.name}: OSError: gone" in sent


@pytest.mark.behaviour("S0-09")
async def test_a_section_that_takes_too_long_is_given_up(kit: Kit) -> None:
    class Slow(Spy):
        async def recall(self, user: str, agent: str, query: str, most: int) -> Sequence[str]:
            await anyio.sleep_forever()
            return ()

    desk = kit.Desk(["Fine."], spec={"memory": Slow(), "limits": AgentLimits(tool_timeout=0.01)})
    result = await desk.ask()
    told = "TimeoutError: it took longer than 0.01 seconds"
    assert result.value.issues == (Issue("memory", "recalled memory", told),)


async def test_a_run_is_cancelled_while_its_context_is_loaded(kit: Kit) -> None:
    begun = anyio.Event()

    class Hanging(Spy):
        async def recall(self, user: str, agent: str, query: str, most: int) -> Sequence[str]:
            begun.set()
            await anyio.sleep_forever()
            return ()

    desk = kit.Desk(["Fine."], spec=spied(Hanging()))
    request = AgentRequest((Message("user", "Tea?"),), user="ann")
    async with agent_flow(desk.agent).start(admit(desk.agent, request)) as run:
        await begun.wait()
        await run.cancel()
        result = await run.wait()
    assert (result.status, result.stragglers, desk.requests) == ("cancelled", (), [])


@pytest.mark.behaviour("S0-11")
async def test_what_is_required_fails_the_request_with_everything_that_is_missing(kit: Kit) -> None:
    spy = Spy(core=OSError("gone"), brew=LookupError("no brew"), cards=OSError("gone"))
    sheds = [Shed("mail", OSError("locked"))]
    desk = kit.Desk(["Fine."], sheds, spec=spied(spy, required=("memory", "skills", "tools")))
    result = await desk.ask("Tea?", **NAMED)
    error = result.failure.exception
    assert isinstance(error, ContextUnavailable)
    assert desk.requests == []
    assert error.missing == (
        "core memory: OSError: gone",
        "skills: OSError: gone",
        "brew: LookupError: no brew",
        "mail: OSError: locked",
    )
    assert str(error).startswith("agent 'agent' cannot do without what could not be loaded: core memory: OSError")


@pytest.mark.parametrize("error", [BudgetExhausted("requests", 1, 1), ContractError("wrong")])
async def test_what_says_that_the_run_cannot_go_on_is_no_issue(kit: Kit, error: Exception) -> None:
    desk = kit.Desk(["Fine."], spec={"memory": Spy(recall=error)})
    result = await desk.ask()
    assert (result.status, result.failure.type) == ("failed", type(error).__name__)
    assert desk.requests == []


async def test_what_a_request_names_and_the_agent_has_not_is_listed(kit: Kit) -> None:
    desk = kit.Desk(["Fine."])
    result = await desk.ask("Tea?", skills=("brew", "brew"), context_files=("a.md",))
    assert result.value.issues == (
        Issue("skills", "brew", "the agent has no skills"),
        Issue("prepare", "a.md", "the agent reads no files"),
    )
    assert [message.role for message in desk.requests[0].messages] == ["system", "user"]


async def test_nothing_is_remembered_of_nobody(kit: Kit) -> None:
    spy = Spy()
    result = await kit.Desk(["Fine."], spec={"memory": spy}).ask(user="")
    told = "the request names no user, and nothing is remembered"
    assert (result.value.issues, spy.asked) == ((Issue("memory", "memory", told),), [])


async def test_parts_that_are_left_out_are_not_loaded(kit: Kit) -> None:
    spy = Spy()
    desk = kit.Desk(["Fine."], spec=spied(spy, prompt_parts=()))
    await desk.ask()
    assert (spy.asked, desk.requests[0].messages[0].content) == ([], "You are a helpful assistant.")


@pytest.mark.behaviour("S3-12", "S3-15")
async def test_one_notice_covers_all_toolsets_that_want_a_sign_in(kit: Kit) -> None:
    closed = [
        Shed("mail", SignInNeeded("https://mail.example")),
        Shed("files", SignInNeeded("https://files.example")),
    ]
    desk = kit.Desk(["Fine.", "Fine."], [*closed, Shed("garden"), Shed("attic", OSError("locked"))])
    events = await heard(desk, AgentRequest((Message("user", "Go."),)))
    result = await desk.ask()
    notice, attic = result.value.issues
    assert (notice.stage, notice.name) == ("tools", "sign_in")
    assert "mail (https://mail.example), files (https://files.example)" in notice.message
    assert (attic.name, attic.message) == ("attic", "OSError: locked")
    assert [(event.name, event.data) for event in events if isinstance(event, Custom)] == [
        ("sign_in.wanted", {"mail": "https://mail.example", "files": "https://files.example"})
    ]
    lines = desk.requests[0].messages[0].content.split("~~~~\n")[1].splitlines()
    assert lines[:3] == [
        "- garden: garden_dig",
        "- mail: cannot be used: the user has to sign in first",
        "- files: cannot be used: the user has to sign in first",
    ]
    assert lines[3:4] == ["- attic: cannot be used: OSError: locked"]


async def test_a_toolset_of_which_nothing_is_allowed_has_no_card(kit: Kit) -> None:
    desk = kit.Desk(["Fine."], [Shed("garden"), Shed("cellar"), look], spec={"allowed": ["cellar_dig", "look"]})
    await desk.ask()
    assert "- cellar: cellar_dig\n~~~~" in desk.requests[0].messages[0].content
    assert "garden" not in desk.requests[0].messages[0].content


async def test_where_not_all_tools_are_shown_none_is_named(kit: Kit) -> None:
    limits = AgentLimits(catalog=1)
    desk = kit.Desk(["Fine."], [Shed("garden"), Shed("cellar")], spec={"limits": limits})
    await desk.ask()
    told = "(1): you are shown those that fit"
    assert f"- garden {told}\n- cellar {told}\n" in desk.requests[0].messages[0].content


async def heard(desk: Any, request: AgentRequest) -> list[Any]:
    async with agent_flow(desk.agent).start(admit(desk.agent, request)) as run:
        return [event async for event in run.events()]


@pytest.mark.behaviour("S4-06")
async def test_events_tell_what_was_added_after_the_run_has_started(kit: Kit) -> None:
    desk = kit.Desk(["Fine."], spec=spied(Spy()))
    events = await heard(desk, AgentRequest((Message("user", "Tea?"),), user="ann", **NAMED))
    told = [event for event in events if isinstance(event, Custom)]
    assert isinstance(events[0], RunStarted)
    assert [(event.name, event.data) for event in told] == [
        ("memory.recalled", {"core": "Her name is Ann.", "recalled": ["ann of agent asked Tea?"]}),
        ("skills.chosen", {"names": ["brew"]}),
        ("files.added", {"names": ["tea.md"]}),
    ]
    assert await heard(kit.Desk(["Fine."]), AgentRequest((Message("user", "Tea?"),))) != []


async def test_without_anything_added_there_is_no_such_event(kit: Kit) -> None:
    events = await heard(
        kit.Desk(["Fine."], spec={"memory": SQLiteMemory()}), AgentRequest((Message("user", "Tea?"),))
    )
    assert [event for event in events if isinstance(event, Custom)] == []


@pytest.mark.behaviour("S3-14")
async def test_the_time_is_that_of_the_clock_of_the_run(kit: Kit) -> None:
    clock = FakeClock(datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC))
    desk = kit.Desk(["Fine."], clock=clock, spec={"tells_time": True})
    await desk.ask()
    asked, told = desk.requests[0].messages[-2:]
    assert (asked.tool_calls[0].name, told.tool_call_id) == ("current_time", asked.tool_calls[0].id)
    assert told.content == "2031-05-06 07:08:09+00:00 (Tuesday)"


async def test_the_core_memory_is_read_once_in_a_generation(kit: Kit) -> None:
    spy = Spy()
    desk = kit.Desk(["One.", "Two.", "Three."], spec={"memory": spy})
    flow = agent_flow(desk.agent)
    for now in (1, 1, 2):
        spy.now = now
        await flow.run(admit(desk.agent, AgentRequest((Message("user", "Go."),), user="ann")))
        spy.text = "Her name is Anna."
    assert [name for name in spy.asked if name == "core"] == ["core"] * 2
    assert ["Anna" in request.messages[0].content for request in desk.requests] == [False, False, True]


@pytest.mark.behaviour("S3-06", "S3-07")
async def test_a_clients_words_take_the_place_of_the_prompt_and_the_parts_still_follow(kit: Kit) -> None:
    spec = spied(Spy(), system_messages="override", guidance="Be polite.", prompt=CustomPrompt("Sell tea."))
    desk = kit.Desk(["Fine."], spec=spec)
    await desk.ask("Go.", Message("system", "Be a pirate."))
    (system, *rest) = desk.requests[0].messages
    assert [message.role for message in rest] == ["user"]
    assert system.content != "Be a pirate."
    assert "~~~~\nBe a pirate.\n~~~~\n\n# Skills\n" in system.content
    assert "Be polite." in system.content
    assert "Sell tea." not in system.content


@pytest.mark.behaviour("S3-07")
async def test_a_clients_words_alone_are_not_the_system_message(kit: Kit) -> None:
    desk = kit.Desk(["Fine."], spec={"system_messages": "override"})
    await desk.ask("Go.", Message("system", "Be a pirate."))
    assert desk.requests[0].messages[0].content != "Be a pirate."
    assert desk.requests[0].messages[0].content.endswith("\n~~~~\nBe a pirate.\n~~~~")


@pytest.mark.behaviour("S0-10")
async def test_requests_at_once_have_tools_of_their_own(kit: Kit) -> None:
    memory = SQLiteMemory()
    both = anyio.Event()

    def save(request: Any) -> Any:
        name = request.messages[1].content
        return kit.calls(kit.call("save_memory", f'{{"text": "I am {name}"}}'), "look")

    @tool
    async def look() -> str:
        """Look."""
        seen.append(None)
        if len(seen) == 2:
            both.set()
        await both.wait()
        return "seen"

    seen: list[None] = []
    desk = kit.Desk(
        [save, save, "Done.", "Done."], [look], spec={"memory": memory, "own_tools": OwnTools(memory=True)}
    )

    async def ask(user: str) -> None:
        await desk.ask(user, user=user)

    async with anyio.create_task_group() as group:
        group.start_soon(ask, "ann")
        group.start_soon(ask, "bob")
    for user in ("ann", "bob"):
        assert [each.text for each in await memory.latest(user, "agent", 5)] == [f"I am {user}"]
    one, two = desk.requests[:2]
    assert [schema.name for schema in one.tools] == ["search_memory", "save_memory", "look"]
    assert {id(schema) for schema in one.tools} & {id(schema) for schema in two.tools} == set()


@pytest.mark.behaviour("S0-10")
async def test_the_loops_own_tools_are_there_only_where_the_spec_wants_them(kit: Kit) -> None:
    desk = kit.Desk(["Fine."], spec=spied(Spy()))
    await desk.ask()
    assert desk.requests[0].tools == ()


@pytest.mark.behaviour("S0-08")
async def test_everything_that_an_agent_has_is_loaded(kit: Kit) -> None:
    loaded: list[AgentContext] = []
    spec = spied(Spy(), profile={"Shop": "Bonn."}, guidance="Be polite.", tells_time=True)
    desk = kit.Desk(
        ["Fine."], [Shed("garden"), Shed("mail", SignInNeeded("https://mail.example")), look], spec=spec
    )
    parts = Parts.of(desk.agent)

    @node
    async def load(step: Step[AgentState]) -> Complete[None]:
        loaded.append(await load_context(parts, step, CoreMemory(desk.agent.memory)))
        return Complete(None)

    request = AgentRequest((Message("user", "Tea?"),), user="ann", **NAMED)
    await Flow("load", load).run(admit(desk.agent, request), budget=Budget(rounds=3, seconds=9))
    (context,) = loaded
    assert [entry.name for entry in fields(context) if getattr(context, entry.name) is None] == []
    assert context.request.user == "ann"
    assert (context.agent, context.model, context.core, context.path) == ("agent", "scripted", "1.0", "load#1")
    assert context.tools == ("look", "garden_dig")
    assert context.files == (Given("tea.md", "All about tea.md."),)
    assert (context.round, context.remaining["rounds"]) == (1, 2)


@pytest.mark.parametrize("store", [None, MemoryRunStore])
async def test_what_was_prepared_is_stored_with_the_run(kit: Kit, store: Any) -> None:
    turn = (
        Message("assistant", "", (kit.call("look"),)),
        Message("tool", "seen", tool_call_id="look"),
        Message("user", "See.", attachments=(Attachment("image/png", b"x"),)),
        Message("assistant", "Seen."),
    )
    talk = (Message("user", "Look."), Message("assistant", "Seen."), Message("user", "And now?"))
    request = AgentRequest(talk, user="ann", history=(turn,), summary="They met.", **NAMED)
    desk = kit.Desk(["Fine."], spec=spied(Spy(), tells_time=True))
    result = await agent_flow(desk.agent).run(admit(desk.agent, request), check=False, store=store and store())
    assert (result.status, result.state.text, result.state.issues) == ("completed", "Fine.", ())
    assert tuple(result.state.prepared) == desk.requests[0].messages[1:]
    assert len(result.state.prepared) == 6 + 1 + 3


def test_a_spec_that_cannot_be_meant_is_refused(kit: Kit) -> None:
    with pytest.raises(ContractError) as caught:
        kit.Desk([], spec={"prompt_parts": ("skils",), "required": ("memory", "files")})
    told = str(caught.value)
    assert "prompt_parts names skils: name some of skills, toolsets" in told
    assert "required names memory, and the agent has none; required names files, and the agent has none" in told


async def test_files_are_read_from_their_folder_and_from_nowhere_else(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out.txt"
    (inside / "sub").mkdir(parents=True)
    outside.write_text("secret")
    (inside / "sub" / "a.md").write_text("Tee, grün.", "utf-8-sig")
    (inside / "link.md").symlink_to(outside)
    (inside / "loop").symlink_to(inside / "loop")
    (inside / "bytes").write_bytes(b"\xff")
    (inside / "large").write_text("x" * 51)
    folder = FileFolder(inside, largest=50)
    assert await folder.read("sub/a.md") == "Tee, grün."
    for name in (
        "../out.txt",
        str(outside),
        "link.md",
        "loop",
        "sub",
        "none",
        "",
        "a\0b",
        "x" * 5_000,
        "../in2/a",
    ):
        with pytest.raises(LookupError, match="there is no file"):
            await folder.read(name)
    with pytest.raises(ValueError, match="file 'bytes' is no text in UTF-8"):
        await folder.read("bytes")
    with pytest.raises(ValueError, match="file 'large' has 51 bytes, and 50 is the most"):
        await folder.read("large")
    with pytest.raises(ContractError, match="there is no such folder"):
        FileFolder(outside)
