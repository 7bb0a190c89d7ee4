"""The shapes of what a model answers: drafts with quotes, and judgements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, TypeAdapter

from flowcore_answering.items import AnswerItem

__all__ = ["Answer", "Answers", "Judgement", "Judgements", "Quoted", "shape_for"]

Shape = TypeVar("Shape", "Answers", "Judgements")


class Quoted(BaseModel, frozen=True):
    """Words of a piece of evidence, by its number."""

    model_config = ConfigDict(extra="forbid")

    evidence: int
    words: str


class Answer(BaseModel, frozen=True):
    """The answer to one item; an empty text says that its evidence does not answer it."""

    model_config = ConfigDict(extra="forbid")

    item_id: str
    text: str
    quotes: tuple[Quoted, ...]


class Answers(BaseModel, frozen=True):
    """The answers to some items."""

    model_config = ConfigDict(extra="forbid")

    items: tuple[Answer, ...]


class Judgement(BaseModel, frozen=True):
    """What is to be said of one draft."""

    model_config = ConfigDict(extra="forbid")

    item_id: str
    passed: bool
    reason: str


class Judgements(BaseModel, frozen=True):
    """What is to be said of some drafts."""

    model_config = ConfigDict(extra="forbid")

    items: tuple[Judgement, ...]


def shape_for(kind: type[Shape], items: Sequence[AnswerItem]) -> TypeAdapter[Shape]:
    """Return a shape whose schema tells a model the ids of the items.

    Another id is no misfit to be answered again: it is read, and refused by who asked.
    """
    ids = tuple(item.id for item in items)
    return TypeAdapter(cast("type[Shape]", cast(Any, Annotated)[kind, _Ids(ids)]))


@dataclass(frozen=True, slots=True)
class _Ids:
    """Writes ids into the schema of a shape."""

    ids: tuple[str, ...]

    def __get_pydantic_json_schema__(self, shape: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(shape)
        entries = handler.resolve_ref_schema(schema)["properties"]["items"]
        entries["maxItems"] = len(self.ids)
        handler.resolve_ref_schema(entries["items"])["properties"]["item_id"]["enum"] = list(self.ids)
        return schema
