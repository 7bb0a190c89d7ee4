"""What one part of a flow hands to the next: assignability decides, and not equality."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from flowcore import Complete, Continue, Flow, Step, node

from .finding import only
from .problem_examples import NAMES, State, finish


class Animal(BaseModel):
    name: str = ""


class Cat(Animal):
    lives: int = 9


@pytest.mark.behaviour("Z03")
def test_a_node_for_a_base_class_fits_and_one_for_a_subclass_does_not() -> None:
    @node
    async def cat(step: Step[Cat]) -> Continue:
        return Continue()

    @node
    async def animal(step: Step[Animal]) -> Complete[str]:
        return Complete(step.state.name)

    @node(id="start")
    async def from_animal(step: Step[Animal]) -> Continue:
        return Continue()

    @node(id="end")
    async def to_cat(step: Step[Cat]) -> Complete[str]:
        return Complete(step.state.name)

    assert Flow("f", cat.to(animal), animal).run_sync(Cat(name="Tom")) == "Tom"  # type: ignore[arg-type]
    problem = only(from_animal.to(to_cat), to_cat)
    assert (problem.code, problem.where) == ("state_mismatch", "end")
    assert "Cat" in problem.message
    assert "Animal" in problem.message


FITS = [
    ("Cat", "Animal"),
    ("int", "int | None"),
    ("list[Cat]", "Sequence[Animal]"),
    ("bool", "int"),
    ("int", "float"),
]


@pytest.mark.behaviour("Z03")
@pytest.mark.parametrize(("given", "wanted"), [*FITS, ("Literal[1]", "int"), ("tuple[int, ...]", "Sequence[int]")])
def test_a_result_fits_where_leave_wants_something_wider_and_not_the_reverse(given: str, wanted: str) -> None:
    Flow("f", embedded(given, wanted).to(finish), finish)
    problem = only(embedded(wanted, given).to(finish), finish)
    assert (problem.code, problem.where) == ("leave_mismatch", "in")
    assert given.replace("Sequence", "") in problem.message.replace("Sequence", "")
    assert wanted.split("[")[0].split(" ")[0] in problem.message


def embedded(result: str, wanted: str) -> object:
    """Returns a sub-flow that completes with `result` under a leave that takes `wanted`."""
    names = {**NAMES, "Cat": Cat, "Animal": Animal}
    source = f"""
from collections.abc import Sequence
from typing import Literal
@node
async def ends(step: Step[State]) -> Complete[{result}]: ...
def leave(draft: State, result: {wanted}) -> Continue: ...
made = Flow("x", ends).as_node("in", state=State, enter=into, leave=leave)
"""
    exec(source, names)
    return names["made"]


@pytest.mark.behaviour("Z03")
def test_a_list_of_cats_is_no_list_of_animals() -> None:
    assert only(embedded("list[Cat]", "list[Animal]").to(finish), finish).code == "leave_mismatch"  # type: ignore[attr-defined]


@pytest.mark.behaviour("Z03")
def test_enter_may_return_a_subclass_and_not_a_base_class() -> None:
    @node
    async def on_animal(step: Step[Animal]) -> Complete[str]:
        return Complete("")

    @node
    async def on_cat(step: Step[Cat]) -> Complete[str]:
        return Complete("")

    def to_cat(state: State) -> Cat:
        return Cat()

    def to_animal(state: State) -> Animal:
        return Animal()

    def leave(draft: State, result: str) -> Continue:
        return Continue()

    fits = Flow("x", on_animal).as_node("in", state=State, enter=to_cat, leave=leave)
    Flow("f", fits.to(finish), finish)
    wrong = Flow("x", on_cat).as_node("in", state=State, enter=to_animal, leave=leave)
    problem = only(wrong.to(finish), finish)
    assert problem.code == "enter_mismatch"
    assert "Animal" in problem.message
    assert "Cat" in problem.message
