"""Loading elsewhere: a flow as data, from a process of its own, so that modules of one name never mix."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from ..errors import TargetError
from ..recording import FlowData
from .child import run_child
from .flow_file import read_flow_file

__all__ = ["flow_from"]

_PREFIX = "flowcore: "
_COMMAND = "from flowcore.cli import main; main()"


def flow_from(folder: Path, target: str, place: str) -> FlowData:
    """Return the flow that a target names in a folder; `place` is what messages call that folder.

    Raises `TargetError` with what the other process had to say.
    """
    with tempfile.TemporaryDirectory(prefix="flowcore-") as beside:
        written = Path(beside, "flow.json")
        # -P: what stands in the folder must not stand before flowcore itself.
        command = [
            sys.executable,
            "-P",
            "-c",
            _COMMAND,
            "render",
            "-o",
            str(written),
            "--format",
            "json",
            "--",
            target,
        ]
        run = run_child(command, cwd=folder)
        if run.code == 0:
            return read_flow_file(written, f"{place}{target}")
    lines = run.err.decode(errors="replace").splitlines()
    told = [line.removeprefix(_PREFIX) for line in lines if line.startswith(_PREFIX)]
    told = told or [f"{target}: Python ended with {run.code} and said: {lines[-1] if lines else 'nothing'}"]
    raise TargetError(
        "\n".join(f"{place}{line.replace(f'{folder}/', '').replace(str(folder), '.')}" for line in told)
    )
