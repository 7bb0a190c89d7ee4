"""MCP servers from PyPI: some that speak today's protocol, one that speaks an older one, and a proxy to HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers.process import Served, free_port, serving
from tests.web.chromium import missing

__all__ = ["mcp_program", "mcp_proxy"]

_VENV = Path(__file__).parents[2] / ".venv"


def mcp_program(name: str) -> str:
    """Returns where a server is; without it the test is skipped."""
    found = next(
        (path for place in ("mcp", "mcp-before") if (path := _VENV / place / "bin" / name).is_file()), None
    )
    if found is None:
        missing(name, "scripts/test installs it into .venv/mcp and .venv/mcp-before")
    return str(found)


@pytest.fixture(scope="session")
def mcp_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server of the time by streamable HTTP, behind a proxy."""
    port = free_port()
    command = [mcp_program("mcp-proxy"), "--host", "127.0.0.1", "--port", str(port), "--"]
    command += [mcp_program("mcp-server-time"), "--local-timezone", "UTC"]
    with serving(command, port, "/status", tmp_path_factory.mktemp("mcp")) as served:
        yield served
