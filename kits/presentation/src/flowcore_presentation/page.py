"""What a reader sees, before it takes a format: labelled texts and numbered sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flowcore_presentation.cleaning import clean_line, clean_lines
from flowcore_presentation.result import PresentableAnswer, PresentableResult
from flowcore_presentation.words import Words

__all__ = ["Page", "Part", "Source", "page_of"]


@dataclass(frozen=True, slots=True)
class Source:
    """A cited place and the number by which the texts name it."""

    number: int
    name: str


@dataclass(frozen=True, slots=True)
class Part:
    """One answer: its question if it is known, its label, its lines and the numbers of its sources."""

    question: str
    status: str
    label: str
    lines: tuple[str, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that is shown, clean and in order."""

    parts: tuple[Part, ...]
    sources: tuple[Source, ...]
    sources_label: str


def page_of(result: PresentableResult, questions: Mapping[str, str], words: Words) -> Page:
    """Lay out a result. Sources are numbered as they first appear; two citations of one place share a number.

    Raises ValueError for an unknown status.
    """
    numbers: dict[str, int] = {}
    parts = tuple(_part(answer, questions.get(answer.item_id, ""), words, numbers) for answer in result.items)
    sources = tuple(Source(number, name) for name, number in numbers.items())
    return Page(parts, sources, clean_line(words.sources))


def _part(answer: PresentableAnswer, question: str, words: Words, numbers: dict[str, int]) -> Part:
    # A blocked item delivers no text, whatever it carries: the reason is all that may be shown.
    blocked = answer.status == "blocked"
    cited = () if blocked else answer.citations
    names = dict.fromkeys(clean_line(f"{citation.source}, {citation.where}") for citation in cited)
    return Part(
        question=clean_line(question),
        status=answer.status,
        label=clean_line(words.of(answer.status)),
        lines=tuple(clean_lines(answer.reason if blocked else answer.text)),
        numbers=tuple(numbers.setdefault(name, len(numbers) + 1) for name in names),
    )
