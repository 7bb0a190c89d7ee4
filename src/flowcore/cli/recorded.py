"""Recorded runs: what a person names as `trace.json` or `trace.json#run`, or as `FILE.db#RUN` in a store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import TargetError
from ..recording import Recording, read_runs
from ..render import shown
from .stored import is_store_file, stored_recording

__all__ = ["RUNS", "is_trace_file", "recorded_run"]

RUNS = """\
  trace.json[#run]       a run, written by `flowcore run --out DIR`: by its name, its id, or its place (1, 2, ...)
  FILE.db[#RUN]          a run, kept by `flowcore run --store FILE.db`: by its id, or the one that began last
"""

_MOST_NAMES = 10


def is_trace_file(text: str) -> bool:
    """Return whether a text names a trace file, or the file of a store."""
    return text.partition("#")[0].endswith(".json") or is_store_file(text)


def recorded_run(text: str) -> Recording:
    """Return the run that a text names: the only one of a file, or the one of a name or place (1 is the first).

    Raises:
        RecordingError: The file holds no runs that can be read.
        StoreError: The file is no store, or a newer one.
        TargetError: There is no such run in it, or it is not said which.
    """
    if is_store_file(text):
        return stored_recording(text)
    path, hash, name = text.partition("#")
    runs = read_runs(Path(path))
    named = [run for run in runs if run.name == name or run.run_id == name]
    if not hash and len(runs) == 1:
        return runs[0]
    if hash and len(named) == 1:
        return named[0]
    if hash and not named and name.isdecimal() and 1 <= int(name) <= len(runs):
        return runs[int(name) - 1]
    raise TargetError(f"{path}: {_fault(runs, name, hash, len(named))}")


def _fault(runs: Sequence[Recording], name: str, hash: str, found: int) -> str:
    if not runs:
        return "there is no run in it; name another file"
    names = ", ".join(shown(run.name or run.run_id) for run in runs[:_MOST_NAMES])
    more = f" and {len(runs) - _MOST_NAMES} more" if len(runs) > _MOST_NAMES else ""
    remedy = f"name one after a #, by its place from 1 to {len(runs)} or as one of {names}{more}"
    if not hash:
        return f"there are {len(runs)} runs in it; {remedy}"
    if not name:
        return f"the # names no run; {remedy}"
    return f"there {'is no run' if not found else f'are {found} runs'} {shown(name)} in it; {remedy}"
