"""The package agent works on a folder of packages with its real tools: an index, a database, an MCP server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from examples.package_agent import app as module
from examples.package_agent.agent import BUDGET, agent_of
from examples.package_agent.packages import Abandoned, CacheUnusable, Packages
from examples.package_agent.script import QUESTIONS, Script
from tests.examples.package_support_site import add, furnish
from tests.servers.katan import KEY, Katan, katan

from flowcore import Flow, RunResult
from flowcore.messages import Message, ModelReply, ToolCall
from flowcore.models import ModelRunner
from flowcore.testing import ScriptedModel
from flowcore_agent import AgentReply, AgentRequest, AgentSpec, AgentState, admit, agent_flow

__all__ = ["katan"]

COMMAND = "import sys; from flowcore.cli import main; sys.exit(main())"
FOLDER = Path(module.__file__).parent
AgentFlow = Flow[AgentState, object, AgentReply]
WARMER = '''
"""Warms."""

import kettle
from kettle import boil

from .parts import Plate as Hob


class Plate:
    """A plate of its own."""

    def heat(self) -> None:
        """Heat it."""
'''


def shop(folder: Path) -> Path:
    """Installs a few packages into a folder: two of them need kettle, one for an extra."""
    site = furnish(folder)
    files = {"warmer/__init__.py": WARMER, "warmer/parts.py": "class Plate:\n    size = 3\n"}
    add(site, "Tea.Warmer", "0.3", files, summary="Keeps tea warm.", needs="kettle (>=1,<3)")
    add(site, "cosy", "1.1", {"cosy.py": "wool = 1\n"}, needs='kettle~=2.0; extra == "hot" and os_name == "posix"')
    return site


class Bench:
    """The agent on such a folder, with a model."""

    def __init__(self, folder: Path, model: Any = None) -> None:
        self.site = shop(folder / "site")
        self.packages = Packages([str(self.site)], folder / "cache")
        self.spec: AgentSpec = agent_of(ModelRunner(model or Script()), self.packages)
        self.flow: AgentFlow = agent_flow(self.spec)

    def state(self, question: str) -> AgentState:
        return admit(self.spec, AgentRequest((Message("user", question),)))

    async def ask(self, question: str, **options: Any) -> RunResult[AgentReply]:
        return await self.flow.run(self.state(question), budget=BUDGET, check=False, **options)

    async def answer(self, question: str) -> str:
        result = await self.ask(question)
        assert result.value is not None, result.failure
        assert (result.value.reason, result.value.issues) == ("answer", ())
        return result.value.text

    async def close(self) -> None:
        assert self.spec.catalog is not None
        await self.spec.catalog.close()


Made = Callable[..., Bench]


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Made]:
    benches: list[Bench] = []

    def make(model: Any = None) -> Bench:
        benches.append(Bench(tmp_path / str(len(benches)), model))
        return benches[-1]

    yield make
    for bench in benches:
        await bench.close()


def called(result: RunResult[AgentReply]) -> list[list[str]]:
    """Returns the names of the tools that each turn called."""
    assert result.value is not None
    turns = [[call.name for call in message.tool_calls] for message in result.value.turn if message.tool_calls]
    assert [m.role for m in result.value.turn].count("tool") == sum(map(len, turns))
    return turns


async def test_who_needs_a_package_is_said_by_the_inventory(made: Made) -> None:
    assert await made().answer("Which installed packages need Kettle?") == (
        "By their metadata, kettle 2.0 is needed by 1 installed package:\n"
        "- tea-warmer >=1,<3\n"
        "\n"
        "For an extra alone:\n"
        "- cosy[hot] ~=2.0"
    )
    assert await made().answer("Which packages depend on Zeppelin?") == (
        "By their metadata, zeppelin (not installed) is needed by 0 installed packages:\n- none"
    )


async def test_what_a_package_needs(made: Made) -> None:
    bench = made()
    said = await bench.answer("What does tea_warmer need?")
    assert said == "tea-warmer 0.3 declares 1 need:\n- kettle >=1,<3 (installed: 2.0)"
    assert await bench.answer("What does lampworks require?") == "lampworks 1.0 declares 0 needs:\n- none"
    assert await bench.answer("What does zeppelin need?") == "zeppelin is not installed."
    most = "The most needed of the installed packages:\n- kettle: needed by 1 package"
    assert await bench.answer("What is the most needed package?") == most


@pytest.mark.behaviour("S3-16")
async def test_how_one_uses_another_takes_what_earlier_results_said(made: Made) -> None:
    result = await made().ask("How does Tea-Warmer use kettle?")
    assert result.value is not None
    assert called(result) == [
        ["todo", "packages_query", "packages_query"],
        ["todo", "find_in_source", "find_in_source"],
        ["todo", "read_source"],
    ]
    assert result.value.text == (
        "1 module of warmer with lines that import kettle:\n"
        "- warmer, line 4: import kettle\n"
        "- warmer, line 5: from kettle import boil\n"
        "\n"
        "The first of them reads:\n"
        "warmer, lines 2 to 7 of 14\n"
        '    2  """Warms."""\n'
        "    3  \n"
        "    4  import kettle\n"
        "    5  from kettle import boil\n"
        "    6  \n"
        "    7  from .parts import Plate as Hob"
    )
    assert [item.is_done for item in result.state.todo] == [True, True, False]
    assert (result.usage.rounds, result.usage.tool_calls) == (4, 8)
    nothing = await made().answer("How does cosy use kettle?")
    assert nothing == "No module of cosy imports kettle, as far as its source says."


async def test_source_is_read_by_the_server_and_nothing_is_imported(made: Made) -> None:
    bench = made()
    (bench.site / "warmer" / "loud.py").write_text("raise SystemExit('imported')\n")
    assert await bench.answer("Show me warmer.Plate.heat") == (
        'warmer, lines 13 to 14 of 14\n   13      def heat(self) -> None:\n   14          """Heat it."""'
    )
    through = await bench.answer("Show me warmer.Hob")
    assert through == "warmer.parts, lines 1 to 2 of 2\n    1  class Plate:\n    2      size = 3"
    assert (await bench.answer("Read warmer.loud")).endswith("raise SystemExit('imported')")
    assert await bench.answer("Show me warmer.Lid") == (
        "I could not find that out. A tool said: It failed: Error executing tool read_source: "
        "warmer defines no Lid: look at its outline"
    )
    outside = await bench.answer("Show me os.path")
    assert outside.endswith("there is no module in 'os.path': name it as it is imported")


async def test_every_other_question_is_searched_in_the_texts(
    made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = made()
    said = await bench.answer("How many minutes does the kettle boil?")
    assert "[1] kettle.boil (kettle, kettle.boil)\nboil(water, minutes=4)\nBoil water until it sings." in said
    assert capsys.readouterr().err == "Reading the installed packages: 0 of 4\n"
    assert "(tea-warmer, Summary)\nKeeps tea warm." in await bench.answer("What keeps tea warm?")
    assert await bench.answer("\N{BANANA}") == "The texts have nothing on it."
    assert capsys.readouterr().err == ""


async def test_what_is_made_of_the_packages_is_kept_until_they_change(tmp_path: Path) -> None:
    packages = Packages([str(shop(tmp_path / "site"))], tmp_path / "cache")
    first = packages.inventory()
    stood = first.stat().st_mtime_ns
    assert (packages.inventory(), first.stat().st_mtime_ns) == (first, stood)
    packages.texts(Event()).close()
    assert len(list((tmp_path / "cache").iterdir())) == 2
    add(tmp_path / "site", "toaster", "1.0", {"toaster.py": '"""Browns."""'})
    second = packages.inventory()
    assert second != first
    assert [file for file in (tmp_path / "cache").iterdir() if "inventory" in file.name] == [second]
    stopped = Event()
    stopped.set()
    with pytest.raises(Abandoned, match="nobody waits"):
        packages.texts(stopped)
    assert [file for file in (tmp_path / "cache").iterdir() if file.name.startswith(".")] == []
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheUnusable, match="name a folder that you may write in FLOWCORE_CACHE"):
        Packages(packages.path, tmp_path / "file" / "cache").inventory()


def orders(*wanted: tuple[str, str]) -> ModelReply[str]:
    return ModelReply("", tool_calls=tuple(ToolCall(f"c{n}", *each) for n, each in enumerate(wanted)))


async def test_a_model_is_shown_every_tool_and_cannot_change_the_inventory(made: Made) -> None:
    change = '{"sql": "DELETE FROM distribution"}'
    model = ScriptedModel([orders(("packages_query", change), ("modules", '{"package": "warmer"}')), "Two."])
    bench = made(model)
    result = await bench.ask("How many modules has warmer?")
    assert result.value is not None
    assert [tool.name for tool in model.requests[0].tools] == [
        "todo", "search_texts", "packages_tables", "packages_describe", "packages_query",
        "modules", "outline", "find_in_source", "read_source",
    ]  # fmt: skip
    assert [message.content for message in result.value.turn if message.role == "tool"] == [
        "It failed: this may not be done here: not authorized",
        "warmer (14 lines)\nwarmer.parts (2 lines)",
    ]
    told = model.requests[0].messages[0].content
    assert "CREATE TABLE need (distribution TEXT, name TEXT" in told
    assert await Bench(bench.site.parent / "again").answer("What does tea-warmer need?") != ""


async def test_without_its_server_or_its_cache_the_agent_says_what_it_has_not(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    packages = Packages([str(shop(tmp_path / "site"))], tmp_path / "file" / "cache")
    spec = agent_of(ModelRunner(Script()), packages)
    flow = agent_flow(spec)
    state = admit(spec, AgentRequest((Message("user", "What does kettle need?"),)))
    result = await flow.run(state, budget=BUDGET, check=False)
    assert result.value is not None
    assert spec.catalog is not None
    await spec.catalog.close()
    assert [(issue.stage, issue.name) for issue in result.value.issues] == [("tools", "packages")]
    assert "Not a directory; name a folder that you may write in FLOWCORE_CACHE" in result.value.issues[0].message
    assert result.value.text.startswith("I could not find that out. A tool said: Not run: there is no tool")
    assert "\nNot available: packages: CacheUnusable: " in module.shown(result.value)


def command(tmp_path: Path, *words: str) -> tuple[list[str], dict[str, str]]:
    return [sys.executable, "-c", COMMAND, *words], {**os.environ, "FLOWCORE_CACHE": str(tmp_path / "cache")}


def left_behind(folder: Path) -> list[str]:
    """Returns the processes that work in a folder."""
    places = [(place, place.parent.name) for place in Path("/proc").glob("[0-9]*/cwd")]
    with suppress(OSError):
        return [number for place, number in places if os.path.realpath(place) == str(folder)]
    return []


def test_a_run_whose_process_was_ended_is_resumed_with_the_results_it_had(tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "runs.db")]
    words, environment = command(tmp_path, "run", str(FOLDER), QUESTIONS[3], *store, "--run-id", "r")
    with subprocess.Popen(
        words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
    ) as ran:
        assert ran.stderr is not None
        assert any(line.startswith("todo(1 of 3") for line in ran.stderr)
        ran.terminate()
    assert (ran.returncode, left_behind(tmp_path)) == (143, [])
    words, environment = command(tmp_path, "runs", "resume", str(FOLDER), "r", *store)
    done = subprocess.run(words, capture_output=True, text=True, timeout=50, env=environment)
    assert done.returncode == 0, done.stderr
    assert "starlette with lines that import anyio:" in done.stdout
    assert "todo(0 of 3" not in done.stderr
    assert "todo(2 of 3 done)" in done.stderr


def test_an_answer_is_shown_without_obeying_it() -> None:
    reply = AgentReply("\x1b[2Jtwo\nlines", "limit", is_partial=True)
    assert module.shown(reply) == "\\x1b[2Jtwo\nlines\n\nThe agent ended early: limit."
    assert module.line("q", reply)["answers"][0]["status"] == "fallback"
    assert module.shown(replace(reply, text="", reason="no_answer")).startswith("(no answer)\n")


def test_the_command_tells_its_progress_writes_the_page_keeps_the_run_and_leaves_no_process(
    tmp_path: Path,
) -> None:
    out, store = tmp_path / "out", tmp_path / "runs.db"
    words, environment = command(
        tmp_path, "run", str(FOLDER), QUESTIONS[0], "--out", str(out), "--store", str(store)
    )
    done = subprocess.run(words, capture_output=True, text=True, timeout=55, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("By their metadata, anyio ")
    assert "\n- flowcore >=" in done.stdout
    kept, *told = done.stderr.splitlines()
    assert kept.endswith(f"kept in {store}")
    assert [line.partition("(")[0] for line in told] == ["packages_query", "packages_query"]
    assert "packages_query" in (out / "run.html").read_text("utf-8")
    assert left_behind(tmp_path) == []


def test_a_model_behind_an_api_takes_the_place_of_the_script(
    katan: Katan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """llm-katan's echo backend calls the first tool whenever there is one, and says back what it was asked."""
    monkeypatch.setenv("FLOWCORE_CACHE", str(tmp_path))
    monkeypatch.setenv(module.KEY, KEY)
    app = module.with_model(module.Options("echo", katan().base_url))
    result = app.flow.run_sync(app.state(QUESTIONS[0]), budget=app.budget, check=False)
    assert result.value is not None, result.failure
    assert (result.value.reason, result.value.is_partial) == ("repetition", False)
    assert "No tool can be called any more." in result.value.text
    assert KEY not in f"{result.trace.to_text()} {app.present(result.value)} {app!r} {result!r}"
