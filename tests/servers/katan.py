"""llm-katan: an OpenAI-compatible server from PyPI, whose echo backend says back what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.servers.process import Served, free_port, serving
from tests.web.chromium import missing

__all__ = ["KEY", "Katan", "katan"]

KEY = "sk-the-right-key-0123456789"
_PROGRAM = Path(__file__).parents[2] / ".venv" / "servers" / "bin" / "llm-katan"
Katan = Callable[..., Served]


@pytest.fixture(scope="session")
def katan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Katan]:
    """Starts servers with the given options, one for all tests that ask for the same."""
    if not _PROGRAM.is_file():
        missing("llm-katan", "scripts/test installs it into .venv/servers")
    kept: dict[tuple[str, ...], Served] = {}
    home = tmp_path_factory.mktemp("katan")
    with ExitStack() as running:

        def start(*options: str) -> Served:
            if options not in kept:
                port = free_port()
                command = [str(_PROGRAM), "--model", "echo", "--backend", "echo", "--host", "127.0.0.1"]
                command += ["--port", str(port), "--stats-file", "", "--max-concurrent", "16", *options]
                kept[options] = running.enter_context(serving(command, port, "/health", home))
            return kept[options]

        yield start
