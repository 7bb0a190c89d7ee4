"""The docstring of a tool: what it says of the tool, and of each parameter under `Args:`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Docstring", "read_docstring"]

_SECTION = re.compile(r"(Args|Arguments|Parameters|Returns?|Yields?|Raises|Examples?|Notes?|Attributes):\s*")
_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)")
_OF_PARAMETERS = ("Args", "Arguments", "Parameters")


class Docstring(NamedTuple):
    """What a docstring says: the text before its sections, and a text for each parameter."""

    description: str
    parameters: dict[str, str]


def read_docstring(text: str | None) -> Docstring:
    """Return what a docstring in Google's style says."""
    head: list[str] = []
    inside: list[str] = []
    section = ""
    for line in inspect.cleandoc(text or "").splitlines():
        if (begins := _SECTION.fullmatch(line)) is not None:
            section = begins[1]
        elif section in _OF_PARAMETERS:
            inside.append(line)
        elif not section:
            head.append(line)
    return Docstring("\n".join(head).strip(), dict(_entries(inside)))


def _entries(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each parameter with its text; lines that stand further in go on with it."""
    margin = min((_depth(line) for line in lines if line.strip()), default=0)
    name, words = "", list[str]()
    for line in lines:
        entry = _ENTRY.fullmatch(line.strip()) if _depth(line) == margin else None
        if entry is None:
            words.append(line.strip())
            continue
        if name:
            yield name, " ".join(words).strip()
        name, words = entry[1], [entry[2]]
    if name:
        yield name, " ".join(words).strip()


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
