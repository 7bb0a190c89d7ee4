"""Runs of the loop: as they are traced, cancelled, paused, killed and resumed, and put to a person."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace as Kit
from typing import Any

import anyio
import pytest

from flowcore.errors import ContextOverflow
from flowcore.messages import Message
from flowcore.models import ModelRunner
from flowcore.testing import FlowRunner
from flowcore.tools import Allow, Ask, Deny, ToolContext, tool
from flowcore_agent import AgentLimits

ROOT = Path(__file__).parents[3]


@tool
async def look(at: int = 0) -> str:
    """Look."""
    return f"seen {at}"


@tool
async def listen() -> str:
    """Listen."""
    return "heard"


def looks(kit: Kit, count: int, text: str = "") -> list[Any]:
    return [kit.calls(kit.call("look", f'{{"at": {n}}}', f"c{n}"), text=text) for n in range(count)]


def talk() -> list[Message]:
    return [Message("user", "long " * 40), Message("assistant", "and long " * 40)]


def lines_of(kit: Kit, case: str) -> list[Any]:
    return {
        "plain answer": ["Four."],
        "two calls side by side": [kit.calls("look", "listen", text="I look and listen."), "Seen and heard."],
        "limit with wrap-up": [*looks(kit, 2), "One look is done, one is not."],
        "limit with error": looks(kit, 2),
        "repetition": [*looks(kit, 3), "Enough."],
        "overflow": [ContextOverflow("too long"), "Fine."],
    }[case]


LIMITS: dict[str, AgentLimits] = {
    "limit with wrap-up": AgentLimits(turns=2),
    "limit with error": AgentLimits(turns=2, on_limit="error"),
    "repetition": AgentLimits(same_call=None, same_tool_warn=2, same_tool_end=3),
}


@pytest.mark.behaviour("S3-17", "S3-23")
@pytest.mark.parametrize(
    "case",
    ["plain answer", "two calls side by side", "limit with wrap-up", "limit with error", "repetition", "overflow"],
)
def test_the_trace_of_each_end(kit: Kit, case: str, flow_runner: FlowRunner, trace_snapshot: Any) -> None:
    limits = LIMITS.get(case, AgentLimits())
    desk = kit.Desk(lines_of(kit, case), [look, listen], clock=flow_runner.clock, spec={"limits": limits})
    before = talk() if case == "overflow" else []
    assert flow_runner(desk.flow, desk.state("2 + 2?", *before)) == trace_snapshot


@pytest.mark.behaviour("S0-31", "S0-32", "S3-22")
async def test_a_cancelled_run_ends_its_tools_and_starts_no_other(kit: Kit) -> None:
    begun, ended = anyio.Event(), list[str]()

    @tool
    async def hang(n: int) -> None:
        """Hang."""
        ended.append(f"begun {n}")
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(f"ended {n}")

    wanted = [kit.call("hang", f'{{"n": {n}}}', f"c{n}") for n in range(3)]
    desk = kit.Desk([kit.calls(*wanted)], [hang], spec={"limits": AgentLimits(concurrency=1)})
    async with desk.flow.start(desk.state()) as run:
        await begun.wait()
        await run.cancel("user")
        result = await run.wait()
    assert (result.status, result.reason) == ("cancelled", "user")
    assert ended == ["begun 0", "ended 0"]
    assert len(desk.requests) == 1
    assert len(result.state.turns) == 1  # of the turn that was cut off nothing was kept


@pytest.mark.behaviour("S0-31")
def test_the_trace_of_a_run_that_is_cancelled_in_the_midst_of_a_tool(
    kit: Kit, flow_runner: FlowRunner, trace_snapshot: Any
) -> None:
    async def cancelled() -> Any:
        begun = anyio.Event()

        @tool
        async def hang() -> None:
            """Hang."""
            begun.set()
            await anyio.sleep_forever()

        desk = kit.Desk([kit.calls("hang", "look")], [hang, look], clock=flow_runner.clock)
        async with desk.flow.start(desk.state(), clock=flow_runner.clock, run_id="cancelled") as run:
            await begun.wait()
            await run.cancel("user")
            return await run.wait()

    assert anyio.run(cancelled) == trace_snapshot


@pytest.mark.behaviour("S0-31")
async def test_a_cancelled_run_ends_the_models_request(kit: Kit) -> None:
    begun = anyio.Event()

    class Hanging:
        name = "hanging"
        is_open = False

        async def complete(self, request: Any) -> Any:
            self.is_open = True
            begun.set()
            try:
                await anyio.sleep_forever()
            finally:
                self.is_open = False

    model = Hanging()
    desk = kit.Desk([])
    flow = kit.loop_flow(replace(desk.agent, model=ModelRunner(model, prices=lambda name, usage: 0.0)))
    async with flow.start(desk.state()) as run:
        await begun.wait()
        assert model.is_open
        await run.cancel("user")
        assert (await run.wait()).status == "cancelled"
    assert not model.is_open


@pytest.mark.behaviour("S0-33")
async def test_what_a_tool_has_done_outside_stays_done_after_a_cancellation(kit: Kit) -> None:
    outside: list[str] = []
    written = anyio.Event()

    @tool
    async def write(context: ToolContext) -> None:
        """Write."""
        outside.append(context.call_id)
        written.set()
        await anyio.sleep_forever()

    desk = kit.Desk([kit.calls("write")], [write])
    async with desk.flow.start(desk.state()) as run:
        await written.wait()
        await run.cancel("user")
    assert outside == ["write"]


async def test_a_paused_run_goes_on_without_repeating_its_calls(kit: Kit) -> None:
    done: list[int] = []
    third = anyio.Event()

    @tool
    async def work(n: int) -> int:
        """Work."""
        done.append(n)
        if n == 2 and not third.is_set():
            third.set()
            await anyio.sleep_forever()
        return n

    wanted = [kit.call("work", f'{{"n": {n}}}', f"c{n}") for n in range(5)]
    desk = kit.Desk([kit.calls(*wanted), "Done."], [work], spec={"limits": AgentLimits(concurrency=1)})
    async with desk.flow.start(desk.state()) as run:
        await third.wait()
        await run.pause()
        assert run.is_paused
        await run.resume()
        result = await run.wait()
    assert kit.results(result.value) == ["0", "1", "2", "3", "4"]
    assert done == [0, 1, 2, 2, 3, 4]
    assert result.usage.requests == 2


@pytest.mark.behaviour("S4-14")
@pytest.mark.parametrize("agreed", [True, False])
async def test_a_call_is_put_to_a_person_while_the_others_go_on(kit: Kit, agreed: bool) -> None:
    def policy(proposal: Any) -> Any:
        return Ask("May it look?") if proposal.tool.name == "look" else _allow()

    desk = kit.Desk([kit.calls("look", "listen"), "Done."], [look, listen], spec={"policy": policy})
    async with desk.flow.start(desk.state()) as run:
        while not run.requests:
            await anyio.lowlevel.checkpoint()
        (request,) = run.requests
        assert (request.kind, request.tool, request.question) == ("tool", "look", "May it look?")
        await run.answer(request.id, agreed, by="ann")
        result = await run.wait()
    said = "seen 0" if agreed else "Denied: a person did not agree to it."
    assert kit.results(result.value) == [said, "heard"]
    assert result.value.reason == "answer"


@pytest.mark.behaviour("S4-13")
async def test_each_turn_tells_what_happens_in_it(kit: Kit) -> None:
    async def sink(chunk: Any) -> None:
        pass

    @tool
    async def tell(context: ToolContext) -> None:
        """Tell."""
        context.emit({"half": "done"})

    def policy(proposal: Any) -> Any:
        return _allow(proposal.tool.name != "look")

    desk = kit.Desk(
        [kit.calls("tell", "look", text="I look."), "Seen."], [tell, look], spec={"policy": policy, "sink": sink}
    )
    async with desk.flow.start(desk.state()) as run:
        kinds = [event.kind async for event in run.events()]
    assert kinds[0] == "run.started"
    assert kinds[-1] == "run.completed"
    assert {
        "round.started", "node.started", "model.requested", "model.chunk", "model.finished", "tool.proposed",
        "tool.started", "tool.delta", "tool.finished", "tool.denied", "state.patched", "route.taken",
        "node.finished",
    } <= set(kinds)  # fmt: skip


SCRIPT = """
    import os, signal, sys
    from datetime import timedelta
    from pathlib import Path

    import anyio

    from flowcore.clock import SystemClock
    from flowcore.messages import Message, ModelReply, ToolCall
    from flowcore.models import ModelRunner
    from flowcore.store import SQLiteRunStore
    from flowcore.testing import ScriptedModel
    from flowcore.tools import ToolCatalog
    from flowcore_agent import AgentLimits, AgentRequest, AgentSpec, AgentState, agent_flow

    class Later(SystemClock):
        "A clock that is ahead, so that the lease of the process that died is over."

        def utcnow(self):
            return super().utcnow() + timedelta(hours=1)

    folder, life = Path(sys.argv[1]), sys.argv[2]

    async def work(n: int) -> str:
        "Work."
        with (folder / "done").open("a") as file:
            file.write(f"{n}\\n")
        if n == 3 and life == "first":
            while len([row for row in (await store.load("r1")).calls if row.status == "done"]) < 3:
                await anyio.sleep(0.01)  # until what the first three returned is written
            os.kill(os.getpid(), signal.SIGKILL)
        return f"done {n}"

    store = SQLiteRunStore(folder / "runs.db")
    calls = tuple(ToolCall(f"c{n}", "work", '{"n": %d}' % n) for n in range(5))
    first = [ModelReply("I work.", tool_calls=calls)] if life == "first" else []
    model = ModelRunner(ScriptedModel([*first, "All done."], name="scripted"), prices=lambda name, usage: 0.0)
    limits = AgentLimits(concurrency=1)
    flow = agent_flow(AgentSpec(name="agent", model=model, catalog=ToolCatalog([work]), limits=limits))

    async def main() -> None:
        if life == "first":
            asked = AgentRequest((Message("user", "Work."),))
            await flow.run(AgentState(asked), store=store, run_id="r1")
        reply = await flow.resume("r1", store=store, clock=Later())
        await store.aclose()
        print(reply.text, reply.reason, *(message.content for message in reply.turn if message.role == "tool"))

    anyio.run(main)
"""


def live(folder: Path, life: str) -> subprocess.CompletedProcess[str]:
    script = folder / "agent.py"
    script.write_text(textwrap.dedent(SCRIPT))
    command = [sys.executable, str(script), str(folder), life]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=50, cwd=ROOT, env={**os.environ}, check=False
    )


def test_a_run_that_was_killed_amid_its_calls_is_resumed_and_repeats_none_that_ended(tmp_path: Path) -> None:
    killed = live(tmp_path, "first")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    resumed = live(tmp_path, "second")
    assert resumed.stdout.split("\n")[0] == "All done. answer done 0 done 1 done 2 done 3 done 4", resumed.stderr
    assert (tmp_path / "done").read_text().split() == ["0", "1", "2", "3", "3", "4"]


def _allow(yes: bool = True) -> Any:
    return Allow() if yes else Deny("not now")
