"""The loop's own tools: the list of work, and saying that the work is done."""

from __future__ import annotations

from types import SimpleNamespace as Kit
from typing import Any

import anyio
import pytest

from flowcore import ContractError
from flowcore.events import CallRecalled
from flowcore.store import MemoryRunStore
from flowcore.tools import ToolCatalog, ToolContext, tool
from flowcore_agent import AgentLimits, OwnTools, Todo
from flowcore_agent.own_tools import OwnTool, RunView, Toolbox

ALL = {"own_tools": OwnTools(todo=True, completion=True)}


@tool
async def look(at: int = 0) -> str:
    """Look."""
    return f"seen {at}"


def listed(kit: Kit, text: str, id: str) -> Any:
    return kit.call("todo", f'{{"items": [{text}]}}', id)


async def test_the_own_tools_stand_in_front_and_nothing_takes_them_away(kit: Kit) -> None:
    desk = kit.Desk(["Hello."], [look], spec={**ALL, "allowed": []})
    await desk.run()
    assert [schema.name for schema in desk.requests[0].tools] == ["todo", "complete"]
    desk = kit.Desk(["Hello."], [look])
    await desk.run()
    assert [schema.name for schema in desk.requests[0].tools] == ["look"]


async def test_the_list_of_work_is_part_of_the_state_and_told_back(kit: Kit) -> None:
    first = listed(kit, '{"text": "Look", "is_done": false}, {"text": "Tell", "is_done": false}', "t1")
    second = listed(kit, '{"text": "Look", "is_done": true}', "t2")
    desk = kit.Desk([kit.calls(first, "look"), kit.calls(second), "Done."], [look], spec=ALL)
    result = await desk.run()
    assert kit.results(result.value) == ["[ ] Look\n[ ] Tell", "seen 0", "[x] Look"]
    assert result.state.todo == (Todo("Look", is_done=True),)


async def test_of_two_lists_in_one_turn_the_last_one_counts_and_broken_ones_change_nothing(kit: Kit) -> None:
    good = '{"text": "One", "is_done": false}'
    lines = [
        kit.calls(listed(kit, good, "t1"), listed(kit, '{"text": "Two", "is_done": false}', "t2")),
        kit.calls(listed(kit, '{"text": "Three"}', "t3")),
        "Done.",
    ]
    desk = kit.Desk(lines, spec=ALL)
    result = await desk.run()
    assert result.state.todo == (Todo("Two"),)
    assert kit.results(result.value)[2].startswith("Not run, since the arguments do not fit")


async def test_the_list_of_work_survives_what_was_compacted(kit: Kit) -> None:
    desk = kit.Desk(["Done."], spec=ALL)
    await desk.flow.run(desk.state(todo=(Todo("Look", is_done=True), Todo("Tell")), compacted=1))
    assert desk.requests[0].messages[-1].content == "The list of your work as it stands:\n[x] Look\n[ ] Tell"


@pytest.mark.behaviour("S1-09")
async def test_the_model_may_say_that_it_is_done(kit: Kit) -> None:
    done = kit.call("complete", '{"answer": "All is well."}')
    desk = kit.Desk([kit.calls("look", done, text="One more look.")], [look], spec=ALL)
    result = await desk.run()
    assert result.path == "trim > think > act > end"
    assert (result.value.text, result.value.reason, result.value.is_partial) == (
        "All is well.",
        "completed",
        False,
    )
    assert kit.results(result.value) == ["seen 0", "The work is done."]
    assert list(result.state.said) == ["One more look.", "All is well."]


@pytest.mark.behaviour("S1-09")
async def test_what_is_said_beside_it_is_the_answer_where_it_has_none(kit: Kit) -> None:
    result = await kit.Desk([kit.calls("Complete", text="All is well.")], spec=ALL).run()
    assert (result.value.text, result.value.reason) == ("All is well.", "completed")


async def test_done_in_the_last_turn_is_a_call_like_any_other(kit: Kit) -> None:
    spec = {**ALL, "limits": AgentLimits(turns=1)}
    result = await kit.Desk([kit.calls("complete"), "Summary."], spec=spec).run()
    assert (result.value.text, result.value.reason) == ("Summary.", "limit")


def test_a_tool_of_the_agent_cannot_have_the_name_of_an_own_tool(kit: Kit) -> None:
    @tool
    def todo() -> None:
        """Take the name."""

    with pytest.raises(ContractError, match="the agent has own tools called todo"):
        kit.Desk([], [todo], spec=ALL)


async def test_an_own_tool_sees_the_run_and_other_tools_what_they_always_see(kit: Kit) -> None:
    seen: list[Any] = []

    @tool
    async def peek(context: ToolContext[RunView]) -> str:
        """Peek."""
        seen.append(context.deps)
        return "peeked"

    @tool
    async def plain(context: ToolContext[str]) -> None:
        """Look."""
        seen.append(context.deps)

    desk = kit.Desk([kit.calls("peek", "plain"), "Done."], [plain])
    flow = kit.loop_flow(desk.agent, (OwnTool(peek),))
    state = desk.state(todo=(Todo("Look"),), model="m")
    result = await flow.run(state, deps="the app's", check=False)
    assert result.value.text == "Done."
    assert seen == [RunView(state.request, "m", (Todo("Look"),), "the app's"), "the app's"]


@pytest.mark.parametrize("store", [None, MemoryRunStore])
async def test_what_an_own_tool_returned_before_a_pause_is_applied_after_it(kit: Kit, store: Any) -> None:
    begun = anyio.Event()

    @tool
    async def hang() -> str:
        """Hang the first time."""
        if not begun.is_set():
            begun.set()
            await anyio.sleep_forever()
        return "hung"

    first = listed(kit, '{"text": "Look", "is_done": false}', "t1")
    spec = {**ALL, "limits": AgentLimits(concurrency=1)}
    desk = kit.Desk([kit.calls(first, "hang"), "Done."], [hang], spec=spec)
    async with desk.flow.start(desk.state(), store=store and store()) as run:
        await begun.wait()
        await run.pause()
        await run.resume()
        result = await run.wait()
        recalled = [event.name async for event in run.events() if isinstance(event, CallRecalled)]
    assert result.state.todo == (Todo("Look"),)
    assert recalled == ["todo"]
    assert kit.results(result.value) == ["[ ] Look", "hung"]


async def test_a_toolbox_opens_and_closes_the_toolsets_of_the_catalogue() -> None:
    class Shed:
        name = "shed"
        timeout = None

        def open(self) -> Any:
            raise OSError("locked")

    catalog = ToolCatalog([look, Shed()])
    box = Toolbox(catalog, [])
    assert list(await box.usable()) == ["look"]
    assert "locked" in box.failures["shed"]
    assert box.sign_in is None
    await box.close()
