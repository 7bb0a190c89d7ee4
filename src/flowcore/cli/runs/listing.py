"""`flowcore runs list`: the runs of a store as a table."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, get_args

from ...render import shown, visible
from ...store import RunRow, RunStatus, RunStore, Stored
from ..codes import OK
from ..files import write_out
from ..stores import with_store
from .options import add_source, named_store
from .told import moment, span, spent_of, status_of

__all__ = ["STATUSES", "add_arguments", "execute"]

STATUSES = (*get_args(RunStatus), "interrupted")
_HEAD = ("RUN", "FLOW", "STATUS", "WHO", "BEGAN", "TOOK", "VISITS", "SPENT", "TITLE")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this action takes."""
    add_source(parser)
    parser.add_argument(
        "--status",
        metavar="STATUS",
        action="append",
        choices=STATUSES,
        default=[],
        help=f"only runs that stand so, and may be given several times: {', '.join(STATUSES)}; an interrupted one"
        " was running, and its process is gone: it can be resumed",
    )
    parser.add_argument("--flow", metavar="NAME", default="", help="only runs of the flow of this name")
    parser.add_argument("--user", metavar="USER", default="", help="only runs of this user")
    parser.add_argument(
        "--limit", metavar="N", type=_count, default=20, help="the most runs to list (default: 20)"
    )
    parser.add_argument("--json", action="store_true", help="print the runs as JSON, and nothing else")


def execute(arguments: argparse.Namespace) -> int:
    """Print the runs, the latest first."""

    async def found(store: RunStore) -> list[Stored]:
        runs = await _runs(store, arguments)
        return [await store.load(run.run_id) for run in runs]

    records = with_store(named_store(arguments), found)
    if arguments.json:
        write_out(json.dumps([_data(stored) for stored in records], indent=2, ensure_ascii=False) + "\n")
    else:
        _print([_HEAD, *map(_row, records)])
    return OK


async def _runs(store: RunStore, arguments: argparse.Namespace) -> list[RunRow]:
    wanted: list[str] = arguments.status
    asked: Any = dict.fromkeys("running" if status == "interrupted" else status for status in wanted)
    found: list[RunRow] = []
    before: float | None = None
    while len(found) < arguments.limit:
        runs = await store.runs(
            status=tuple(asked), flow=arguments.flow, user=arguments.user, limit=arguments.limit, before=before
        )
        found += [run for run in runs if not wanted or status_of(run) in wanted]
        if len(runs) < arguments.limit:
            break
        before = runs[-1].began
    return found[: arguments.limit]


def _row(stored: Stored) -> Sequence[str]:
    run = stored.run
    took = (time.time() if run.end is None else run.end.ended) - run.began
    spent = str(spent_of(stored)).removeprefix("used ")
    who = " ".join(filter(None, (run.trigger.user, run.trigger.agent and f"({run.trigger.agent})"))) or "-"
    words = (run.run_id, run.flow, status_of(run), who, moment(run.began), span(took))
    return *map(visible, words), f"{len(stored.visits):,}", spent, shown(run.title) or "-"


def _print(rows: Sequence[Sequence[str]]) -> None:
    if len(rows) == 1:
        print("no runs")
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(f"{word:<{width}}" for word, width in zip(row, widths, strict=True)).rstrip())


def _data(stored: Stored) -> dict[str, Any]:
    run, end = stored.run, stored.run.end
    return {
        "run_id": run.run_id,
        "flow": run.flow,
        "status": status_of(run),
        "title": run.title,
        "trigger": asdict(run.trigger),
        "began": _iso(run.began),
        "ended": None if end is None else _iso(end.ended),
        "reason": "" if end is None else end.reason,
        "owner": run.owner,
        "lease": _iso(run.lease) if run.owner else None,
        "forked": run.forked,
        "visits": len(stored.visits),
        "spent": asdict(spent_of(stored)),
    }


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of one or more")
    return int(text)
