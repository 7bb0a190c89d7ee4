"""Progress: shows on standard error how far long work is, as a bar on a terminal and in a few lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TextIO, TypeVar

Thing = TypeVar("Thing")
_WIDTH = 30


def shown(things: Sequence[Thing], label: str, stream: TextIO | None = None) -> Iterator[Thing]:
    """Yield the things, and tell after each how many are done."""
    out = sys.stderr if stream is None else stream
    draw = _bar if out.isatty() else _lines
    return draw(things, label, len(things), out)


def _bar(things: Iterable[Thing], label: str, total: int, out: TextIO) -> Iterator[Thing]:
    for done, thing in enumerate(things, 1):
        yield thing
        full = _WIDTH * done // total
        _tell(out, f"\r{label} [{'#' * full}{'.' * (_WIDTH - full)}] {done}/{total}")
    _tell(out, "\n")


def _lines(things: Iterable[Thing], label: str, total: int, out: TextIO) -> Iterator[Thing]:
    told = 0
    for done, thing in enumerate(things, 1):
        yield thing
        quarter = 4 * done // total
        if quarter > told:
            told = quarter
            _tell(out, f"{label}: {done} of {total}\n")


def _tell(out: TextIO, text: str) -> None:
    with suppress(OSError):  # whom nobody reads may work on
        out.write(text)
        out.flush()
