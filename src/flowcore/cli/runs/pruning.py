"""`flowcore runs prune`: the records of runs that ended long ago, removed."""

from __future__ import annotations

import argparse
import re
import time
from datetime import datetime
from typing import Any

from ...store import RunRow, RunStore
from ..codes import OK
from ..stores import with_store
from ..words import counted
from .options import add_source, named_store
from .told import moment

__all__ = ["add_arguments", "execute"]

_ENDED = ("completed", "failed", "cancelled")
_AT_ONCE = 500
_UNITS = {"s": 1, "min": 60, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this action takes."""
    add_source(parser)
    parser.add_argument(
        "--before",
        metavar="WHEN",
        type=_when,
        required=True,
        help="runs that ended before this: an age such as 30d, 12h or 90min, or a date such as 2026-01-31 or"
        " 2026-01-31T12:00",
    )
    parser.add_argument(
        "--status", action="append", choices=_ENDED, default=[], help="only runs that ended so; may be repeated"
    )
    parser.add_argument("--dry-run", action="store_true", help="remove nothing, and say what would be")


def execute(arguments: argparse.Namespace) -> int:
    """Remove the records, or tell of them."""
    before: float = arguments.before
    status: tuple[Any, ...] = tuple(arguments.status)

    async def work(store: RunStore) -> None:
        if arguments.dry_run:
            runs = await _old(store, before, status or _ENDED)
            for run in runs:
                assert run.end is not None  # asked for so
                print(f"{run.run_id}  {run.flow}  {run.status}  {moment(run.end.ended)}")
            print(f"{counted(len(runs), 'run')} would be removed")
        else:
            print(f"{counted(await store.prune(before, status=status), 'run')} removed")

    with_store(named_store(arguments), work)
    return OK


async def _old(store: RunStore, before: float, status: tuple[Any, ...]) -> list[RunRow]:
    found: list[RunRow] = []
    began: float | None = None
    while runs := await store.runs(status=status, limit=_AT_ONCE, before=began):
        found += [run for run in runs if run.end is not None and run.end.ended < before]
        began = runs[-1].began
    return found


def _when(text: str) -> float:
    age = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|min|m|h|d|w)", text.strip())
    if age is not None:
        return time.time() - float(age[1]) * _UNITS[age[2]]
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no age and no date: give 30d, 12h or 90min, or 2026-01-31"
        ) from None
