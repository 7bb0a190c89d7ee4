"""Shelves and a way to make an index of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from flowcore_knowledge import Passage, Source, SQLiteKnowledge

Shelf = tuple[Source, list[Passage]]


def passage(source: str, text: str, **more: str) -> Passage:
    return Passage(source=source, where=more.pop("where", text[:12]), text=text, **more)


SHELVES: list[Shelf] = [
    (
        Source(id="tea"),
        [
            passage("tea", "It steeps for two minutes.", where="p. 3", title="Green tea"),
            passage("tea", "Boiling water is right.", where="p. 4", title="Black tea", context="temperature"),
        ],
    ),
    (Source(id="code"), [passage("code", "How long idle connections live.", title="Limits: keepAliveExpiry")]),
    (Source(id="diary", status="denied", note="it is hers"), []),
    (Source(id="mail", status="pending"), []),
    (Source(id="fax", status="failed", note="no paper"), []),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "made" / "index.db"


@pytest.fixture
def opened(path: Path) -> Iterator[Callable[..., SQLiteKnowledge]]:
    """Builds an index of the given shelves and opens it."""
    made: list[SQLiteKnowledge] = []

    def open_(shelves: list[Shelf] = SHELVES, **options: Any) -> SQLiteKnowledge:
        SQLiteKnowledge.build(path, shelves, fingerprint="one")
        made.append(SQLiteKnowledge(path, **options))
        return made[-1]

    yield open_
    for knowledge in made:
        knowledge.close()
