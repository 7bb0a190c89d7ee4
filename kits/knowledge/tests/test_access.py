"""A refusal, a source that is not ready and an unknown one are errors, never an empty answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flowcore_knowledge import (
    AccessDenied,
    KnowledgeError,
    Source,
    SourceNotReady,
    SQLiteKnowledge,
    UnknownSource,
)

Open = Callable[..., SQLiteKnowledge]


async def test_a_denied_source_is_an_error(opened: Open) -> None:
    with pytest.raises(AccessDenied) as caught:
        await opened().search("tea", sources=["tea", "diary"])
    assert caught.value.source == "diary"
    assert str(caught.value) == (
        "source 'diary' may not be read (it is hers): ask for access, or search without it"
    )


@pytest.mark.parametrize(("source", "status"), [("mail", "pending"), ("fax", "failed")])
def test_a_source_that_is_not_ready_is_an_error(opened: Open, source: str, status: str) -> None:
    with pytest.raises(SourceNotReady, match=f"{source}.*{status}") as caught:
        opened().find("tea", sources=[source])
    assert (caught.value.source, caught.value.status) == (source, status)


def test_an_unknown_source_is_an_error(opened: Open) -> None:
    with pytest.raises(UnknownSource, match="'radio'"):
        opened().find("tea", sources=["radio"])


async def test_allow_decides_for_each_caller(opened: Open) -> None:
    knowledge = opened(allow=lambda source: source == "code")
    assert {source.id: source.status for source in await knowledge.sources()}["tea"] == "denied"
    with pytest.raises(AccessDenied, match="'tea'"):
        knowledge.find("steep", sources=["tea"])
    assert knowledge.find("steep") == ()
    assert [hit.passage.source for hit in knowledge.find("idle")] == ["code"]


def test_a_search_in_everything_is_an_error_when_nothing_may_be_read(opened: Open) -> None:
    with pytest.raises(AccessDenied):
        opened(allow=lambda source: False).find("tea")


def test_a_query_without_words_does_not_hide_a_refusal(opened: Open) -> None:
    with pytest.raises(AccessDenied):
        opened().find("", sources=["diary"])


def test_an_index_without_sources_has_nothing_to_refuse(opened: Open) -> None:
    assert opened([]).find("tea") == ()
    assert opened([(Source(id="mail", status="pending"), [])]).find("tea") == ()


def test_every_error_has_a_code_of_its_own() -> None:
    kinds = KnowledgeError.__subclasses__()
    assert len({kind.code for kind in kinds} | {KnowledgeError.code}) == len(kinds) + 1 == 8
