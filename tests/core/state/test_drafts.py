"""Drafts: in a node's hands they are the state, and out of its visit they can change nothing."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    RootModel,
    computed_field,
    field_validator,
    model_validator,
)

from flowcore import Step

from ..runs import chain, raising
from .states import EDITS, FORMS, Leaf, Plain

every_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)


class Order(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    lines: list[int] = Field(default=[], alias="Lines")
    low: int = 0
    high: int = Field(default=10, le=100)
    note: str = ""
    _seen: int = PrivateAttr(default=5)

    @field_validator("note")
    @classmethod
    def stripped(cls, value: str) -> str:
        return value.strip()

    @model_validator(mode="after")
    def ordered(self) -> Order:
        if self.low > self.high:
            raise ValueError("low is above high")
        return self

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total(self) -> int:
        return sum(self.lines)

    @property
    def first(self) -> int:
        return self.lines[0]

    @first.setter
    def first(self, value: int) -> None:
        self.lines[0] = value

    def add(self, *numbers: int) -> Order:
        self.lines.extend(numbers)
        self.high += 1
        return self


async def seen_in(state: Any, look: Callable[[Any], Any]) -> Any:
    """Returns what a node sees of a state."""
    kept: list[Any] = []
    result = await chain(type(state), lambda step: kept.append(look(step.state))).run(state, check=False)
    assert result.value is None, result.value
    return kept[0]


# ---- A draft is the state, to whoever holds it --------------------------------------------------------------


@every_form
async def test_a_draft_is_an_instance_and_equals_the_state_both_ways(form: type) -> None:
    state = form()
    assert await seen_in(state, lambda draft: (isinstance(draft, form), draft.__class__ is form)) == (True, True)
    assert await seen_in(state, lambda draft: (draft == state, state == draft, draft != state)) == (
        True,
        True,
        False,
    )
    other = form()
    other.items.append(9)
    assert await seen_in(state, lambda draft: (draft == other, other == draft)) == (False, False)
    assert await seen_in(state, repr) == repr(state)


@every_form
@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda draft: pickle.loads(pickle.dumps(draft))],
    ids=["copy", "deepcopy", "pickle"],
)
async def test_a_copy_of_a_draft_is_a_state_that_shares_nothing_with_it(
    form: type, copied: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("types.Plain", Plain, raising=False)
    for made in FORMS[1:3]:
        monkeypatch.setattr(f"types.{made.__name__}", made, raising=False)
    state = form()
    twin = await seen_in(state, copied)
    assert type(twin) is form
    assert twin == state
    for edit in EDITS.values():
        edit(twin)
    assert state == form()


async def test_what_pydantic_offers_works_on_a_draft() -> None:
    state = Order(lines=[1, 2], note="n")
    assert await seen_in(state, lambda draft: draft.model_dump()) == state.model_dump()
    assert await seen_in(state, lambda draft: draft.model_dump(by_alias=True)) == state.model_dump(by_alias=True)
    assert json.loads(await seen_in(state, lambda draft: draft.model_dump_json())) == state.model_dump()
    assert await seen_in(state, dict) == dict(state)
    twin = await seen_in(state, lambda draft: draft.model_copy(update={"low": 3}))
    assert (type(twin), twin.low, twin.lines) == (Order, 3, [1, 2])
    deep = await seen_in(state, lambda draft: draft.model_copy(deep=True))
    assert deep == state
    assert await seen_in(state, lambda draft: Order.model_validate(draft).lines) == [1, 2]
    assert await seen_in(state, lambda draft: draft.model_fields_set) >= {"lines", "note"}


async def test_what_dataclasses_offer_works_on_a_draft() -> None:
    leaf = Leaf(name="x")
    assert await seen_in(leaf, dataclasses.asdict) == dataclasses.asdict(leaf)
    state = Plain()
    replaced = await seen_in(state, lambda draft: dataclasses.replace(draft, number=4))
    assert (type(replaced), replaced.number, replaced.items) == (Plain, 4, [1])
    assert await seen_in(state, lambda draft: sorted(vars(draft))) == sorted(vars(state))


async def test_a_draft_can_be_matched() -> None:
    def look(draft: Any) -> str:
        match draft:
            case Order(low=0, lines=[first, *_]):
                return f"first {first}"
            case _:
                return "no"

    assert await seen_in(Order(lines=[7]), look) == "first 7"


async def test_methods_properties_and_private_attributes_work_on_a_draft() -> None:
    def act(step: Step[Order]) -> None:
        assert step.state.add(2, 3) is step.state
        step.state.first = 9
        assert step.state.total == 14
        assert step.state._seen == 5

    result = await chain(Order, act).run(Order(lines=[1]), check=False)
    assert result.value is None
    assert (result.state.lines, result.state.high, result.state.total) == ([9, 2, 3], 11, 14)


async def test_a_field_that_is_not_there_is_an_attribute_error_with_the_state_types_name() -> None:
    def look(draft: Any) -> str:
        with pytest.raises(AttributeError, match="'Order' object has no attribute 'missing'"):
            _ = draft.missing
        return "ok"

    assert await seen_in(Order(), look) == "ok"


# ---- What is written is validated ---------------------------------------------------------------------------


async def test_written_fields_are_validated_and_what_the_validators_make_of_them_is_kept() -> None:
    result = await chain(Order, lambda step: setattr(step.state, "note", "  x ")).run(Order(), check=False)
    assert result.state.note == "x"
    result = await chain(Order, lambda step: setattr(step.state, "low", "7")).run(Order(), check=False)
    assert result.state.low == 7


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("high", 101, "Order.high"), ("low", 50, "low is above high"), ("lines", ["x"], "Order.lines[0]")],
)
async def test_a_value_that_does_not_fit_is_a_contract_error_and_leaves_no_trace(
    name: str, value: Any, words: str
) -> None:
    result = await chain(Order, lambda step: setattr(step.state, name, value)).run(Order(), check=False)
    assert result.failure is not None
    assert (result.status, result.failure.code, result.failure.path) == ("failed", "contract", "n1#1")
    assert words in result.failure.message
    assert result.state == Order()


async def test_fields_that_only_fit_together_may_be_written_together() -> None:
    def act(step: Step[Order]) -> None:
        step.state.low = 50
        step.state.high = 60

    result = await chain(Order, act).run(Order(), check=False)
    assert (result.state.low, result.state.high) == (50, 60)


async def test_dataclass_fields_are_validated_too() -> None:
    result = await chain(Plain, lambda step: setattr(step.state, "number", "x")).run(Plain(), check=False)
    assert result.failure is not None
    assert result.failure.code == "contract"
    assert "Plain.number" in result.failure.message
    result = await chain(Plain, lambda step: step.state.rows.append(["x"])).run(Plain(), check=False)
    assert result.status == "failed"
    assert result.state == Plain()


async def test_only_declared_fields_are_state() -> None:
    @dataclass
    class Loose:
        number: int = 0

    def act(step: Any) -> None:
        step.state.extra = [1]
        step.state.number = 1

    result = await chain(Loose, act, value=lambda step: hasattr(step.state, "extra")).run(Loose(), check=False)
    assert (result.value, result.state.number) == (False, 1)


# ---- Frozen states ------------------------------------------------------------------------------------------


class IceModel(BaseModel):
    model_config = ConfigDict(frozen=True)
    number: int = 0
    items: list[int] = []


@dataclass(frozen=True)
class IceData:
    number: int = 0
    items: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class IceSlots:
    number: int = 0
    items: list[int] = field(default_factory=list)


@pytest.mark.parametrize("form", [IceModel, IceData, IceSlots])
async def test_a_frozen_state_refuses_writes_and_may_be_replaced(form: type) -> None:
    def write(step: Any) -> None:
        step.state.number = 1

    result = await chain(form, write).run(form(), check=False)
    assert result.value is not None
    assert result.value.type in ("FrozenInstanceError", "ValidationError")
    assert result.state == form()

    def replace(step: Any) -> None:
        step.state = form(number=5, items=[1])

    result = await chain(form, replace).run(form(), check=False)
    assert result.state == form(number=5, items=[1])
    result = await chain(form, raising(replace)).run(form(), check=False)
    assert result.state == form()


@pytest.mark.parametrize("form", [IceModel, IceData, IceSlots])
async def test_a_list_in_a_frozen_state_is_guarded_like_any_other(form: type) -> None:
    result = await chain(form, raising(lambda step: step.state.items.append(1))).run(form(), check=False)
    assert result.state == form()


async def test_a_frozen_draft_can_be_hashed_like_its_state() -> None:
    @dataclass(frozen=True)
    class Key:
        number: int = 0

    assert await seen_in(Key(3), hash) == hash(Key(3))


async def test_a_root_model_can_be_a_state() -> None:
    class Numbers(RootModel[list[int]]):
        pass

    result = await chain(Numbers, lambda step: step.state.root.append(2)).run(Numbers([1]), check=False)
    assert result.state == Numbers([1, 2])
    result = await chain(Numbers, raising(lambda step: step.state.root.append(2))).run(Numbers([1]), check=False)
    assert result.state == Numbers([1])


# ---- Drafts that got away -----------------------------------------------------------------------------------


@pytest.mark.behaviour("S2-30")
@every_form
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
async def test_a_draft_that_leaked_changes_nothing_later(form: type, edit: Callable[[Any], Any]) -> None:
    leaked: list[Any] = []

    def leak(step: Any) -> None:
        for name in dataclasses.fields(Plain):
            getattr(step.state, name.name)
        step.state.items.append(5)
        leaked.append(step.state)

    def use(step: Any) -> None:
        edit(leaked[0])

    after = form()
    after.items.append(5)
    flow = chain(form, leak, use, value=lambda step: step.state == after)
    result = await flow.run(form(), check=False)
    assert result.value is True
    edit(leaked[0])
    assert result.state == after


@every_form
async def test_a_part_that_leaked_changes_nothing_later(form: type) -> None:
    leaked: list[Any] = []

    def leak(step: Any) -> None:
        step.state.child.name = "changed"
        leaked.extend([step.state.items, step.state.child, step.state.table["a"], step.state.pair[0]])

    def use(step: Any) -> None:
        items, child, row, inner = leaked
        items.append(7)
        child.marks.append(7)
        row.append(7)
        inner.append(7)

    result = await chain(form, leak, use).run(form(), check=False)
    after = form()
    after.child.name = "changed"
    assert result.state == after


@every_form
async def test_a_value_from_deps_may_be_changed_outside_afterwards(form: type) -> None:
    shared: dict[str, Any] = {"items": [1, 2], "child": form().child}

    def take(step: Any) -> None:
        step.state.items = step.deps["items"]
        step.state.child = step.deps["child"]

    def spoil(step: Any) -> None:
        shared["items"].append(99)
        shared["child"].name = "spoilt"
        shared["child"].marks.append(99)

    result = await chain(form, take, spoil).run(form(), deps=shared, check=False)
    assert (result.state.items, result.state.child) == ([1, 2], form().child)


async def test_a_value_put_into_two_states_is_not_shared_between_them() -> None:
    shared = [1]
    flow = chain(Plain, lambda step: setattr(step.state, "items", shared))
    one = await flow.run(Plain(), check=False)
    two = await flow.run(Plain(), check=False)
    one.state.items.append(2)
    assert (two.state.items, shared) == ([1], [1])


# ---- Fields that are not touched ----------------------------------------------------------------------------


class Opaque:
    """Not known to flowcore, and so taken as immutable and shared."""


async def test_an_object_of_another_kind_is_shared_and_keeps_its_identity() -> None:
    given = Opaque()
    seen: list[Any] = []
    flow = chain(Plain, *[lambda step: seen.append(step.state.anything)] * 3)
    state = Plain()
    state.anything = given
    result = await flow.run(state, check=False)
    assert [item is given for item in [*seen, result.state.anything]] == [True] * 4


async def test_a_field_that_was_only_read_is_no_change() -> None:
    def read(step: Any) -> None:
        for entry in dataclasses.fields(Plain):
            getattr(step.state, entry.name)
        step.state.items.sort()

    for form in FORMS:
        result = await chain(form, read).run(form(), check=False)
        assert dict(result.trace[0].patch) == {}


async def test_a_field_set_to_an_equal_value_of_another_type_is_a_change() -> None:
    @dataclass
    class Loose:
        value: Any = 1

    for value in (True, 1.0):
        result = await chain(Loose, lambda step, value=value: setattr(step.state, "value", value)).run(
            Loose(), check=False
        )
        assert type(result.state.value) is type(value)
