"""The child: a program run to its end. It never outlives the command, whatever interrupts that."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["Ended", "run_child"]


class Ended(NamedTuple):
    """How a program ended, and what it said."""

    code: int
    out: bytes
    err: bytes


def run_child(command: Sequence[str], cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Ended:
    """Run a program without input. Raises `FileNotFoundError` where it is not there."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe) as child:
        try:
            out, err = child.communicate()
        except BaseException:  # the folder that it works in is about to go
            child.kill()
            child.wait()
            raise
    return Ended(child.returncode, out, err)
