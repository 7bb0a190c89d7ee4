"""Every kind of callable can be a node, as far as the type checkers take it; what can be no state is refused."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, Literal, NewType, Protocol, TypeVar

import pytest
from pydantic import BaseModel

from flowcore import Budget, Complete, Continue, ContractError, Flow, FlowError, Step, node

ItemT = TypeVar("ItemT")


class State(BaseModel):
    number: int = 3


class Other(BaseModel):
    number: int = 4


class Page(BaseModel, Generic[ItemT]):
    items: list[ItemT]


Alias = NewType("Alias", State)


class Reply(BaseModel):
    text: str = "hello"


class Worker:
    async def work(self, step: Step[State]) -> Complete[int]:
        return Complete(step.state.number)

    def enter(self, state: State) -> State:
        return State(number=state.number + 1)

    def leave(self, draft: State, result: int) -> Continue:
        draft.number = result
        return Continue()


@dataclass
class Adder:
    """Its field has the name of the argument of its call."""

    step: int = 2

    async def __call__(self, step: Step[State]) -> Complete[int]:
        return Complete(self.step + step.state.number)


async def add(more: int, step: Step[State]) -> Complete[int]:
    return Complete(more + step.state.number)


async def add_named(step: Step[State], *, more: int) -> Complete[int]:
    return Complete(more + step.state.number)


def passed_on(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def around(step: Any) -> Any:
        return fn(step)

    return around


@passed_on
async def decorated(step: Step[State]) -> Complete[int]:
    return Complete(step.state.number)


def later(step: Step[State]) -> Awaitable[Complete[int]]:
    return add(0, step)


def as_coroutine(step: Step[State]) -> Coroutine[Any, Any, Complete[int]]:
    return add(1, step)


async def count(step: Step[State]) -> Complete[int]:
    return Complete(step.state.number)


KINDS: dict[str, tuple[Any, int]] = {
    "method": (Worker().work, 3),
    "callable object": (Adder(), 5),
    "partial": (functools.partial(add, 10), 13),
    "partial by name": (functools.partial(add_named, more=20), 23),
    "partial of a method": (functools.partial(Worker.work, Worker()), 3),
    "decorated": (decorated, 3),
    "decorated method": (passed_on(Worker().work), 3),
    "awaitable": (later, 3),
    "coroutine": (as_coroutine, 4),
}


@pytest.mark.parametrize(("fn", "value"), KINDS.values(), ids=KINDS)
async def test_any_callable_with_the_annotations_is_a_node(fn: Any, value: int) -> None:
    assert await Flow("kinds", node(id="it")(fn)).run(State()) == value


def takes_two(step: Step[State], more: int) -> Complete[int]: ...


def takes_a_name(step: Step[State], *, more: int) -> Complete[int]: ...


def takes_none() -> Complete[int]: ...


def yields(step: Step[State]) -> Complete[int]:
    yield 1


async def yields_later(step: Step[State]) -> Complete[int]:
    yield 1


async def promises(step: Step[State]) -> Awaitable[Complete[int]]: ...


async def unknown(step: Step[State]) -> Complete[list["Nowhere"]]: ...  # noqa: F821, UP037


@pytest.mark.parametrize(
    ("fn", "said"),
    [
        (takes_two, "takes more than one argument"),
        (takes_a_name, "takes more than one argument"),
        (takes_none, "takes no argument"),
        (yields, "is a generator"),
        (yields_later, "is a generator"),
        (promises, "not with an awaitable"),
        (unknown, "name 'Nowhere' is not defined"),
        (max, "no signature that can be read"),
    ],
)
def test_what_cannot_be_called_as_a_node_is_refused(fn: Any, said: str) -> None:
    with pytest.raises(FlowError) as caught:
        Flow("refused", node(id="it")(fn))
    assert [problem.code for problem in caught.value.problems] == ["unreadable_annotation"]
    assert said in caught.value.problems[0].message


async def test_names_that_are_quoted_inside_are_resolved() -> None:
    async def reply(step: Any) -> Any:
        return Complete(Reply())

    async def replies(step: Any) -> Any:
        return Complete([Reply()])

    # Annotations that are objects, as they are without the import at the top.
    reply.__annotations__ = {"step": Step["State"], "return": Complete["Reply"]}
    replies.__annotations__ = {"step": Step[State], "return": Complete[list["Reply"]]}
    assert await Flow("one", node(reply)).run(State()) == Reply()
    assert await Flow("many", node(replies)).run(State()) == [Reply()]


async def test_bound_methods_lead_into_a_sub_flow_and_out_of_it() -> None:
    inner, worker = Flow("inner", node(count)), Worker()
    row = inner.as_node("in", state=State, enter=worker.enter, leave=worker.leave)
    assert await Flow("outer", row.to(node(count)), node(count)).run(State()) == 4


@pytest.mark.parametrize("given", ["enter", "leave", "deps"])
def test_what_is_called_without_waiting_cannot_be_async(given: str) -> None:
    async def slow(state: State) -> State: ...

    async def slow_leave(draft: State, result: int) -> Continue: ...

    worker = Worker()
    functions: dict[str, Any] = {"enter": worker.enter, "leave": worker.leave}
    functions[given] = slow_leave if given == "leave" else slow
    row = Flow("inner", node(count)).as_node("in", state=State, **functions)
    with pytest.raises(FlowError) as caught:
        Flow("outer", row.to(node(count)), node(count))
    assert [(problem.code, problem.where) for problem in caught.value.problems] == [("async_function", "in")]
    assert given in caught.value.problems[0].message


def flow_on(hint: Any) -> Flow[Any, Any, Any]:
    async def work(step: Any) -> Complete[int]:
        return Complete(step.state.number)

    work.__annotations__ = {"step": Step[hint], "return": Complete[int]}
    return Flow("on", node(work))


class Numbered(Protocol):
    number: int


@pytest.mark.parametrize(
    "hint",
    [dict[str, int], State | None, list[State], int, None, Literal["a"], Callable[[], int], type[State], Numbered],
    ids=str,
)
def test_what_can_be_no_state_is_refused(hint: Any) -> None:
    with pytest.raises(FlowError) as caught:
        flow_on(hint)
    assert [problem.code for problem in caught.value.problems] == ["bad_state_type"]


@pytest.mark.parametrize("hint", [State, State | Other, Alias, Any, object, ItemT], ids=str)
async def test_what_can_be_a_state_is_taken(hint: Any) -> None:
    assert await flow_on(hint).run(State()) == 3


async def test_a_generic_model_without_its_argument_is_taken_where_its_values_fit() -> None:
    async def pages(step: Step[State]) -> Complete[Page[int]]:
        return Complete(Page(items=[1]))

    async def words(step: Step[State]) -> Complete[Page[int]]:
        return Complete(Page(items=["one"]))

    async def first(step: Step[Page[int]]) -> Complete[int]:
        return Complete(step.state.items[0])

    assert await Flow("pages", node(pages)).run(State()) == Page(items=[1])
    assert await Flow("first", node(first)).run(Page(items=[7])) == 7
    with pytest.raises(ContractError, match=r"its annotation says Page\[int\]"):
        await Flow("words", node(words)).run(State())


def test_a_sub_flow_that_can_finish_unpaid_pays_for_no_cycle() -> None:
    @node
    async def begin(step: Step[State]) -> Continue: ...

    @node
    async def again(step: Step[State]) -> Continue[Literal["more", "done"]]: ...

    end, last = node(id="end")(count), node(id="last")(count)
    inner = Flow("inner", begin.to(end), end, last, finish=last)

    def outer(row: Any) -> Flow[Any, Any, Any]:
        return Flow("outer", row.to(again), again.to(more=row, done=end), end)

    assert outer(inner.as_node("in")).nodes == ("in", "again", "end")
    with pytest.raises(FlowError) as caught:
        outer(inner.as_node("in", budget=Budget(rounds=0)))
    assert [problem.code for problem in caught.value.problems] == ["unpaid_cycle"]
