"""Holds how the fields of a state are stored as patches, and become one state again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.state.codec_values import HINTS, alike, values

from flowcore.errors import StoreError
from flowcore.state import Codec, Log, as_change, shape_of

CODEC = Codec(*HINTS)


@dataclass
class Work:
    count: int = 0
    name: str = ""
    notes: Log[Any] = field(default_factory=Log)
    words: list[str] = field(default_factory=list)


class Here:
    path = "here#1"


SHAPE = shape_of(Work)


def after(values: dict[str, Any], **change: Any) -> dict[str, Any]:
    """Return the patch of a visit that sets some fields, and appends to the notes."""
    draft = SHAPE.draft(values)
    for item in change.pop("notes", []):
        draft.notes.append(item)
    for name, value in change.items():
        setattr(draft, name, value)
    return SHAPE.difference(draft, values, Here()) or {}


def test_a_patch_is_as_short_as_it_can_be() -> None:
    values = SHAPE.values(Work(notes=Log(range(1000))))
    assert CODEC.encode_fields({"count": 3}, "state") == '{"count":3}'
    patch = after(values, count=3, notes=[7, (8,)])
    assert CODEC.encode_fields(patch, "state", values) == '{"count":3,"+notes":[7,{"$tuple":[8]}]}'


def test_of_a_log_that_grew_only_what_was_appended_is_stored() -> None:
    values = SHAPE.values(Work(notes=Log([1])))
    start = CODEC.encode_fields(values, "state")
    patches = []
    for number in range(5):
        patch = after(values, notes=[number, {number}], count=number + 1)
        patches.append(CODEC.encode_fields(patch, "state", values))
        values = {**values, **patch}
    assert {len(text) for text in patches} == {len('{"count":0,"+notes":[0,{"$set":[0]}]}')}
    assert alike(CODEC.fold(start, patches), values)
    found = CODEC.decode_fields(start, "state")
    for text in patches:
        CODEC.apply(found, text, "state")
    assert alike(found, values)
    assert found["notes"].fresh == [4, {4}]


def test_a_log_that_does_not_go_on_from_the_one_before_is_stored_whole() -> None:
    values = SHAPE.values(Work(notes=Log([1, 2])))
    other = Log([9])
    assert CODEC.encode_fields({"notes": other}, "state", values) == '{"notes":{"$log":[9]}}'
    assert CODEC.encode_fields({"notes": other}, "state") == '{"notes":{"$log":[9]}}'
    text = CODEC.encode_fields({"notes": as_change(other, values["notes"])}, "state", values)
    start = CODEC.encode_fields(values, "state")
    assert list(CODEC.fold(start, [text, '{"+notes":[3]}'])["notes"]) == [9, 3]


def test_a_patch_by_itself_tells_what_was_appended() -> None:
    found = CODEC.decode_fields('{"count":1,"+notes":[5,6]}', "state")
    assert found["count"] == 1
    assert list(found["notes"]) == found["notes"].fresh == [5, 6]


def test_applying_a_patch_leaves_the_log_before_as_it_was() -> None:
    before = {"notes": Log([1])}
    found = dict(before)
    CODEC.apply(found, '{"+notes":[2]}', "state")
    assert list(before["notes"]) == [1]
    assert list(found["notes"]) == [1, 2]
    assert found["notes"].appended(before["notes"]) == [2]


steps = st.lists(
    st.fixed_dictionaries(
        {}, optional={"count": st.integers(), "name": st.text(max_size=3), "notes": st.lists(values, max_size=2)}
    ),
    max_size=6,
)


@settings(deadline=None, max_examples=60)
@given(steps)
def test_folding_is_applying_one_by_one(changes: list[dict[str, Any]]) -> None:
    values = SHAPE.values(Work())
    start, patches = CODEC.encode_fields(values, "state"), []
    found = CODEC.decode_fields(start, "state")
    for change in changes:
        patch = after(values, **change)
        patches.append(CODEC.encode_fields(patch, "state", values))
        values = {**values, **patch}
        CODEC.apply(found, patches[-1], "state")
    assert alike(found, values)
    assert alike(CODEC.fold(start, patches), values)


def test_many_patches_fold_and_only_the_last_value_of_a_field_is_made() -> None:
    gone = '{"name":{"$data":["nowhere:Gone",{}]}}'
    patches = [gone, *(f'{{"count":{number},"+notes":[{number}]}}' for number in range(5000)), '{"name":"x"}']
    found = CODEC.fold('{"notes":{"$log":[]}}', iter(patches))
    assert (found["count"], found["name"], len(found["notes"])) == (4999, "x", 5000)
    with pytest.raises(StoreError, match="its class nowhere:Gone is not there any more"):
        CODEC.fold("{}", [gone])


@pytest.mark.parametrize(
    ("start", "patches", "words"),
    [
        ("[]", [], "is not the fields of a state"),
        ('{"$set":[]}', [], "is not the fields of a state"),
        ('{"$dict":[[null,1]]}', [], "is not the fields of a state"),
        ("{}", ["3"], "is not the fields of a state"),
        ("{}", ['{"a":1}'] * 3 + ['{"a":'], "cannot be read"),
        ("{}", ['{"a":1},{"a":2}'], "cannot be read"),
        ("{}", ['{"+a":[1]}'], "state.a: what is stored is no log"),
        ('{"a":3}', ['{"+a":[1]}'], "state.a: what is stored is no log"),
        ('{"a":{"$log":3}}', ['{"+a":[1]}'], "state.a: what is stored is no log"),
        ('{"a":{"$log":[]}}', ['{"+a":3}'], "state.a: what is stored is no log"),
        ("{}", [None], "cannot be read"),
        ("{}", ['{"a":NaN}'], "NaN is no number of JSON"),
        ("{}", ["[" * 100_000], "nested too deeply"),
    ],
)
def test_what_is_no_patch_is_an_error_of_the_store(start: str, patches: list[Any], words: str) -> None:
    with pytest.raises(StoreError, match=words):
        CODEC.fold(start, patches)


def test_a_patch_with_a_log_costs_what_was_appended() -> None:
    """Told by counting what is read of the log, never by the clock."""

    class Counting(list[Any]):
        read = 0

        def __iter__(self) -> Any:
            Counting.read += len(self)
            return super().__iter__()

    values = {"notes": Log(range(100_000))}
    values["notes"]._segment.items = Counting(values["notes"]._segment.items)
    grown = values["notes"].draft()
    grown.append(1)
    assert CODEC.encode_fields({"notes": grown.settled()}, "state", values) == '{"+notes":[1]}'
    assert Counting.read == 0
