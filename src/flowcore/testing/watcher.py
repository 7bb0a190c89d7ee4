"""The watcher of a test: which runs it made, what it compared them with, and what is kept when it fails."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..recording import Recording, dump_runs, recording_of
from ..result import RunResult
from ..trace import Trace
from .checked import Checked

__all__ = ["Watcher", "forget", "summary"]

_MOST_LINES = 400
_FOLDER = Path(".flowcore") / "failed"
_REMEDY = "If this is as it should be, --snapshot-update keeps it."
_WORDS = {
    "path": "path changed",
    "order": "order changed",
    "route": "route changed",
    "values": "values",
    "result": "result changed",
    "new": "new",
}


class Watcher:
    """Hears of the comparisons of one test."""

    def __init__(self) -> None:
        self.checks: list[Checked] = []
        self.runs: Sequence[RunResult[Any]] = ()

    def hear(self, checked: Checked) -> None:
        """Take note of a comparison."""
        self.checks.append(checked)

    @property
    def updates(self) -> list[str]:
        """The kind of change of each text of a run that was written."""
        written = [check for check in self.checks if check.written and check.trace is not None]
        return ["new" if (found := check.difference) is None else found.kind for check in written]

    def sections(self, root: Path, test: str) -> list[tuple[str, str]]:
        """Keep the runs of a failed test, and return what its report says beside the failure."""
        failed = [check for check in self.checks if not check.agrees]
        shown = [(_title(check), "\n".join(_told(check))) for check in failed]
        traces = [check.trace for check in failed if check.trace is not None] or [run.trace for run in self.runs]
        kept = _keep(root, test, traces) if traces else []
        if kept:
            shown.append(("flowcore run", "\n".join(kept)))
        return shown


def forget(root: Path, test: str) -> None:
    """Remove what was kept of an earlier failure of a test that has passed."""
    place = root / _place(test)
    for kind in ("html", "json"):
        with suppress(OSError):
            place.with_name(f"{place.name}.{kind}").unlink(missing_ok=True)


def summary(updates: Iterable[str]) -> str:
    """Return in one line what an update changed."""
    counts = Counter(updates)
    total = counts.total()
    listed = ", ".join(f"{counts[kind]} {words}" for kind, words in _WORDS.items() if counts[kind])
    return f"{total} trace{'' if total == 1 else 's'}: {listed}"


def _title(check: Checked) -> str:
    return "flowcore trace diff" if check.trace is not None else "flowcore diagram diff"


def _told(check: Checked) -> Sequence[str]:
    lines = _capped(check.lines())
    return lines if check.was is None else [*lines, "", _REMEDY]


def _capped(lines: Sequence[str]) -> Sequence[str]:
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[:_MOST_LINES], f"... {len(lines) - _MOST_LINES} more lines: see the page of the run"]


def _place(test: str) -> Path:
    return _FOLDER / re.sub(r"[^\w.\[\]=-]+", "-", test).strip("-")[-150:]


def _keep(root: Path, test: str, traces: Sequence[Trace]) -> list[str]:
    """Write the runs to files, and return what is to be said of that."""
    place = _place(test)
    try:
        runs = [recording_of(trace, name=trace.run_id, title=test) for trace in traces]
        (root / _FOLDER).mkdir(parents=True, exist_ok=True)
        trace = _written(root, f"{place}.json", dump_runs(runs))
        return [_written(root, f"{place}.html", _page_of(runs[0])), trace]
    except Exception as error:  # pytest ends the whole session where a report fails
        return [f"the run could not be kept: {type(error).__name__}: {error}"]


def _written(root: Path, place: str, text: str) -> str:
    (root / place).write_text(text, "utf-8")
    return Path(place).as_posix()


def _page_of(run: Recording) -> str:
    from ..render.page import run_page  # noqa: PLC0415 - a page is made of a failed run only

    return run_page(run)
