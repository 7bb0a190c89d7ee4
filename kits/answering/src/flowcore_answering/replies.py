"""Whether a port's reply has the right shape and speaks of the right items: the border of the Kit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar, cast

from flowcore.errors import ContractError
from flowcore_answering.drafts import ItemDraft
from flowcore_answering.items import AnswerItem

__all__ = ["drafts_of", "mapping_of"]

Value = TypeVar("Value")


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


def mapping_of(
    port: str, reply: object, items: Sequence[AnswerItem], kind: type[Value] | tuple[type[Value], ...]
) -> dict[str, Value]:
    """Return `reply` as a dict from item id to a value of `kind`.

    Raises ContractError when the reply is no such mapping or speaks of an item that was not asked.
    """
    if not isinstance(reply, Mapping):
        raise ContractError(f"{port} returned {_kind(reply)}; return a mapping by item id")
    values: dict[str, Value] = {}
    for item_id, value in cast("Mapping[str, object]", reply).items():
        if not isinstance(value, kind):
            raise ContractError(f"{port} returned {_kind(value)} for item {item_id!r}; see the port's type")
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
