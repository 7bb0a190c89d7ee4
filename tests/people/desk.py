"""A desk: the state, the forms and the nodes that the tests of people share, and how requests are waited for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anyio.lowlevel
from pydantic import BaseModel, Field

from flowcore import Approval, Complete, Flow, Node, OpenRequest, Run, Step, approve, ask, node
from flowcore.events import Event


class Letter(BaseModel):
    text: str = "Dear all"
    notes: list[str] = Field(default_factory=list)
    by: str = ""


class Shown(BaseModel):
    text: str
    words: int


class Changes(BaseModel):
    instead: str = Field(default="", max_length=20)
    urgent: bool = False


@dataclass
class Where:
    city: str
    floor: int = 0


def shown(state: Letter) -> Shown:
    return Shown(text=state.text, words=len(state.text.split()))


def in_words(state: Letter) -> str:
    return f"May this go out: {state.text}?"


def note_consent(draft: Letter, answer: Approval[Any]) -> None:
    draft.notes.append(f"{answer.approved} {answer.reason}".strip())


def note_form(draft: Letter, answer: Approval[Changes]) -> None:
    draft.notes.append(f"{answer.approved} {answer.form!r}")


def note_place(draft: Letter, answer: Where) -> None:
    draft.notes.append(f"{answer.city} {answer.floor}")


def note_text(draft: Letter, answer: str) -> None:
    draft.notes.append(answer)


@node
async def send(step: Step[Letter]) -> Complete[str]:
    return Complete("sent")


@node
async def drop(step: Step[Letter]) -> Complete[str]:
    return Complete("dropped")


@node
async def late(step: Step[Letter]) -> Complete[str]:
    return Complete("late")


@node
async def sorry(step: Step[Letter]) -> Complete[str]:
    return Complete(f"sorry: {step.error}")


def consent_flow(
    consent: Node[Letter, Any, Any, Any], **more: Node[Letter, Any, Any, Any]
) -> Flow[Letter, Any, str]:
    """Returns a flow with one node that asks for consent."""
    rows = [send, drop, *more.values()]
    return Flow("letters", consent.to(approved=send, denied=drop, **more), *rows)


def question_flow(form: Any = Where, take: Any = note_place, **options: Any) -> Flow[Letter, Any, str]:
    """Returns a flow with one node that asks a question."""
    question = ask("where", show=in_words, form=form, take=take, **options)
    return Flow("places", question.to(answered=send, expired=late), send, late)


plain = approve("consent", show=shown, take=note_consent)
formal = approve("consent", show=shown, form=Changes, take=note_form)


async def pending(run: Run[Any], count: int = 1) -> tuple[OpenRequest, ...]:
    """Returns the requests when there are so many."""
    while len(run.requests) < count:
        await anyio.lowlevel.checkpoint()
    return run.requests


async def settled(run: Run[Any]) -> None:
    """Lets everything of a run go on that can."""
    for _ in range(50):
        await anyio.lowlevel.checkpoint()


async def told(run: Run[Any], kind: str) -> list[Any]:
    """Returns the events of a kind of a run that has ended."""
    found: list[Event] = [event async for event in run.events() if event.kind == kind]
    return found
