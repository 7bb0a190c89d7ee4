"""One state in every form that a state may have, and every way to edit it that a guard may miss."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pydantic
from pydantic import BaseModel, ConfigDict


class Child(BaseModel):
    name: str = "child"
    marks: list[int] = [1]
    below: Child | None = None


@dataclass
class Leaf:
    name: str = "leaf"
    marks: list[int] = field(default_factory=lambda: [1])


@dataclass(slots=True)
class SlotLeaf:
    marks: list[int] = field(default_factory=lambda: [1])


@dataclass(frozen=True)
class FrozenLeaf:
    marks: list[int] = field(default_factory=lambda: [1])


def fields_of_state() -> dict[str, tuple[Any, Callable[[], Any]]]:
    return {
        "number": (int, lambda: 1),
        "text": (str, lambda: "one"),
        "items": (list[int], lambda: [1]),
        "rows": (list[list[int]], lambda: [[1]]),
        "table": (dict[str, list[int]], lambda: {"a": [1]}),
        "tags": (set[str], lambda: {"a"}),
        "pair": (tuple[list[int], str], lambda: ([1], "x")),
        "child": (Child, lambda: Child(below=Child())),
        "leaf": (Leaf, Leaf),
        "slot": (SlotLeaf, SlotLeaf),
        "ice": (FrozenLeaf, FrozenLeaf),
        "counts": (defaultdict[str, list[int]], lambda: defaultdict(list, a=[1])),
        "queue": (deque[int], lambda: deque([1], maxlen=3)),
        "ordered": (OrderedDict[str, list[int]], lambda: OrderedDict(a=[1], b=[2])),
        "raw": (bytearray, lambda: bytearray(b"a")),
        "anything": (Any, lambda: {"deep": [Leaf()]}),
    }


def dataclass_fields() -> list[tuple[str, Any, Any]]:
    return [(name, hint, field(default_factory=make)) for name, (hint, make) in fields_of_state().items()]


Plain = dataclasses.make_dataclass("Plain", dataclass_fields())
Slots = dataclasses.make_dataclass("Slots", dataclass_fields(), slots=True)
Checked = pydantic.dataclasses.dataclass(
    dataclasses.make_dataclass("Checked", dataclass_fields()), config=ConfigDict(arbitrary_types_allowed=True)
)


class Model(
    pydantic.create_model(  # type: ignore[misc]
        "Base",
        __config__=ConfigDict(arbitrary_types_allowed=True),
        **{name: (hint, pydantic.Field(default_factory=make)) for name, (hint, make) in fields_of_state().items()},
    )
):
    def add(self, number: int) -> None:
        self.items.append(number)
        self.number += number

    @property
    def total(self) -> int:
        return sum(self.items)


FORMS = [Plain, Slots, Checked, Model]


def put(name: str, value: Any) -> Callable[[Any], None]:
    return lambda state: setattr(state, name, value)


def augmented(state: Any) -> None:
    state.items += [2]
    state.tags |= {"b"}
    state.number += 1
    state.text += "!"


def quiet(edit: Callable[[Any], Any]) -> Callable[[Any], None]:
    """Returns the edit without what it returns, since what a node returns is its outcome."""

    def act(state: Any) -> None:
        edit(state)

    return act


_EDITS: dict[str, Callable[[Any], Any]] = {
    "plain field": put("number", 2),
    "text": put("text", "two"),
    "list": lambda state: state.items.append(2),
    "list put": put("items", [7]),
    "list sorted": lambda state: (state.items.insert(0, 3), state.items.sort()),
    "list cleared": lambda state: state.items.clear(),
    "list in list": lambda state: state.rows[0].append(2),
    "list in dict": lambda state: state.table["a"].append(2),
    "dict": lambda state: state.table.update(b=[2]),
    "dict reordered": lambda state: state.ordered.move_to_end("a"),
    "dict key gone": lambda state: state.table.pop("a", None),
    "set": lambda state: state.tags.add("b"),
    "list in tuple": lambda state: state.pair[0].append(2),
    "model": lambda state: setattr(state.child, "name", "changed"),
    "list in model": lambda state: state.child.marks.append(2),
    "model in model": lambda state: state.child.below.marks.append(2),
    "dataclass": lambda state: setattr(state.leaf, "name", "changed"),
    "list in dataclass": lambda state: state.leaf.marks.append(2),
    "list in slots": lambda state: state.slot.marks.append(2),
    "list in frozen": lambda state: state.ice.marks.append(2),
    "defaultdict grows by a read": lambda state: state.counts["new"],
    "list in defaultdict": lambda state: state.counts["a"].append(2),
    "deque": lambda state: state.queue.append(2),
    "deque full": lambda state: state.queue.extend([2, 3, 4]),
    "list in ordered": lambda state: state.ordered["b"].append(3),
    "bytes": lambda state: state.raw.extend(b"b"),
    "deep in anything": lambda state: state.anything["deep"][0].marks.append(2),
    "augmented": augmented,
}

EDITS = {name: quiet(edit) for name, edit in _EDITS.items()}
