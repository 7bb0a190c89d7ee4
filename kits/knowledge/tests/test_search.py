"""What a search finds, in which order, and that a query is data."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest

from flowcore_knowledge import Hit, Knowledge, Passage, Source, SQLiteKnowledge

Open = Callable[..., SQLiteKnowledge]


def places(hits: object) -> list[str]:
    assert isinstance(hits, tuple)
    assert all(isinstance(hit, Hit) for hit in hits)
    return [hit.passage.where for hit in hits]


async def test_the_port_is_searched_from_a_task(opened: Open) -> None:
    knowledge: Knowledge = opened()
    hits = await knowledge.search("How long does green tea steep?")
    assert hits[0].passage == Passage(
        source="tea", where="p. 3", title="Green tea", text="It steeps for two minutes."
    )
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_sources_are_listed_with_their_status(opened: Open) -> None:
    sources = await opened().sources()
    assert [(source.id, source.status) for source in sources] == [
        ("code", "ready"),
        ("diary", "denied"),
        ("fax", "failed"),
        ("mail", "pending"),
        ("tea", "ready"),
    ]


def test_a_title_counts_for_more_than_a_text_and_a_text_for_more_than_context(opened: Open) -> None:
    texts = {"title": ("oolong", "x", ""), "text": ("x", "oolong", ""), "context": ("x", "x", "oolong")}
    passages = [
        Passage(source="tea", where=where, title=title, text=text, context=context)
        for where, (title, text, context) in texts.items()
    ]
    other = Passage(source="tea", where="other", text="nothing of it")
    knowledge = opened([(Source(id="tea"), [*reversed(passages), other])])
    assert places(knowledge.find("oolong")) == ["title", "text", "context"]


def test_the_limit_is_kept(opened: Open) -> None:
    knowledge = opened()
    assert len(knowledge.find("tea", limit=1)) == 1
    assert knowledge.find("tea", limit=0) == ()
    with pytest.raises(ValueError, match="limit=-1"):
        knowledge.find("tea", limit=-1)


def test_a_search_stays_in_the_named_sources(opened: Open) -> None:
    knowledge = opened()
    assert {hit.passage.source for hit in knowledge.find("long live steep water")} == {"code", "tea"}
    assert {hit.passage.source for hit in knowledge.find("long live steep", sources=["code"])} == {"code"}
    assert knowledge.find("steep", sources=[]) == ()


@pytest.mark.parametrize("query", ["keep alive", "KEEP_ALIVE", "keepAliveExpiry", "connection lives"])
def test_names_and_forms_of_words_meet(opened: Open, query: str) -> None:
    assert [hit.passage.source for hit in opened().find(query)] == ["code"]


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "steep\"' OR 1",
        "steep AND (",
        "NEAR(steep",
        "steep*",
        "title: steep",
        "-steep",
        "{steep} : ^steep",
        "steep\0water",
        "'; DROP TABLE passage; --steep",
        "steep " + "\N{SNOWMAN}" * 10,
        "steep " + "x" * 10_000,
        "steep " + "many words " * 5_000,
        " ".join(f"w{number}" for number in range(40)) + " steep",
    ],
)
def test_a_hostile_query_is_data(opened: Open, query: str) -> None:
    knowledge = opened()
    assert ("p. 3" in places(knowledge.find(query))) == ("steep" in query)
    assert places(knowledge.find("steep"))[0] == "p. 3"


@pytest.mark.parametrize("query", ["", "   ", "!?", "\0", "∮"])
def test_a_query_without_words_finds_nothing(opened: Open, query: str) -> None:
    assert opened().find(query) == ()


def test_other_scripts_are_found_as_they_are_written(opened: Open) -> None:
    knowledge = opened([(Source(id="tea"), [Passage(source="tea", where="ja", text="緑茶 は 二分")])])
    assert places(knowledge.find("緑茶")) == ["ja"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("expriy", "expiry"),
        ("connectons", "connections"),
        ("steeps", "steeps"),
        ("tae", "tae"),
        ("zzzzzz", "zzzzzz"),
        ("12345", "12345"),
    ],
)
def test_a_slip_of_the_keyboard_is_mended_with_the_words_of_the_index(opened: Open, word: str, meant: str) -> None:
    text = "steeps expiry connections"
    passages = [Passage(source="tea", where=str(number), text=text) for number in range(9)]
    assert opened([(Source(id="tea"), passages)]).correct(word) == meant


def test_a_term_is_counted_once_a_passage(opened: Open) -> None:
    knowledge = opened()
    assert [knowledge.frequency(term) for term in ("tea", "water", "nowher")] == [2, 1, 0]
    assert (knowledge.size, knowledge.fingerprint) == (3, "one")


def test_a_search_after_close_is_a_mistake_of_the_program(opened: Open) -> None:
    with opened() as knowledge:
        pass
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        knowledge.find("tea")
