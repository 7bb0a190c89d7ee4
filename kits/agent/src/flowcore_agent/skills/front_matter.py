"""The front matter of a skill file: its name and description, between two lines of dashes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

__all__ = ["read_front_matter"]

_HEAD = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.S | re.M)
_ENTRY = re.compile(r"([A-Za-z_-]+):(?:[ \t]+(.*))?")
_BLOCK = re.compile(r"[>|][+-]?")


def read_front_matter(text: str) -> tuple[Mapping[str, str], str]:
    """Return the entries in front of a text, and the text behind them.

    Of YAML so much is read as a name and a description need: one line, with or without quotes, or several that are
    indented. Raises `ValueError` for a text without front matter.
    """
    head = _HEAD.match(text)
    if head is None:
        raise ValueError("it does not begin with front matter, between two lines of ---")
    entries: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in head.group(1).splitlines():
        entry = _ENTRY.fullmatch(line.rstrip())
        if entry is not None:
            lines = entries.setdefault(entry.group(1), [])
            lines.append(entry.group(2) or "")
        elif line[:1] in (" ", "\t"):
            lines.append(line)
    return {name: _value(said) for name, said in entries.items()}, text[head.end() :].lstrip("\r\n")


def _value(lines: Iterable[str]) -> str:
    first, *rest = (line.strip() for line in lines)
    words = [] if _BLOCK.fullmatch(first) else [first]
    text = " ".join(filter(None, [*words, *rest]))
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1].replace(text[0] * 2 if text[0] == "'" else '\\"', text[0])
    return text
