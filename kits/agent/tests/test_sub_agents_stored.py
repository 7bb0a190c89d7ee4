"""Sub-agents over pauses and deaths: what they concluded is kept, what was under way begins again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace as Kit
from typing import Any

import anyio
import pytest

from flowcore.events import CallRecalled
from flowcore.messages import Message, ModelReply
from flowcore.store import MemoryRunStore
from flowcore.tools import tool
from flowcore_agent import AgentLimits, AgentRequest, OwnTools, admit, agent_flow

ROOT = Path(__file__).parents[3]
SUB = {"own_tools": OwnTools(sub_agent=True)}
GO = AgentRequest((Message("user", "Go."),), user="ann")


def delegated(kit: Kit, *tasks: str) -> ModelReply:
    made = [kit.call("delegate", f'{{"task": "{task}"}}', f"d{n}") for n, task in enumerate(tasks)]
    reply: ModelReply = kit.calls(*made, text="I delegate.")
    return reply


@pytest.mark.parametrize("store", [None, MemoryRunStore])
async def test_after_a_pause_one_that_was_done_is_not_run_again_and_one_that_was_not_begins_again(
    kit: Kit, store: Any
) -> None:
    begun, resumed = anyio.Event(), anyio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        if resumed.is_set():
            return "waited"
        begun.set()
        await anyio.sleep_forever()
        return ""

    limits = AgentLimits(concurrency=1)
    lines = [delegated(kit, "a", "b"), "A is done.", kit.calls("wait"), kit.calls("wait"), "B is done.", "Fine."]
    desk = kit.Desk(lines, [wait], spec={**SUB, "limits": limits})
    async with agent_flow(desk.agent).start(admit(desk.agent, GO), store=store and store()) as run:
        await begun.wait()
        await run.pause()
        resumed.set()
        await run.resume()
        result = await run.wait()
        recalled = [event.name async for event in run.events() if isinstance(event, CallRecalled)]
    assert kit.results(result.value) == ["A is done.", "B is done."]
    assert recalled == ["delegate"]
    assert len(desk.requests) == 6
    assert result.trace.to_text().count("artifact sub-agent") == 2


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
    from flowcore_agent import AgentLimits, AgentRequest, AgentSpec, OwnTools, admit, agent_flow

    class Later(SystemClock):
        "A clock that is ahead, so that the lease of the process that died is over."

        def utcnow(self):
            return super().utcnow() + timedelta(hours=1)

    folder, life = Path(sys.argv[1]), sys.argv[2]

    async def work(n: int) -> str:
        "Work."
        with (folder / "done").open("a") as file:
            file.write(f"{n}\\n")
        if n == 2 and life == "first":
            while len([row for row in (await store.load("r1")).calls if row.status == "done"]) < 2:
                await anyio.sleep(0.01)  # the reply of the model, and what the first sub-agent concluded
            os.kill(os.getpid(), signal.SIGKILL)
        return f"done {n}"

    def works(n):
        return ModelReply("", tool_calls=(ToolCall(f"w{n}", "work", '{"n": %d}' % n),))

    def begins(*tasks):
        calls = [ToolCall(f"d{task}", "delegate", '{"task": "%s"}' % task) for task in tasks]
        return ModelReply("I delegate.", tool_calls=tuple(calls))

    lives = {
        "first": [begins("one", "two"), works(1), "One is done.", works(2)],
        "second": [works(2), "Two is done.", "All done."],
    }
    store = SQLiteRunStore(folder / "runs.db")
    model = ModelRunner(ScriptedModel(lives[life], name="scripted"), prices=lambda name, usage: 0.0)
    spec = AgentSpec(
        name="agent",
        model=model,
        catalog=ToolCatalog([work]),
        limits=AgentLimits(concurrency=1),
        own_tools=OwnTools(sub_agent=True),
    )
    flow = agent_flow(spec)

    async def main() -> None:
        if life == "first":
            await flow.run(admit(spec, AgentRequest((Message("user", "Work."),))), store=store, run_id="r1")
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


def test_a_run_that_was_killed_keeps_conclusions_and_begins_again_what_had_none(tmp_path: Path) -> None:
    killed = live(tmp_path, "first")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    resumed = live(tmp_path, "second")
    assert resumed.stdout.split("\n")[0] == "All done. answer One is done. Two is done.", resumed.stderr
    assert (tmp_path / "done").read_text().split() == ["1", "2", "2"]
