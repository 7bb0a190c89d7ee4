"""Doubles for the ports: each notes what it was asked and gives what the test wants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import isawaitable
from types import SimpleNamespace
from typing import Any

import pytest

from flowcore import RunResult
from flowcore_answering import (
    AnswerItem,
    AnswerResult,
    AnswerState,
    Citation,
    Evidence,
    ItemDraft,
    Readiness,
    Review,
)

Reply = Callable[..., Any]


class Port:
    """A recording double. Replies are given in turn, the last one again and again; an exception is raised."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.calls: list[tuple[Any, ...]] = []

    async def __call__(self, *given: Any) -> Any:
        self.calls.append(given)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, BaseException):
            raise reply
        made = reply(*given) if callable(reply) else reply
        return await made if isawaitable(made) else made

    @property
    def asked(self) -> list[list[str]]:
        """The ids of the items in each call."""
        return [[item.id for item in given[0]] for given in self.calls]


class Quota:
    """A recording double of the app's quota: answers in turn, the last one again and again."""

    def __init__(self, *answers: bool) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, int]] = []

    def __call__(self, *, requests: int, rounds: int) -> bool:
        self.asked.append({"requests": requests, "rounds": rounds})
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def item(item_id: str, readiness: Readiness = "ready") -> AnswerItem:
    evidence = (Evidence(source="book", where=item_id, text=f"All about {item_id}."),)
    return AnswerItem(id=item_id, question=f"What is {item_id}?", readiness=readiness, evidence=evidence)


def state(*items: str | AnswerItem) -> AnswerState:
    return AnswerState(items=tuple(item(each) if isinstance(each, str) else each for each in items))


def draft(item_id: str, text: str = "") -> ItemDraft:
    """A draft that passes the check."""
    cited = (Citation(source="book", where=item_id),)
    return ItemDraft(item_id=item_id, text=text or f"{item_id} is good.", citations=cited)


def poor(item_id: str) -> ItemDraft:
    """A draft that does not: it cites nothing."""
    return ItemDraft(item_id=item_id, text=f"{item_id} is poor.", citations=())


def drafts(*bad: str, text: str = "") -> Reply:
    """Replies with a draft of every item asked for, poor for those that are named."""
    return lambda items, *_: [
        poor(each.id) if each.id in bad else draft(each.id, text and f"{each.id} {text}") for each in items
    ]


def verdicts(**special: Review) -> Reply:
    """Replies with a pass for every item but those that are named."""
    return lambda items, _: {each.id: special.get(each.id, Review.passed()) for each in items}


def words(*silent: str) -> Reply:
    """Replies with the app's words for every item but those that are named."""

    def reply(items: Iterable[AnswerItem]) -> Mapping[str, ItemDraft | None]:
        said = {each.id: ItemDraft(item_id=each.id, text=f"Ask about {each.id}.") for each in items}
        return {item_id: None if item_id in silent else made for item_id, made in said.items()}

    return reply


def statuses(result: Any) -> dict[str, str]:
    return {each.item_id: each.status for each in result.items}


async def run(flow: Any, given: AnswerState, **options: Any) -> RunResult[AnswerResult]:
    """The whole result of a run that completes."""
    ran: RunResult[AnswerResult] = await flow.run(given, check=False, **options)
    assert ran.status == "completed", ran.failure
    return ran


@pytest.fixture(scope="session")
def kit() -> SimpleNamespace:
    """Everything above, for the tests."""
    tools: Sequence[Any] = (Port, Quota, item, state, draft, poor, drafts, verdicts, words, statuses, run)
    return SimpleNamespace(**{tool.__name__: tool for tool in tools})
