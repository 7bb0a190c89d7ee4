"""The names that the examples in the table of problems are written with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from flowcore import Complete, Continue, Flow, Log, Retry, Step, approve, each, node, parallel


class State(BaseModel):
    text: str = ""


class Stranger(BaseModel):
    number: int = 0


@node
async def start(step: Step[State]) -> Continue:
    return Continue()


@node
async def ask(step: Step[State]) -> Continue:
    return Continue()


@node
async def again(step: Step[State]) -> Continue:
    return Continue()


@node
async def choose(step: Step[State]) -> Continue[Literal["a", "b"]]:
    return Continue("a" if step.state.text else "b")


async def finish_function(step: Step[State]) -> Complete[str]:
    return Complete(step.state.text)


finish = node(finish_function, id="finish")


async def was_it(step: Step[State]) -> bool:
    return True


@node(effects=True, verify=was_it)
async def torn(step: Step[State]) -> Continue[Literal["a", "b"]]:
    return Continue("a")


@node
async def other(step: Step[State]) -> Complete[str]:
    return Complete(step.state.text)


@node
async def stranger(step: Step[Stranger]) -> Complete[str]:
    return Complete(str(step.state.number))


@node(writes=("nowhere",))
async def scribe(step: Step[State]) -> Continue:
    return Continue()


async def mixed(step: Step[State]) -> Continue[Literal["a"]] | Continue:
    return Continue()


async def returns_text(step: Step[State]) -> str:
    return step.state.text


async def on_a_dict(step: Step[dict]) -> Complete[int]:  # type: ignore[type-arg]
    return Complete(len(step.state))


inner = Flow("inner", start.to(finish), finish)


def into(state: State) -> State:
    return State(text=state.text)


def back(draft: State, result: str) -> Continue:
    draft.text = result
    return Continue()


async def slow_into(state: State) -> State:
    return State(text=state.text)


def wrong_into(state: State) -> Stranger:
    return Stranger(number=len(state.text))


def wrong_back(draft: State, result: int) -> Continue:
    draft.text = str(result)
    return Continue()


class Soft(BaseModel):
    history: Log[list[str]] = Log()


@node(writes=("text",))
async def writer(step: Step[State]) -> Continue:
    step.state.text = "written"
    return Continue()


async def on_soft_log(step: Step[Soft]) -> Complete[int]:
    return Complete(len(step.state.history))


def many(state: State) -> list[State]:
    return [State(text=word) for word in state.text.split()]


def wrong_over(state: State) -> list[Stranger]:
    return [Stranger(number=len(word)) for word in state.text.split()]


def gather(draft: State, results: list[str]) -> Continue:
    draft.text = " ".join(results)
    return Continue()


def shown(state: State) -> str:
    return state.text


@dataclass
class Odd:
    place: object
    how: Callable[[], int]


consent = approve("consent", show=shown)
odd_consent = approve("odd consent", show=shown, form=Odd)


NAMES: dict[str, Any] = {
    "Complete": Complete,
    "Continue": Continue,
    "Flow": Flow,
    "Retry": Retry,
    "State": State,
    "Step": Step,
    "again": again,
    "ask": ask,
    "back": back,
    "choose": choose,
    "finish": finish,
    "finish_function": finish_function,
    "inner": inner,
    "into": into,
    "mixed": mixed,
    "node": node,
    "on_a_dict": on_a_dict,
    "other": other,
    "returns_text": returns_text,
    "scribe": scribe,
    "slow_into": slow_into,
    "start": start,
    "stranger": stranger,
    "torn": torn,
    "wrong_back": wrong_back,
    "wrong_into": wrong_into,
    "wrong_over": wrong_over,
    "writer": writer,
    "parallel": parallel,
    "on_soft_log": on_soft_log,
    "many": many,
    "gather": gather,
    "each": each,
    "consent": consent,
    "odd_consent": odd_consent,
}
