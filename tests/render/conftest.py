"""Flows that the drawing tests look at."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel

from flowcore import Complete, Continue, Flow, ItemFailure, Step, each, node, parallel


class Ticket(BaseModel):
    question: str = ""


@node(starts_round=True)
async def draft(step: Step[Ticket]) -> Continue:
    """Write an answer."""
    return Continue()


@node
async def check(step: Step[Ticket]) -> Continue[Literal["good", "fine", "poor"]]:
    return Continue("good")


@node
async def deliver(step: Step[Ticket]) -> Complete[str]:
    return Complete("done")


@node
async def apologise(step: Step[Ticket]) -> Complete[str]:
    return Complete("sorry")


@pytest.fixture
def triage() -> Flow[Ticket, object, str]:
    return Flow(
        "triage",
        draft.to(check).on_error(apologise, ValueError, KeyError).using(max_visits=3).over_limit(apologise),
        check.to(good=deliver, fine=deliver, poor=draft),
        deliver,
        apologise,
        on_error=apologise,
        description="Answers tickets.",
    )


@pytest.fixture
def bounded() -> Flow[Ticket, object, str]:
    return Flow("bounded", draft.to(apologise), apologise, finish=apologise)


def back(draft: Ticket, result: str) -> Continue[Literal["again"]] | Complete[str]:
    return Complete(result)


@pytest.fixture
def nested() -> Flow[Any, Any, Any]:
    one = Flow("one", deliver)
    two = Flow("two", one.as_node("one").to(deliver), deliver)
    three = Flow("three", two.as_node("two").to(deliver), deliver)
    loop = one.as_node("loop", state=Ticket, enter=lambda ticket: ticket, leave=back)
    first, second = three.as_node("first"), three.as_node("second")
    return Flow("nested", first.to(second), second.to(loop), loop.to(again=loop))


@node
async def look(step: Step[Ticket]) -> Continue:
    return Continue()


def parts(ticket: Ticket) -> list[Ticket]:
    return [ticket]


def bind(ticket: Ticket, results: list[str | ItemFailure]) -> Continue:
    return Continue()


@pytest.fixture
def composed() -> Flow[Any, Any, Any]:
    """Branches with an error route, of which two are wanted; and items, two of which run at a time."""
    cached = look.named("cached")
    web = look.named("web").on_error(cached, TimeoutError)
    search = parallel("search", web, look.named("docs"), look.named("mail"), join=2)
    write = each("write", over=parts, do=Flow("part", deliver), collect=bind, limit=2, on_item_error="collect")
    return Flow("composed", search.to(write).on_error(apologise), write.to(deliver), deliver, apologise)
