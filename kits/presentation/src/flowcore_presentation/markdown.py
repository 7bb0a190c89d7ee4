"""A result as Markdown (CommonMark, and safe under GitHub's additions)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from flowcore_presentation.page import Page, Part, page_of
from flowcore_presentation.result import PresentableResult
from flowcore_presentation.words import Words

__all__ = ["to_markdown"]

_SPECIAL = re.compile(r"[\\`*_\[\]<>&#|~!$@^={}]")
_LINK = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)  # GitHub links bare addresses
_OPENS_BLOCK = re.compile(r"^([-+]|\d+(?=[.)]))")


def to_markdown(
    result: PresentableResult, *, questions: Mapping[str, str] | None = None, words: Words | None = None
) -> str:
    """Return a result as Markdown, with `questions` (by item id) as headings.

    What is said is text and stays text: it makes no link, picture, heading, list, code or HTML.
    Raises ValueError for an unknown status.
    """
    page = page_of(result, questions or {}, words or Words())
    return "\n\n".join(_blocks(page))


def _blocks(page: Page) -> Iterator[str]:
    for part in page.parts:
        if part.question:
            yield f"### {_escaped(part.question)}"
        yield f"**{_escaped(part.label)}**"
        if part.lines:
            yield _body(part)
    if page.sources:
        yield f"**{_escaped(page.sources_label)}**"
        yield "\n".join(f"{source.number}. {_escaped(source.name)}" for source in page.sources)


def _body(part: Part) -> str:
    paragraphs: list[list[str]] = [[]]
    for line in part.lines:
        if line:
            paragraphs[-1].append(_escaped(line.strip()))
        elif paragraphs[-1]:
            paragraphs.append([])
    marks = "".join(rf" \[{number}\]" for number in part.numbers)
    return "\n\n".join("\\\n".join(lines) for lines in paragraphs) + marks


def _escaped(line: str) -> str:
    line = _LINK.sub(r"\\\g<0>", _SPECIAL.sub(r"\\\g<0>", line))
    return _OPENS_BLOCK.sub(_escaped_opening, line)


def _escaped_opening(match: re.Match[str]) -> str:
    opening = match[0]
    # A number is no punctuation and takes no backslash: its dot or bracket does.
    return f"\\{opening}" if opening in "-+" else f"{opening}\\"
