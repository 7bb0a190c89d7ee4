"""Cleaning: what no reader is to see is taken out of an answer. A pure function of the text."""

from __future__ import annotations

import re

__all__ = ["clean"]

_THOUGHTS = "think|thinking|thought|reasoning|scratchpad"
_CALLS = "tool_call|tool_calls|tool_response|function_calls|function_results"
_TAG = rf"<(?P<close>/?)(?P<name>{_THOUGHTS}|{_CALLS})>"
_CODE = r"(?P<code>^(?P<fence>`{3,}|~{3,})[^\n]*$.*?(?:^(?P=fence)[ \t]*$|\Z)|`[^`\n]+`)"
_OUTSIDE = re.compile(f"{_CODE}|{_TAG}", re.I | re.M | re.S)
_INSIDE = re.compile(_TAG, re.I)
_BAR = "\uff5c"
_LEFT_BY_CALLS = re.compile(
    rf"<{_BAR}tool▁calls▁begin{_BAR}>.*?(?:<{_BAR}tool▁calls▁end{_BAR}>|\Z)|<{_BAR}[^{_BAR}<>\n]{{1,40}}{_BAR}>"
    r"|<\|[A-Za-z_]{1,40}\|>"
    r"|^\[TOOL_CALLS\][^\n]*|<function=[\w.-]{1,64}>.*?(?:</function>|\Z)",
    re.M | re.S,
)
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{2,6}\U000e007f"
_CONTROLS = re.compile(
    f"({_FLAG})|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_ALONE = re.compile(rf"(?<!.){_TAG}[ \t]*(?:\n|\Z)", re.I)
"""A tag on a line of its own."""
_ARGUMENTS = re.compile(r"\s*[{<\[]")
_NAMES_OF_THOUGHTS = frozenset(_THOUGHTS.split("|"))


def clean(text: str) -> str:
    """Return a text without what no reader is to see, and without space around it. Cleaning twice changes nothing.

    Taken out are, in this order:

    - control characters but tab and newline, escape sequences of terminals, characters that are not seen or that
      turn the direction of writing, and halves of characters; every kind of line end becomes a newline;
    - hidden reasoning: what stands in `<think>` and its like. Where such a tag opens the text and is not closed,
      the whole text is thought; where one that was never opened is closed on a line of its own, all before it is;
    - what is left of calls of tools: `<tool_call>` and its like with what stands in them, `<function=...>`, and
      special tokens such as `<|im_end|>`.

    Code in backticks keeps its tags: an answer may tell of them.
    """
    while (cleaner := _once(text)) != text:  # what was taken out may have held two halves of a tag apart
        text = cleaner
    return text


def _once(text: str) -> str:
    text = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROLS.sub(lambda found: found[1] or "", text)
    return _visible(text).strip()


def _visible(text: str) -> str:
    """Return the text outside of hidden blocks. Code outside of them stays as it is."""
    kept: list[str] = []
    ends, at = _ends_of_blocks(text), 0
    while found := _OUTSIDE.search(text, at):
        kept.append(_LEFT_BY_CALLS.sub("", text[at : found.start()]))
        at = found.end()
        if found["code"]:
            kept.append(found["code"])
        elif found["close"]:
            if found["name"].lower() in _NAMES_OF_THOUGHTS and _ALONE.match(text, found.start()):
                kept.clear()
        elif found.start() in ends:
            at = ends[found.start()]
        elif _is_cut_off(text, found, kept):
            return "".join(kept)
        else:
            kept.append(found[0])
    kept.append(_LEFT_BY_CALLS.sub("", text[at:]))
    return "".join(kept)


def _ends_of_blocks(text: str) -> dict[int, int]:
    """Return where each block that is closed ends, by where it begins."""
    ends: dict[int, int] = {}
    opened: dict[str, list[int]] = {}
    for tag in _INSIDE.finditer(text):
        begun = opened.setdefault(tag["name"].lower(), [])
        if not tag["close"]:
            begun.append(tag.start())
        elif begun:
            ends[begun.pop()] = tag.end()
    return ends


def _is_cut_off(text: str, opened: re.Match[str], kept: list[str]) -> bool:
    """Return whether a block that does not end is one: the thoughts of a whole text, or the begin of a call."""
    if opened["name"].lower() in _NAMES_OF_THOUGHTS:
        return not any(part.strip() for part in kept)
    return _ARGUMENTS.match(text, opened.end()) is not None
