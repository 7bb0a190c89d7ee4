"""Snapshots of runs and flows: texts beside the tests, kept and compared by syrupy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from ..flow import Flow
from ..render import render
from ..result import RunResult
from ..trace import Trace
from ..trace_text import Detail
from .checked import Checked

__all__ = ["DiagramSnapshot", "TraceSnapshot", "diagram_snapshot", "trace_snapshot"]


class _TextFile(SingleFileSnapshotExtension):
    """One text in a file of its own, with the same line ends everywhere."""

    _write_mode = WriteMode.TEXT

    def read_snapshot_data_from_location(
        self, *, snapshot_location: str, snapshot_name: str, session_id: str
    ) -> str | None:
        path = Path(snapshot_location)
        return path.read_text("utf-8") if path.is_file() else None

    @classmethod
    def write_snapshot_collection(cls, *, snapshot_collection: Any, name_order: Any = None) -> None:
        written = next(iter(snapshot_collection)).data
        Path(snapshot_collection.location).write_text(written, "utf-8", newline="\n")


class _TraceFile(_TextFile):
    file_extension = "trace.txt"


class _DiagramFile(_TextFile):
    file_extension = "mmd"


class _Snapshot:
    """What a test compares with. Each comparison is told to `heard`; the last one can be read from `checked`."""

    def __init__(self, kept: SnapshotAssertion, heard: Callable[[Checked], object]) -> None:
        self._kept = kept
        self._heard = heard
        self.checked: Checked | None = None

    def _check(self, now: str, trace: Trace | None, name: str) -> bool:
        kept = self._kept(name=name) if name else self._kept
        agrees = kept == now
        done = kept.executions[kept.num_executions - 1]
        if done.exception is not None:
            raise done.exception
        was = None if done.recalled_data is None else str(done.recalled_data)
        self.checked = Checked(was, now, agrees, done.created or done.updated, trace)
        self._heard(self.checked)
        return agrees


class TraceSnapshot(_Snapshot):
    """Compares runs with the texts kept of them: `assert result == trace_snapshot`.

    Called, it says how: `trace_snapshot("refund", detail="path", mask={"state.token": "secret"})`.
    """

    def __init__(
        self,
        kept: SnapshotAssertion,
        heard: Callable[[Checked], object],
        name: str = "",
        detail: Detail = "full",
        mask: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(kept, heard)
        self._name = name
        self._detail: Detail = detail
        self._mask = mask

    def __call__(
        self, name: str = "", *, detail: Detail = "full", mask: Mapping[str, str] | None = None
    ) -> TraceSnapshot:
        """Return the snapshot of a name, in another detail, or with places masked."""
        return TraceSnapshot(self._kept, self._heard, name, detail, mask)

    def __eq__(self, other: object) -> bool:
        trace = other.trace if isinstance(other, RunResult) else other
        if not isinstance(trace, Trace):
            raise TypeError(f"trace_snapshot compares a RunResult or a Trace, not a {type(other).__name__}")
        return self._check(trace.to_text(detail=self._detail, mask=self._mask), trace, self._name)


class DiagramSnapshot(_Snapshot):
    """Compares flows with the diagrams kept of them, as Mermaid text: `assert flow == diagram_snapshot`."""

    def __init__(self, kept: SnapshotAssertion, heard: Callable[[Checked], object], name: str = "") -> None:
        super().__init__(kept, heard)
        self._name = name

    def __call__(self, name: str = "") -> DiagramSnapshot:
        """Return the snapshot of a name."""
        return DiagramSnapshot(self._kept, self._heard, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Flow):
            raise TypeError(f"diagram_snapshot compares a Flow, not a {type(other).__name__}")
        return self._check(render(other, "mermaid"), None, self._name)


def trace_snapshot(snapshot: SnapshotAssertion, heard: Callable[[Checked], object]) -> TraceSnapshot:
    """Return what a test compares runs with, kept as syrupy keeps its snapshots."""
    return TraceSnapshot(snapshot.use_extension(_TraceFile), heard)


def diagram_snapshot(snapshot: SnapshotAssertion, heard: Callable[[Checked], object]) -> DiagramSnapshot:
    """Return what a test compares flows with, kept as syrupy keeps its snapshots."""
    return DiagramSnapshot(snapshot.use_extension(_DiagramFile), heard)
