"""What may stand behind a node: every callable of one step whose annotations can be read."""

from __future__ import annotations

import functools
import runpy
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import pytest
from pydantic import BaseModel

from flowcore import Complete, Continue, Flow, Node, Step, node

from ..states import Note
from .finding import only

ItemT = TypeVar("ItemT")


class Agent:
    async def act(self, step: Step[Note]) -> Complete[str]:
        return Complete("method")

    @staticmethod
    async def still(step: Step[Note]) -> Complete[str]:
        return Complete("static")

    @classmethod
    async def of_class(cls, step: Step[Note]) -> Complete[str]:
        return Complete("class")

    def enter(self, note: Note) -> Note:
        return note

    def leave(self, draft: Note, result: str) -> Complete[str]:
        return Complete(f"left {result}")


@dataclass
class Writer:
    style: str

    async def __call__(self, step: Step[Note]) -> Complete[str]:
        return Complete(self.style)


async def styled(style: str, step: Step[Note]) -> Complete[str]:
    return Complete(style)


def plainly_wrapped(fn: Any) -> Any:
    @functools.wraps(fn)
    def inner(step: Any) -> Any:
        return fn(step)

    return inner


@plainly_wrapped
async def wrapped(step: Step[Note]) -> Complete[str]:
    return Complete("wrapped")


def promises(step: Step[Note]) -> Awaitable[Complete[str]]:
    return styled("awaited", step)


CALLABLES: dict[str, tuple[Any, str]] = {
    "method": (Agent().act, "method"),
    "static method": (Agent.still, "static"),
    "class method": (Agent.of_class, "class"),
    "instance": (Writer("instance"), "instance"),
    "partial": (functools.partial(styled, "partial"), "partial"),
    "wrapped": (wrapped, "wrapped"),
    "awaitable": (promises, "awaited"),
}


@pytest.mark.parametrize(("fn", "value"), CALLABLES.values(), ids=CALLABLES)
async def test_it_may_stand_behind_a_node(fn: Any, value: str) -> None:
    made: Node[Any, Any, Any, Any] = node(id="made")(fn)
    assert await Flow("f", made).run(Note()) == value


async def test_methods_may_enter_and_leave() -> None:
    agent = Agent()
    inner = Flow("inner", node(agent.act))
    item = inner.as_node("in", state=Note, enter=agent.enter, leave=agent.leave)
    assert await Flow("f", item).run(Note()) == "left method"


class Reply(BaseModel):
    text: str = ""


class Page(BaseModel, Generic[ItemT]):
    items: list[ItemT]


class Box(Generic[ItemT]):
    pass


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (Page[int], Page(items=[1])),
        (Page[int], Page[int](items=[1])),
        (Box[int], Box()),
        (Annotated[int, "counted"], 1),
        (dict[str, list[int]], {"a": [1]}),
        (type[Reply], Reply),
        (float, 1),
    ],
    ids=["bare page", "page", "box", "annotated", "dict", "class", "int for float"],
)
async def test_a_value_that_fits_its_annotation_completes(hint: Any, value: Any) -> None:
    async def ends(step: Step[Note]) -> Any:
        return Complete(value)

    ends.__annotations__["return"] = Complete[hint]
    assert await Flow("f", node(ends)).run(Note()) == value


async def test_annotations_may_be_written_as_text_inside_of_annotations() -> None:
    async def ends(step: Any) -> Any:
        return Complete(Reply(text="x"))

    ends.__annotations__.update({"step": Step["Note"], "return": Complete["Reply"]})  # type: ignore[type-arg]
    assert await Flow("f", node(ends)).run(Note()) == Reply(text="x")


async def test_a_name_that_only_the_place_of_declaration_knows_is_read() -> None:
    class Local(BaseModel):
        number: int = 1

    @node
    async def local(step: Step[Local]) -> Complete[Local]:
        return Complete(step.state)

    assert await Flow("f", local).run(Local()) == Local()


@pytest.mark.parametrize(
    "source",
    [
        "async def f(step: Step[Note]) -> Unknown: ...",
        "async def f(step: Step[Note]) -> Complete[Unknown]: ...",
        "async def f(step: Step[Note]) -> int: ...",
        "async def f(step: Step[Note]) -> Continue[str]: ...",
        "async def f(step: Note) -> Continue: ...",
        "async def f(step: Step[Note], more: int) -> Continue: ...",
        "async def f() -> Continue: ...",
    ],
)
def test_what_cannot_be_read_is_one_problem_of_its_node(source: str) -> None:
    space: dict[str, Any] = {"Step": Step, "Note": Note, "Continue": Continue, "Complete": Complete}
    exec(f"from __future__ import annotations\n{source}", space)
    problem = only(node(space["f"]))
    assert (problem.code, problem.where) == ("unreadable_annotation", "f")


def test_a_missing_annotation_is_one_problem_of_its_node() -> None:
    async def untyped(step):  # type: ignore[no-untyped-def]
        return Complete(1)

    assert only(node(untyped)).code == "missing_annotation"


def test_what_is_no_function_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="give a function of one step"):
        node(5)  # type: ignore[call-overload]


def test_the_right_code_of_the_type_tests_constructs() -> None:
    names = runpy.run_path(str(Path(__file__).parents[2] / "typing" / "right_code.py"))
    assert [name for name in ("triage", "several", "around") if isinstance(names[name], Flow)] == [
        "triage",
        "several",
        "around",
    ]
