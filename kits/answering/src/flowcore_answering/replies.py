"""Whether a port's reply has the right shape and speaks of the right items: the border of the Kit."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from types import NoneType
from typing import TypeVar, cast

from flowcore.errors import ContractError
from flowcore_answering.drafts import ItemDraft
from flowcore_answering.items import AnswerItem
from flowcore_answering.reviews import Review

__all__ = ["drafts_of", "fallbacks_of", "reply_of", "reviews_of"]

Value = TypeVar("Value")


async def reply_of(port: str, call: object) -> object:
    """Await what a port returned. Raises ContractError when there is nothing to await."""
    if not isinstance(call, Awaitable):
        raise ContractError(f"{port} returned {_kind(call)} and nothing to await; write it with async def")
    return await cast("Awaitable[object]", call)


def drafts_of(port: str, reply: object, items: Sequence[AnswerItem]) -> dict[str, ItemDraft]:
    """Return the drafts in `reply` by item id.

    Raises ContractError when the reply is no sequence of drafts, speaks of an item that was not asked, or
    speaks of one item twice.
    """
    if not isinstance(reply, Sequence) or isinstance(reply, str | bytes):
        raise ContractError(f"{port} returned {_kind(reply)}; return a sequence of ItemDraft")
    drafts: dict[str, ItemDraft] = {}
    for draft in cast("Sequence[object]", reply):
        if not isinstance(draft, ItemDraft):
            raise ContractError(f"{port} returned {_kind(draft)} among its drafts; return ItemDraft only")
        if draft.item_id in drafts:
            raise ContractError(f"{port} returned item {draft.item_id!r} twice; return each item once")
        drafts[draft.item_id] = draft
    _refuse_foreign(port, drafts, items)
    return drafts


def reviews_of(reply: object, items: Sequence[AnswerItem]) -> dict[str, Review]:
    """Return the verdict on every asked item; one that the reply leaves out was unavailable.

    Raises ContractError when the reply is no mapping to reviews or speaks of an item that was not asked.
    """
    said = _mapping("review", reply, items, Review)
    return {item.id: said.get(item.id) or Review.unavailable("the reviewer left it out") for item in items}


def fallbacks_of(reply: object, items: Sequence[AnswerItem]) -> dict[str, ItemDraft]:
    """Return the app's words by item id, without the items for which it has none.

    Raises ContractError when the reply is no mapping to drafts or None, speaks of an item that was not asked,
    or gives an item the draft of another.
    """
    said = _mapping("fallback", reply, items, (ItemDraft, NoneType))
    words = {item_id: draft for item_id, draft in said.items() if draft is not None}
    for item_id, draft in words.items():
        if draft.item_id != item_id:
            raise ContractError(f"fallback gave item {item_id!r} the draft of item {draft.item_id!r}")
    return words


def _mapping(
    port: str, reply: object, items: Sequence[AnswerItem], kind: type[Value] | tuple[type[Value], ...]
) -> dict[str, Value]:
    if not isinstance(reply, Mapping):
        raise ContractError(f"{port} returned {_kind(reply)}; return a mapping by item id")
    values: dict[str, Value] = {}
    for item_id, value in cast("Mapping[str, object]", reply).items():
        if not isinstance(value, kind):
            raise ContractError(f"{port} returned {_kind(value)} for item {item_id!r}")
        values[item_id] = value
    _refuse_foreign(port, values, items)
    return values


def _refuse_foreign(port: str, ids: Iterable[str], items: Sequence[AnswerItem]) -> None:
    foreign = sorted(set(ids) - {item.id for item in items}, key=repr)
    if foreign:
        names = ", ".join(map(repr, foreign))
        raise ContractError(f"{port} returned items it was not asked for: {names}; return asked ids only")


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
