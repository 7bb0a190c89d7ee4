"""The flow of the host suite: it passes through everything that a flow is made of, and can be held up anywhere."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import anyio
import anyio.lowlevel

from ..compose import each
from ..flow import Flow
from ..graph import node, parallel
from ..outcome import Complete, Continue
from ..people import approve
from ..requests import Approval
from ..scope import Budget
from ..state import Log
from ..step import Step
from .host import HostedRun

__all__ = ["CONSENT", "PLACES", "VALUE", "WITHIN", "Points", "Work", "agree", "everywhere"]

CONSENT = "consent#1"
"""Where the flow waits for a person."""
PLACES = (
    "begin#1",
    "begin#2",
    "inner#1/one#1",
    "inner#1/two#1",
    "fan#1/left#1",
    "fan#1/right#1",
    "fan#1/mend#1",
    "map#1[0]/item#1",
    "map#1[1]/item#1",
    "map#1[2]/item#1",
    CONSENT,
    "end#1",
)
"""Every place that the flow comes to."""
WITHIN = 20.0
"""Real seconds after which nothing is waited for any more."""


class Points:
    """Where nodes say that they are there, in the order in which they do, and where one of them is held up."""

    def __init__(self, held: str = "") -> None:
        self.reached: list[str] = []
        self.left: list[str] = []
        self._held = held
        self._come = anyio.Event()
        self._free = anyio.Event()

    async def at(self, path: str) -> None:
        """Say that the visit of a path is there, and wait if it is to be held up."""
        self.reached.append(path)
        if path == self._held and not self._free.is_set():
            self._come.set()
            await self._free.wait()
        await anyio.lowlevel.checkpoint()
        self.left.append(path)

    def free(self) -> None:
        """Hold up nothing from now on."""
        self._free.set()

    async def come(self, run: HostedRun) -> None:
        """Return when a run is at the place where it is held up."""
        with anyio.fail_after(WITHIN):
            while not (run.requests if self._held == CONSENT else self._come.is_set()):
                await agree(run)
                await anyio.lowlevel.checkpoint()


async def agree(run: HostedRun) -> None:
    """Agree to everything that a run asks at this moment."""
    for request in () if run.is_paused else run.requests:
        await run.answer(request.id, Approval(True, "fine"), by="ann")


@dataclass
class Work:
    """What the flow works on."""

    done: Log[str] = field(default_factory=Log[str])
    count: int = 0
    number: int = 0
    consent: str = ""


async def _pass(step: Step[Work, Points]) -> None:
    await step.deps.at(step.path)
    step.state.done.append(step.path)


@node(starts_round=True)
async def begin(step: Step[Work, Points]) -> Continue[Literal["more", "done"]]:
    """Go around twice."""
    await _pass(step)
    step.state.count += 1
    return Continue("more" if step.state.count < 2 else "done", why={"count": step.state.count})


@node
async def one(step: Step[Work, Points]) -> Continue:
    """Be the first of a sub-flow."""
    await _pass(step)
    return Continue()


@node
async def two(step: Step[Work, Points]) -> Complete[tuple[str, ...]]:
    """Be the last of a sub-flow, and complete it."""
    await _pass(step)
    return Complete(tuple(step.state.done))


@node
async def left(step: Step[Work, Points]) -> Continue:
    """Be a branch."""
    await _pass(step)
    return Continue()


@node
async def right(step: Step[Work, Points]) -> Continue:
    """Be a branch that fails."""
    await _pass(step)
    raise LookupError("nothing on the right")


@node
async def mend(step: Step[Work, Points]) -> Continue:
    """Be where the failure of a branch leads."""
    assert step.error is not None
    await _pass(step)
    return Continue()


@node(starts_round=False)
async def item(step: Step[Work, Points]) -> Complete[str]:
    """Be an item."""
    await _pass(step)
    return Complete(f"{step.state.number}: {step.path}")


@node
async def end(step: Step[Work, Points]) -> Complete[tuple[str, ...]]:
    """Complete with everything that was done."""
    await _pass(step)
    return Complete((*step.state.done, step.state.consent))


def _enter(work: Work) -> Work:
    return Work(number=work.count)


def _leave(work: Work, found: tuple[str, ...]) -> Continue:
    for path in found:
        work.done.append(path)
    return Continue()


def _over(work: Work) -> list[Work]:
    return [replace(Work(), number=number) for number in range(3)]


def _collect(work: Work, found: list[str]) -> Continue:
    for text in found:
        work.done.append(text)
    return Continue()


def _take(work: Work, answer: Approval[None]) -> None:
    work.consent = f"{answer.approved} {answer.reason}".strip()


def everywhere() -> Flow[Work, Points, tuple[str, ...]]:
    """Return a flow with a loop, a sub-flow, branches, an error route, items, and a person."""
    inner = Flow("inner", one.to(two), two).as_node(
        "inner", state=Work, enter=_enter, leave=_leave, budget=Budget(rounds=5, seconds=1000)
    )
    fan = parallel("fan", left, right.on_error(mend))
    items = each("map", over=_over, do=Flow("items", item), collect=_collect, limit=2)
    consent = approve("consent", show=_question, take=_take, expires=10_000)
    return Flow(
        "everywhere",
        begin.to(more=begin, done=inner),
        inner.to(fan),
        fan.to(items),
        items.to(consent),
        consent.to(approved=end, denied=end),
        end,
    )


def _question(work: Work) -> str:
    return f"Is {work.count} right?"


VALUE = (
    "begin#1",
    "begin#2",
    "inner#1/one#1",
    "inner#1/two#1",
    "fan#1/left#1",
    "fan#1/mend#1",
    "0: map#1[0]/item#1",
    "1: map#1[1]/item#1",
    "2: map#1[2]/item#1",
    "end#1",
    "True fine",
)
"""What the flow completes with, whatever happened on the way, if a person agrees with the reason `fine`."""
