"""The record of a run as text, so that it can stand in a test or be sent to somebody."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ..errors import StoreError
from ..trigger import Trigger
from .rows import CallRow, EndRow, FrameRow, NoteRow, RequestRow, RunRow, Stored, VisitRow

__all__ = ["dump_record", "load_record"]

_FORMAT = "flowcore record"
_VERSION = 1
_ROWS: dict[str, Any] = {
    "frames": FrameRow,
    "visits": VisitRow,
    "notes": NoteRow,
    "calls": CallRow,
    "requests": RequestRow,
}


def dump_record(stored: Stored) -> str:
    """Return a record as JSON text, a line for each row."""
    lines = [f'{{"format": "{_FORMAT}", "version": {_VERSION},', f'"run": {_json(asdict(stored.run))}']
    for name in _ROWS:
        rows = ",\n  ".join(_json(list(row)) for row in getattr(stored, name))
        lines[-1] += ","
        lines.append(f'"{name}": [\n  {rows}\n]' if rows else f'"{name}": []')
    return "\n".join(lines) + "}\n"


def load_record(text: str) -> Stored:
    """Return the record that `dump_record` made text of. Raises `StoreError` for another text."""
    try:
        data: Any = json.loads(text)
        is_ours = data["format"] == _FORMAT
        version = data["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(f"this text is no record of a run: {type(error).__name__}: {error}") from error
    if not is_ours or version != _VERSION:
        raise StoreError(
            f"this text is no record of a run that this flowcore reads: {data['format']!r} {version!r}"
        )
    try:
        run: dict[str, Any] = data["run"]
        end: dict[str, Any] | None = run["end"]
        if end is not None:
            end["stragglers"] = tuple(end["stragglers"])
        run["trigger"] = Trigger(**run["trigger"])
        run["end"] = None if end is None else EndRow(**end)
        return Stored(
            RunRow(**run), **{name: [kind(*values) for values in data[name]] for name, kind in _ROWS.items()}
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"the record of a run in this text is damaged: {error}") from error


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
