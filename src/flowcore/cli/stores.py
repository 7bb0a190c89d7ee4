"""Stores: where a command finds the records of runs, opened for one command, and which of its runs is meant."""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anyio

from ..app import App, StoreSource
from ..errors import FlowcoreError, RunNotFound, TargetError
from ..render import shown
from ..store import RunRow, RunStore
from .words import a, error_words, not_empty

__all__ = ["add_store", "find_run", "need_store", "open_store", "with_store"]

T = TypeVar("T")
AnyApp = App[Any, Any, Any]
_MOST = 1_000
"""How many runs are looked through for one whose id is told by its beginning."""
_NEAR = 3


def add_store(parser: argparse.ArgumentParser, words: str) -> None:
    """Add the option that names the file of a store."""
    parser.add_argument("--store", metavar="FILE", type=_path, help=words)


def open_store(source: StoreSource, *, makes: bool) -> RunStore:
    """Open a store for one command. A file that is not there is made only if `makes` says so.

    Raises:
        TargetError: There is no such file, or the app makes no store.
        StoreError: It is no database, another program's, a newer one, or cannot be used.
    """
    found: Any = source
    if callable(source) and not isinstance(source, type):
        found = _made(source)
    if not isinstance(found, str | os.PathLike):
        if callable(getattr(found, "commit", None)):
            return found  # type: ignore[no-any-return]  # it has what a store has
        kind = type(found).__name__
        raise TargetError(f"store= of the app gives {a(kind)}; let it give a store, or the path of a file")
    path = Path(found)
    if not makes:
        _must_be_there(path)
    from ..store import SQLiteRunStore  # noqa: PLC0415 - the library of the database is slow to load

    return SQLiteRunStore(path)


def need_store(file: Path | None, app: AnyApp | None, *, makes: bool = False) -> RunStore:
    """Open the store that was named, or that of the app. Raises `TargetError` if there is neither."""
    if file is not None:
        return open_store(file, makes=makes)
    if app is not None and app.store is not None:
        return open_store(app.store, makes=makes)
    remedy = "name its file with --store FILE"
    if app is not None:
        raise TargetError(f"the app keeps no runs; {remedy}, or give the app a store=")
    raise TargetError(f"which store? {remedy}, or an app that has one with --app TARGET")


def with_store(store: RunStore, work: Callable[[RunStore], Awaitable[T]]) -> T:
    """Work with a store in an event loop, and close it."""

    async def all_of_it() -> T:
        try:
            return await work(store)
        finally:
            with anyio.CancelScope(shield=True):
                await store.aclose()

    return anyio.run(all_of_it)


async def find_run(store: RunStore, run_id: str) -> RunRow:
    """Return the run of an id, or the only one whose id begins so; `last` is the one that began last.

    Raises `TargetError`, with ids that are near, if there is none or several.
    """
    try:
        return await store.run(run_id)
    except RunNotFound:
        pass
    runs = await store.runs(limit=_MOST)
    if not runs:
        raise TargetError(
            f"{store.name}: there is no run in it; `flowcore run TARGET TEXT --store FILE` keeps one"
        )
    if run_id == "last":
        return runs[0]
    begun = [run for run in runs if run_id and run.run_id.startswith(run_id)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise TargetError(f"{store.name}: {len(begun)} runs begin with {shown(run_id)}: {_names(begun)}; name one")
    ids = [run.run_id for run in runs]
    near = difflib.get_close_matches(run_id, ids, n=_NEAR, cutoff=0.5)
    offer = f"near are {_joined(near)}" if near else f"the latest are {_names(runs)}"
    raise TargetError(f"{store.name}: there is no run {shown(run_id)}; {offer}; `flowcore runs list` tells of all")


def _made(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except FlowcoreError as error:
        raise TargetError(error_words(error)) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise TargetError(f"the store of the app cannot be made: {error_words(error)}; mend that first") from error


def _must_be_there(path: Path) -> None:
    remedy = f"name another file, or make one with `flowcore run TARGET TEXT --store {path}`"
    try:
        size = path.stat().st_size
    except OSError as error:
        reason = "there is no such file" if not path.exists() else f"it cannot be read: {error.strerror}"
        raise TargetError(f"{path}: {reason}; {remedy}") from error
    if path.is_dir():
        raise TargetError(f"{path}: this is a folder; name the file of a store in it")
    if size == 0:
        raise TargetError(f"{path}: this file is empty, and holds no runs; {remedy}")


def _names(runs: Sequence[RunRow]) -> str:
    more = f" and {len(runs) - _NEAR} more" if len(runs) > _NEAR else ""
    return _joined([run.run_id for run in runs[:_NEAR]]) + more


def _joined(ids: Sequence[str]) -> str:
    return ", ".join(map(shown, ids))


def _path(text: str) -> Path:
    return Path(not_empty(text))
