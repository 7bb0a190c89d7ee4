"""A result as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flowcore_presentation.page import Page, Part, page_of
from flowcore_presentation.result import PresentableResult
from flowcore_presentation.words import Words

__all__ = ["to_text"]


def to_text(
    result: PresentableResult, *, questions: Mapping[str, str] | None = None, words: Words | None = None
) -> str:
    """Return a result as text, with `questions` (by item id) above their answers.

    Only the labels stand at the margin; what is said is indented, so that no text can pass for a label.
    Raises ValueError for an unknown status.
    """
    page = page_of(result, questions or {}, words or Words())
    return "\n\n".join(_blocks(page))


def _blocks(page: Page) -> Iterator[str]:
    for part in page.parts:
        yield "\n".join(_lines(part))
    if page.sources:
        sources = [f"  [{source.number}] {source.name}" for source in page.sources]
        yield "\n".join([page.sources_label, *sources])


def _lines(part: Part) -> Iterator[str]:
    if part.question:
        yield f"? {part.question}"
    yield part.label
    marks = "".join(f" [{number}]" for number in part.numbers)
    for number, line in enumerate(part.lines, 1):
        yield f"  {line}{marks if number == len(part.lines) else ''}".rstrip()
