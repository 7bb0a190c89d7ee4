"""Trace files: recordings as JSON, the flow that they share written once."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import RecordingError
from .declared import flow_fault
from .recording import Recording

__all__ = ["dump_runs", "load_runs", "read_runs"]

_FORMAT = "flowcore trace"
_VERSION = 1
_MICRO = 1e6


def dump_runs(runs: Iterable[Recording]) -> str:
    """Return runs as the text of a trace file."""
    flows: dict[str, Any] = {}
    dumped: list[Any] = []
    for run in runs:
        if run.signature not in flows:
            flows[run.signature] = run.flow.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        dumped.append(run.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude={"flow"}))
    data = {"format": _FORMAT, "version": _VERSION, "flows": flows, "runs": dumped}
    return json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n"


def read_runs(path: Path | str) -> list[Recording]:
    """Return the runs of a trace file, in their order.

    Raises:
        RecordingError: There is no such file, it is cut off, of another version, or no trace file at all.
    """
    try:
        text = Path(path).read_bytes().decode()
    except UnicodeDecodeError as error:
        raise RecordingError(f"{path}: this is no text, and so no trace file; name another file") from error
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror}; name another file") from error
    return load_runs(text, str(path))


def load_runs(text: str, place: str = "trace") -> list[Recording]:
    """Return the runs in the text of a trace file; `place` is what messages call it. Raises `RecordingError`."""
    try:
        data: Any = json.loads(text, parse_float=_number, parse_int=_whole, parse_constant=_number)
    except json.JSONDecodeError as error:
        whole = text.strip()
        if whole.startswith("{") and (not whole.endswith("}") or error.pos >= len(whole) - 1):
            raise RecordingError(
                f"{place}: cut off after {len(text):,} characters; copy the file again, or run the flow again"
            ) from error
        raise RecordingError(
            f"{place}:{error.lineno}: this is not JSON ({error.msg}); name a trace file"
        ) from error
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{place}: this JSON cannot be read (too deep, or a number too long)") from error
    _check_version(data, place)
    try:
        runs = [
            Recording.model_validate({**run, "flow": data["flows"][run["signature"]]}) for run in _listed(data)
        ]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise RecordingError(
            f"{place}: a run in it is damaged at {where}: {first['msg']}; copy it again"
        ) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise RecordingError(f"{place}: the runs in it are damaged ({error}); copy the file again") from error
    for flow in {run.signature: run.flow for run in runs}.values():
        if fault := flow_fault(flow):
            raise RecordingError(f"{place}: the flow in it is damaged: {fault}; copy the file again")
    return runs


def _listed(data: Any) -> list[Any]:
    if not isinstance(data["runs"], list):
        raise TypeError("they are no list")
    return data["runs"]


def _whole(text: str) -> int:
    _number(text)
    return int(text)


def _number(text: str) -> float:
    """Return a number that is counted in millionths, as times are. Raises `ValueError` for all else."""
    if not math.isfinite(float(text) * _MICRO):
        raise ValueError(text)
    return float(text)


def _check_version(data: Any, place: str) -> None:
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise RecordingError(f"{place}: this is no trace file; `flowcore run TARGET TEXT --out DIR` writes one")
    version = data.get("version")
    if version != _VERSION:
        newer = isinstance(version, int) and version > _VERSION
        remedy = "use a newer flowcore" if newer else "run the flow again"
        raise RecordingError(
            f"{place}: written as version {version}, and this flowcore reads {_VERSION}; {remedy}"
        )
