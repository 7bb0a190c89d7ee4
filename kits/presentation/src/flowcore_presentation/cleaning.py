"""Takes out of a text what would act on a terminal or turn the reading order, and nothing that is read."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["clean_line", "clean_lines"]

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # titles, links
    r"|\x1b[ -/]*[0-~]"  # all others
)
_LINE_END = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_TURNS_ORDER = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UNSEEN_TAG = re.compile("[\U000e0000-\U000e007f]")


def clean_lines(text: str) -> list[str]:
    """Return the lines of a text without escape sequences, control characters and marks that turn the order.

    Blank lines at both ends and spaces at the ends of lines are dropped; lone surrogates become U+FFFD.
    """
    text = _LINE_END.sub("\n", _SEQUENCE.sub("", text)).replace("\t", "    ")
    text = _UNSEEN_TAG.sub("", _TURNS_ORDER.sub("", text))
    lines = "".join(map(_seen, text)).strip("\n").split("\n")
    lines = [line.rstrip() for line in lines]
    return _without_blank_ends(lines)


def clean_line(text: str) -> str:
    """Return a text cleaned and joined to one line, so that it cannot pass for the line after it."""
    return " ".join(" ".join(clean_lines(text)).split())


def _seen(character: str) -> str:
    if character == "\n":
        return character
    match unicodedata.category(character):
        case "Cc":
            return ""
        case "Cs":
            return "\ufffd"
        case _:
            return character


def _without_blank_ends(lines: list[str]) -> list[str]:
    full = [number for number, line in enumerate(lines) if line]
    return lines[full[0] : full[-1] + 1] if full else []
