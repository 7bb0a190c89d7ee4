"""Stored runs, read to be seen: without the code of their flow, and without a change to their store."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from ..recording import Recording, recording_of
from ..state import Codec
from ..store import RunStore, Stored
from ..store.reading import read_trace
from ..trace import Trace
from .stores import find_run, open_store, with_store

__all__ = ["is_store_file", "load_run", "recording_of_stored", "stored_recording", "trace_of"]

_SUFFIXES = (".db", ".sqlite", ".sqlite3")
_OURS = ("flowcore.messages", "flowcore.tools", "flowcore.models")
_HEAD = b"SQLite format 3\0"


def is_store_file(text: str) -> bool:
    """Return whether a text names the file of a store, with or without a run in it."""
    path = Path(text.partition("#")[0])
    if path.suffix in _SUFFIXES:
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(_HEAD)) == _HEAD
    except (OSError, ValueError):
        return False


def stored_recording(text: str) -> Recording:
    """Return the run that `FILE.db#RUN` names; without a name the one that began last.

    Raises:
        TargetError: There is no such file, or no such run in it.
        StoreError: The file is no store, or a newer one.
    """
    path, _, run_id = text.partition("#")
    store = open_store(path, makes=False)
    return recording_of_stored(with_store(store, lambda store: load_run(store, run_id or "last")))


async def load_run(store: RunStore, run_id: str) -> Stored:
    """Return everything that a store has of a run. Raises `TargetError` if there is no such run."""
    return await store.load((await find_run(store, run_id)).run_id)


def trace_of(stored: Stored) -> Trace:
    """Return the trace of a stored run. For values of classes that are not loaded it has stand-ins."""
    for name in _OURS:  # so that values of classes of flowcore are what they were
        import_module(name)
    return read_trace(stored, Codec(lenient=True))


def recording_of_stored(stored: Stored) -> Recording:
    """Return a stored run as plain data."""
    return recording_of(trace_of(stored), name=stored.run.run_id, title=stored.run.title)
