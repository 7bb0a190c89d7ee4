"""Flow files: a declared flow that was written as JSON, read back and looked through."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import TargetError
from ..graph.problems import bad_id
from ..recording import BranchesData, FlowData, GraphData, read_flow

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
    if fault := _fault(flow, ""):
        raise TargetError(f"{place}: no flow: {fault}; write it again with `flowcore render`")
    return flow


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):  # whoever reads it as a trace tells what is wrong with it
        return None


def _fault(graph: GraphData, prefix: str) -> str:
    """Return what a graph names and has not; '' for nothing."""
    ids = [node.id for node in graph.nodes]
    named = [end for route in graph.routes for end in (route.source, route.target)]
    if isinstance(graph, FlowData):
        named += [id for id in (graph.entry, graph.finish) if id is not None]
    elif isinstance(graph, BranchesData):
        named += graph.starts
    if missing := set(named) - set(ids):
        return f"{prefix}{min(missing)} is named and not declared"
    if wrong := [id for id in ids if bad_id(id, prefix) is not None]:
        return f"{prefix}{wrong[0]!r} is no id"
    if twice := [id for id, count in Counter(ids).items() if count > 1]:
        return f"{prefix}{twice[0]} is declared twice"
    inner = (_fault(node.inside, f"{prefix}{node.id}/") for node in graph.nodes if node.inside is not None)
    return next(filter(None, inner), "")
