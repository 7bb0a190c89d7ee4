"""`flowcore runs show`: a stored run as text, as its page, or as a trace file, without the code of its flow."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from ...recording import dump_runs
from ...render import run_page, shown, visible
from ...store import RequestRow, RunRow, Stored
from ...trace_text import Detail
from ..codes import OK
from ..files import write_file, write_out
from ..stored import load_run, recording_of_stored, trace_of
from ..stores import with_store
from ..streams import visible_text
from ..words import not_empty
from .options import add_run, add_source, named_store
from .told import is_walked, moment, span, spent_of, status_of

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this action takes."""
    add_run(parser)
    add_source(parser)
    parser.add_argument(
        "--detail",
        choices=get_args(Detail),
        default="full",
        help="how much of each visit: its path, also its route, also what it changed, or everything (default)",
    )
    parser.add_argument(
        "--html", metavar="FILE", type=not_empty, help="write the page of the run, to be opened offline"
    )
    parser.add_argument("--json", action="store_true", help="print the run as a trace file, and nothing else")


def execute(arguments: argparse.Namespace) -> int:
    """Show the run."""
    store = named_store(arguments)
    stored = with_store(store, lambda store: load_run(store, arguments.run))
    if arguments.html is not None:
        write_file(Path(arguments.html), run_page(recording_of_stored(stored)))
    if arguments.json:
        write_out(dump_runs([recording_of_stored(stored)]))
    elif arguments.html is None:
        lines = [*_head(stored, store.name), "", trace_of(stored).to_text(detail=arguments.detail).rstrip()]
        print(visible_text("\n".join([*lines, *_asked(stored, store.name), *_unknown(stored)])))
    return OK


def _head(stored: Stored, store: str) -> Iterator[str]:
    run, end = stored.run, stored.run.end
    reason = "" if end is None or not end.reason else f" ({end.reason})"
    yield f"run {run.run_id} of {run.flow}: {status_of(run)}{reason}"
    told = {
        "title": shown(run.title),
        "began": moment(run.began),
        "ended": "" if end is None else f"{moment(end.ended)}, after {span(end.ended - run.began)}",
        "spent": str(spent_of(stored)).removeprefix("used "),
        "user": run.trigger.user,
        "agent": run.trigger.agent,
        "forked": run.forked,
        "had by": _had_by(run),
        "store": store,
    }
    for name, words in told.items():
        if words:
            yield f"  {name:<7} {visible(words)}"


def _had_by(run: RunRow) -> str:
    if run.end is not None:
        return ""
    if is_walked(run):
        return f"{run.owner}, until {moment(run.lease)} if nothing is heard of it"
    return f"nobody: go on with `flowcore runs resume TARGET {run.run_id}`"


def _asked(stored: Stored, store: str) -> Iterator[str]:
    pending = [row for row in stored.requests if row.status == "pending"]
    if pending:
        yield from ("", "waits for a person:")
    for row in pending:
        until = f"until {moment(row.expires)}" if row.expires > time.time() else f"expired {moment(row.expires)}"
        yield f"  {row.id}  {row.path}  {_question(row)}  ({row.kind}, {until})"
    if pending:
        yield f"answer: flowcore runs answer {stored.run.run_id} {pending[0].id} VALUE --store {store}"


def _question(row: RequestRow) -> str:
    data = json.loads(row.data)
    return shown(" ".join(filter(None, (data["tool"], data["arguments"], data["question"]))))


def _unknown(stored: Stored) -> Iterator[str]:
    unknown = [row for row in stored.calls if row.status == "unknown"]
    frames = _frames(stored) if unknown else {}
    if unknown:
        yield from ("", "what became of these is unknown; they may have done their work:")
    for row in unknown:
        path = f"{frames.get(row.frame, '')}/{row.node}#{row.number}".lstrip("/")
        yield f"  {path}  {row.kind} {row.name}  (since {moment(row.at)})"


def _frames(stored: Stored) -> dict[int, str]:
    """Return the path of each walk of a stored run by its number."""
    paths: dict[int, str] = {0: ""}
    for row in sorted(stored.frames, key=lambda row: row.frame):
        if row.frame:
            around = f"{paths.get(row.parent, '')}/{row.node}#{row.number}".lstrip("/")
            paths[row.frame] = around if row.place < 0 else f"{around}[{row.place}]"
    return paths
