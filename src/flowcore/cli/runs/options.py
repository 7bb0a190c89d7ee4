"""What the actions on stored runs take in common: the store, the run, and who it is that asks."""

from __future__ import annotations

import argparse

from ...errors import RunConflict
from ...store import RunRow, RunStore
from ..stores import add_store, need_store
from ..target import load_target
from ..words import not_empty

__all__ = ["add_by", "add_own_store", "add_run", "add_source", "add_target", "check_by", "named_store"]

_STORE = "the file that the runs are kept in"


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add what names a store, where no flow is needed."""
    add_store(parser, _STORE)
    parser.add_argument(
        "--app", metavar="TARGET", type=not_empty, help="the app whose store= it is, in place of --store"
    )


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add what names the flow of a run, and its store."""
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="the flow of the run, or its app: package.module:name, path/to/file.py[:name], path/to/folder",
    )


def add_own_store(parser: argparse.ArgumentParser) -> None:
    """Add what names the store, where a flow or app is named too."""
    add_store(parser, f"{_STORE} (default: store= of the app)")


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the run that is meant."""
    parser.add_argument(
        "run", metavar="RUN", type=not_empty, help="the run: its id, the beginning of one, or last"
    )


def add_by(parser: argparse.ArgumentParser) -> None:
    """Add who asks."""
    parser.add_argument(
        "--by", metavar="USER", default="", help="who you are; a run that belongs to a user obeys nobody else"
    )


def named_store(arguments: argparse.Namespace) -> RunStore:
    """Open the store that was named, by its file or by an app. No file is made."""
    app = None if arguments.app is None else load_target(arguments.app).app_to_run()
    return need_store(arguments.store, app)


def check_by(run: RunRow, by: str) -> None:
    """Raise `RunConflict` unless a run may be told what to do by this user."""
    user = run.trigger.user
    if user and by != user:
        raise RunConflict(f"run {run.run_id} belongs to {user!r}, not {by!r}: give --by {user}, if that is you")
