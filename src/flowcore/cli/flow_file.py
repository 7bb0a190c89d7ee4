"""Flow files: a declared flow that was written as JSON, read back and looked through."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import TargetError
from ..recording import FlowData, flow_fault, read_flow

__all__ = ["is_flow_file", "read_flow_file"]


def is_flow_file(path: Path) -> bool:
    """Return whether a file holds what looks like a declared flow."""
    data = _json(path)
    return isinstance(data, dict) and "nodes" in data and "routes" in data


def read_flow_file(path: Path, place: str) -> FlowData:
    """Return the flow in a file; `place` is what messages call the file. Raises `TargetError`."""
    try:
        flow = read_flow(_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the top"
        raise TargetError(
            f"{place}: no flow: {where}: {first['msg']}; write it again with `flowcore render`"
        ) from error
    if fault := flow_fault(flow):
        raise TargetError(f"{place}: no flow: {fault}; write it again with `flowcore render`")
    return flow


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):  # whoever reads it as a trace tells what is wrong with it
        return None
