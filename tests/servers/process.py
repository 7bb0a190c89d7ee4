"""A server of somebody else, as a process on a free port of this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import httpx

__all__ = ["Served", "free_port", "serving"]

_PATIENCE = 40.0


@dataclass(frozen=True)
class Served:
    """A server that answers: where it is, and what it said so far."""

    port: int
    output: IO[bytes]

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def log(self) -> str:
        """Returns what the server printed."""
        self.output.seek(0)
        return self.output.read().decode(errors="replace")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def serving(command: list[str], port: int, health: str, home: Path) -> Iterator[Served]:
    """Starts a server, waits until it answers, and ends it."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "TMPDIR")}
    with TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**kept, "HOME": str(home), "PYTHONUNBUFFERED": "1"},
        )
        served = Served(port, output)
        try:
            wait_for(f"http://127.0.0.1:{port}{health}", process, served)
            yield served
        finally:
            process.kill()
            process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes], served: Served) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, served.log()
        try:
            if httpx.get(url, trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError(f"{url} does not answer: {served.log()}")
