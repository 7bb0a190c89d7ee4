"""An HTTP API made with FastAPI, served by uvicorn in an environment of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers.process import Served, free_port, serving
from tests.web.chromium import missing

__all__ = ["items_api"]

_PYTHON = Path(__file__).parents[2] / ".venv" / "servers" / "bin" / "python"


@pytest.fixture(scope="session")
def items_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The API of items."""
    if not _PYTHON.is_file():
        missing("FastAPI", "scripts/test installs it into .venv/servers")
    port = free_port()
    place = Path(__file__).parent
    command = [str(_PYTHON), "-m", "uvicorn", "--app-dir", str(place), "items_app:app", "--port", str(port)]
    with serving(command, port, "/openapi.json", tmp_path_factory.mktemp("api")) as served:
        yield served
