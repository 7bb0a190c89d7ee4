"""The border: a port's reply has the right shape and speaks of the right items, or it is refused."""

from __future__ import annotations

from types import SimpleNamespace as Kit
from typing import Any

import anyio
import pytest

from flowcore.errors import ContractError
from flowcore_answering import ItemDraft, Review
from flowcore_answering.absent import no_fallback, no_repair, no_review
from flowcore_answering.replies import drafts_of, fallbacks_of, reply_of, reviews_of


@pytest.mark.behaviour("S2-65", "S2-74")
@pytest.mark.parametrize("port", ["generate", "review", "repair", "fallback"])
async def test_a_cancellation_leaves_a_port_as_it_came(port: str) -> None:
    came: list[BaseException] = []
    left: list[BaseException] = []

    async def hang() -> None:
        try:
            await anyio.sleep_forever()
        except BaseException as error:
            came.append(error)
            raise

    with anyio.CancelScope() as caller:
        caller.cancel()
        try:
            await reply_of(port, hang())
        except BaseException as error:
            left.append(error)
            raise
    assert caller.cancelled_caught
    assert len(came) == 1
    assert left == came


@pytest.mark.behaviour("S2-66")
@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a", "x"], "generate returned items it was not asked for: 'x'; return asked ids only"),
        (["x", "y"], "generate returned items it was not asked for: 'x', 'y'; return asked ids only"),
        (["a", "a"], "generate returned item 'a' twice; return each item once"),
    ],
)
def test_foreign_and_repeated_items_are_refused(kit: Kit, ids: list[str], message: str) -> None:
    with pytest.raises(ContractError) as caught:
        drafts_of("generate", [kit.draft(item_id) for item_id in ids], [kit.item("a"), kit.item("b")])
    assert str(caught.value) == message


@pytest.mark.behaviour("S2-67")
@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (None, "repair returned None; return a sequence of ItemDraft"),
        ("text", "repair returned a str; return a sequence of ItemDraft"),
        ({"a": 1}, "repair returned a dict; return a sequence of ItemDraft"),
        (["text"], "repair returned a str among its drafts; return ItemDraft only"),
        ([None], "repair returned None among its drafts; return ItemDraft only"),
    ],
)
def test_what_is_no_sequence_of_drafts_is_refused(kit: Kit, reply: Any, message: str) -> None:
    with pytest.raises(ContractError) as caught:
        drafts_of("repair", reply, [kit.item("a")])
    assert str(caught.value) == message


def test_good_drafts_are_taken_in_any_order_and_number(kit: Kit) -> None:
    items = [kit.item("a"), kit.item("b"), kit.item("c")]
    taken = drafts_of("generate", (kit.draft("c"), kit.draft("a")), items)
    assert taken == {"c": kit.draft("c"), "a": kit.draft("a")}


@pytest.mark.behaviour("S2-66", "S2-67")
@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ([], "review returned a list; return a mapping by item id"),
        ({"a": "passed"}, "review returned a str for item 'a'"),
        ({"a": None}, "review returned None for item 'a'"),
        ({"x": Review.passed()}, "review returned items it was not asked for: 'x'; return asked ids only"),
    ],
)
def test_what_is_no_mapping_to_reviews_is_refused(kit: Kit, reply: Any, message: str) -> None:
    with pytest.raises(ContractError) as caught:
        reviews_of(reply, [kit.item("a")])
    assert str(caught.value) == message


def test_an_item_that_the_reviewer_left_out_was_unavailable(kit: Kit) -> None:
    taken = reviews_of({"a": Review.passed()}, [kit.item("a"), kit.item("b")])
    assert taken == {"a": Review.passed(), "b": Review.unavailable("the reviewer left it out")}


@pytest.mark.behaviour("S2-66", "S2-67")
@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (None, "fallback returned None; return a mapping by item id"),
        ({"a": "words"}, "fallback returned a str for item 'a'"),
        ({"x": None}, "fallback returned items it was not asked for: 'x'; return asked ids only"),
        ({"a": ItemDraft(item_id="b", text="!")}, "fallback gave item 'a' the draft of item 'b'"),
    ],
)
def test_what_is_no_mapping_to_words_is_refused(kit: Kit, reply: Any, message: str) -> None:
    with pytest.raises(ContractError) as caught:
        fallbacks_of(reply, [kit.item("a"), kit.item("b")])
    assert str(caught.value) == message


def test_an_item_without_words_is_left_out(kit: Kit) -> None:
    words = {"a": None, "b": kit.draft("b")}
    assert fallbacks_of(words, [kit.item("a"), kit.item("b"), kit.item("c")]) == {"b": kit.draft("b")}


@pytest.mark.behaviour("S2-67")
async def test_a_port_that_is_not_async_is_refused() -> None:
    with pytest.raises(ContractError, match="review returned a dict and nothing to await"):
        await reply_of("review", {})


async def test_a_port_that_the_app_left_out_does_nothing(kit: Kit) -> None:
    items = [kit.item("a")]
    assert drafts_of("repair", await no_repair(items, {}, {}), items) == {}
    assert reviews_of(await no_review(items, {}), items)["a"].verdict == "unavailable"
    assert fallbacks_of(await no_fallback(items), items) == {}
