from typing import Literal

from pydantic import BaseModel

from flowcore import Complete, Continue, Flow, Retry, Step, node  # noqa: F401 - the examples use Retry


class State(BaseModel):
    text: str = ""


class Stranger(BaseModel):
    text: str = ""


@node
async def start(step: Step[State]) -> Continue:
    return Continue()


@node
async def again(step: Step[State]) -> Continue:
    return Continue()


@node
async def ask(step: Step[State]) -> Continue:
    return Continue()


@node
async def choose(step: Step[State]) -> Continue[Literal["a", "b"]]:
    return Continue("a")


@node
async def finish(step: Step[State]) -> Complete[str]:
    return Complete(step.state.text)


@node
async def other(step: Step[State]) -> Complete[str]:
    return Complete(step.state.text)


@node(writes=("title",))
async def scribe(step: Step[State]) -> Continue:
    return Continue()


@node
async def stranger(step: Step[Stranger]) -> Complete[str]:
    return Complete(step.state.text)


async def finish_function(step: Step[State]) -> Complete[str]:
    return Complete(step.state.text)


async def returns_text(step: Step[State]) -> str:
    return step.state.text


async def mixed(step: Step[State]) -> Continue | Continue[Literal["a"]]:
    return Continue("a")


async def on_a_dict(step: Step[dict[str, str]]) -> Complete[str]:
    return Complete(step.state["text"])


@node
async def within(step: Step[State]) -> Complete[str]:
    return Complete(step.state.text)


inner = Flow("inner", within)


def into(state: State) -> State:
    return State(text=state.text)


def back(state: State, result: str) -> Continue:
    state.text = result
    return Continue()


def wrong_into(state: State) -> Stranger:
    return Stranger(text=state.text)


def wrong_back(state: State, result: int) -> Continue:
    return Continue()
