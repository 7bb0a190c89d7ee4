"""How texts become terms."""

from __future__ import annotations

import pytest

from flowcore_knowledge import terms
from flowcore_knowledge.stem import stem


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It's a test.", ["it", "s", "a", "test"]),
        ("save_html", ["save", "html"]),
        ("MockClock", ["mock", "clock", "mockclock"]),
        ("HTTPError", ["http", "error", "httperror"]),
        ("utf8", ["utf", "8", "utf8"]),
        ("65536", ["65536"]),
        ("naïve Straße 緑茶", ["naïve", "straße", "緑茶"]),
        ("", []),
    ],
)
def test_terms(text: str, found: list[str]) -> None:
    assert terms(text) == found


def test_a_word_without_end_is_cut() -> None:
    assert [len(term) for term in terms("x" * 10_000)] == [64]


@pytest.mark.parametrize(
    ("words", "root"),
    [
        ("connect connected connecting connection connections", "connect"),
        ("retry retries retried", "retri"),
        ("expire expires expired", "expir"),
        ("hopping hopped", "hop"),
        ("relational", "relat"),
        ("agreed", "agre"),
        ("write writes wrote written writing", "write"),
        ("hide hides hidden", "hide"),
        ("sky", "sky"),
        ("feed", "feed"),
        ("controlling", "control"),
        ("adjustment adjustable", "adjust"),
        ("caresses", "caress"),
        ("is", "is"),
        ("x2", "x2"),
    ],
)
def test_stems(words: str, root: str) -> None:
    assert {stem(word) for word in words.split()} == {root}
