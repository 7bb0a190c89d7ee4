"""Edges of the commit guard: values that are equal and not the same, and classes with ways of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, Field, PrivateAttr

from flowcore import ContractError

from ..runs import chain, raising


@dataclass
class Loose:
    value: Any = None


class Keyed:
    """Equal by its key alone."""

    def __init__(self, key: int, load: str) -> None:
        self.key = key
        self.load = load

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keyed) and self.key == other.key

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Keyed({self.key}, {self.load})"


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PARIS = datetime(2026, 1, 1, 13, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (NOON, PARIS),
        (NOON, NOON.replace(fold=1)),
        (Decimal("1.0"), Decimal("1.00")),
        ({1}, {1.0}),
        ({1: "a"}, {True: "a"}),
        ((0.0,), (-0.0,)),
        (Keyed(1, "old"), Keyed(1, "new")),
        ([Keyed(1, "old")], [Keyed(1, "new")]),
    ],
    ids=["zone", "fold", "decimal", "set", "dict", "zero", "own equality", "own equality inside"],
)
async def test_a_written_value_is_kept_though_it_is_equal_to_the_one_before(before: Any, after: Any) -> None:
    flow = chain(Loose, lambda step: setattr(step.state, "value", after))
    result = await flow.run(Loose(before), check=False)
    assert repr(result.state.value) == repr(after)


@dataclass(eq=False)
class Entry:
    marks: list[int] = field(default_factory=list)


@pytest.mark.parametrize("kind", [set, frozenset])
async def test_edits_of_the_members_of_a_set_are_dropped(kind: type) -> None:
    def edit(step: Any) -> None:
        next(iter(step.state.value)).marks.append(1)

    result = await chain(Loose, raising(edit)).run(Loose(kind([Entry()])), check=False)
    assert next(iter(result.state.value)).marks == []
    kept = await chain(Loose, edit).run(Loose(kind([Entry()])), check=False)
    assert next(iter(kept.state.value)).marks == [1]


async def test_private_attributes_without_a_default_are_not_there() -> None:
    class Private(BaseModel):
        number: int = 0
        _made: list[int] = PrivateAttr(default_factory=lambda: [1])
        _set: int = PrivateAttr()

    def look(step: Any) -> None:
        assert step.state._made == [1]
        assert not hasattr(step.state, "_set")

    result = await chain(Private, look).run(Private(), check=False)
    assert result.value is None
    assert result.state._made == [1]
    assert not hasattr(result.state, "_set")


class IceField(BaseModel):
    number: int = Field(default=0, frozen=True)
    items: list[int] = []


async def test_a_state_with_a_frozen_field_may_be_replaced_as_a_whole() -> None:
    new = IceField(number=5, items=[1])
    result = await chain(IceField, lambda step: setattr(step, "state", new)).run(IceField(), check=False)
    assert result.failure is None
    assert result.state == new


async def test_making_drafts_makes_no_subclass_that_the_user_can_see() -> None:
    seen: list[str] = []

    class Registered:
        def __init_subclass__(cls, *, tag: str) -> None:
            seen.append(tag)

    @dataclass
    class Tagged(Registered, tag="one"):
        number: int = 0

    result = await chain(Tagged, lambda step: setattr(step.state, "number", 1)).run(Tagged(), check=False)
    assert result.state.number == 1
    assert seen == ["one"]


async def test_a_draft_has_its_fields_in_declared_order() -> None:
    class Ordered(BaseModel):
        lines: list[int] = [1]
        low: int = 0
        table: dict[str, int] = {}
        high: int = 1

    seen: list[str] = []
    flow = chain(Ordered, lambda step: seen.append(step.state.model_dump_json()))
    result = await flow.run(Ordered(), check=False)
    assert seen == [Ordered().model_dump_json()]
    assert list(dict(result.state)) == ["lines", "low", "table", "high"]


async def test_a_dataclass_state_with_a_value_that_does_not_fit_is_refused() -> None:
    @dataclass
    class Wrong:
        number: int = 0

    with pytest.raises(ContractError, match=r"Wrong\.number does not fit"):
        await chain(Wrong, lambda step: None).run(Wrong([1]), check=False)  # type: ignore[arg-type]
