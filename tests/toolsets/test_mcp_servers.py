"""MCP servers from PyPI: today's protocol and an older one, by stdio and by streamable HTTP."""

from __future__ import annotations

import logging
import subprocess
from pathlib import Path

import pytest
from tests.servers.mcp import mcp_program
from tests.servers.process import Served, free_port, serving
from tests.toolsets.bench import bench
from tests.toolsets.test_mcp import ODD, TOKEN

from flowcore.toolsets import MCPToolset


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    place = tmp_path / "repository"
    git = ["git", "-C", str(place), "-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "The first one"], check=True)
    return place


@pytest.mark.behaviour("TOOL-7")
async def test_servers_of_other_people_by_stdio(repository: Path, tmp_path: Path) -> None:
    time = [mcp_program("mcp-server-time"), "--local-timezone", "UTC"]
    git = [mcp_program("mcp-server-git"), "--repository", str(repository)]
    older = [mcp_program("mcp-server-sqlite"), "--db-path", str(tmp_path / "notes.db")]
    sets = [
        MCPToolset("time", command=time),
        MCPToolset("git", command=git, allowed=["git_log", "git_commit"]),
        MCPToolset("notes", command=older, prefix="notes_", read_only=["read_query", "list_tables"]),
    ]
    async with bench(*sets) as at:
        assert dict(at.catalog.failures) == {}
        assert {"get_current_time", "convert_time", "git_log", "notes_read_query"} <= set(at.tools)
        assert "git_status" not in at.tools
        assert {name: at.tools[name].effects for name in ("git_log", "git_commit", "notes_list_tables")} == {
            "git_log": False,
            "git_commit": True,
            "notes_list_tables": False,
        }
        now = await at.call("get_current_time", timezone="UTC")
        assert (now.status, '"timezone": "UTC"' in now.text) == ("ok", True)
        status, text = await at.said("get_current_time", timezone="Nowhere")
        assert (status, "No time zone found with key Nowhere" in text) == ("failed", True)
        assert "The first one" in (await at.call("git_log", repo_path=str(repository))).text
        assert (await at.call("git_log")).status == "invalid_arguments"
        await at.call("notes_create_table", query="CREATE TABLE notes (text TEXT)")
        assert await at.said("notes_list_tables") == ("ok", "[{'name': 'notes'}]")


@pytest.mark.behaviour("TOOL-7")
async def test_a_server_of_other_people_by_streamable_http(
    mcp_proxy: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    toolset = MCPToolset("time", url=f"http://127.0.0.1:{mcp_proxy.port}/mcp", headers={"Authorization": TOKEN})
    async with bench(toolset) as at:
        assert sorted(at.tools) == ["convert_time", "get_current_time"]
        status, text = await at.said(
            "convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo"
        )
        assert (status, "T21:00:00+09:00" in text) == ("ok", True)
        status, text = await at.said("get_current_time", timezone="Nowhere")
        assert (status, "No time zone found with key Nowhere" in text) == ("failed", True)
    assert caplog.records != []
    assert TOKEN not in f"{mcp_proxy.log()} {caplog.text}"


# What mcp leaves to the collector of a stream that is cancelled, trio warns of.
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <async_generator:pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning")
@pytest.mark.behaviour("TOOL-8")
async def test_todays_protocol_by_streamable_http_with_a_server_that_ends(tmp_path: Path) -> None:
    port = free_port()
    with serving([*ODD, str(port)], port, "/ready", tmp_path) as served:
        async with bench(MCPToolset("odd", url=f"http://127.0.0.1:{port}/mcp", timeout=2.0)) as at:
            process = (await at.call("pid")).text
            assert (await at.call("steps")).value.value == {"steps": 3}
            assert (await at.call("slow", log=str(tmp_path / "log"))).status == "timeout"
            assert len((await at.call("large")).value.text) == 10_000_000
            gone = await at.call("write_and_die")
            assert (gone.status, process.isdigit()) == ("unknown", True)
            status, text = await at.said("pid")
            assert (status, f"http://127.0.0.1:{port}/mcp cannot be reached" in text) == ("failed", True), text
        assert "cancelled" in (tmp_path / "log").read_text()
        assert TOKEN not in served.log()


@pytest.mark.behaviour("TOOL-8")
async def test_a_token_that_is_no_longer_taken_is_asked_for_anew(tmp_path: Path) -> None:
    token, port = tmp_path / "token", free_port()
    mine = ["old"]
    write(token, "old")
    with serving([*ODD, str(port), str(token)], port, "/ready", tmp_path):
        toolset = MCPToolset("odd", url=f"http://127.0.0.1:{port}/mcp", headers=lambda: {"Authorization": mine[0]})
        async with bench(toolset) as at:
            assert (await at.call("pid")).status == "ok"
            write(token, "new")
            wants = f"It failed: http://127.0.0.1:{port}/mcp wants a sign-in: it answered 401"
            assert await at.said("pid") == ("failed", wants)
            assert await at.said("pid") == ("failed", wants)
            mine[0] = "new"
            assert (await at.call("pid")).status == "ok"


def write(place: Path, text: str) -> None:
    place.write_text(text)
