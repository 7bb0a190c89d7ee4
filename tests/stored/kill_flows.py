"""Flows that are killed: composites of every kind, failures and their routes, limits, effects, people.

What they come to is the same however often their process is killed. `world()` is what they see outside of the run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal

import anyio

from flowcore import (
    Approval,
    Budget,
    Complete,
    Continue,
    Flow,
    ItemFailure,
    Log,
    Merge,
    Node,
    Reserve,
    Retry,
    Step,
    Unfinished,
    approve,
    ask,
    each,
    node,
    parallel,
)
from flowcore.errors import NotDone
from flowcore.messages import ToolCall
from flowcore.tools import ToolCatalog, ToolExecutor, tool

LONG = 1_000.0


class Outside:
    """What is outside of the run and outlives it: which visits began, and which effects took place."""

    def __init__(self, folder: Path, life: int) -> None:
        self._visits = os.open(folder / "visits", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        self._effects = os.open(folder / "effects", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        self._folder = folder
        self._life = life
        self._rng = Random(f"{folder} {life}")

    async def begin(self, step: Step[Any, Any]) -> None:
        """Writes down that a visit begins, and takes a moment."""
        self.write(self._visits, f"{self._life} {step.path} {step.attempt}")
        await anyio.sleep(self._rng.choice([0.0, 0.0, 0.001, 0.003]))

    async def effect(self, what: str) -> None:
        """Does something that must be done once. Before and after it there is time to be killed."""
        await anyio.sleep(0.002)
        self.write(self._effects, what)
        await anyio.sleep(0.002)

    def was_done(self, what: str) -> bool:
        return what in (self._folder / "effects").read_text().splitlines()

    def write(self, file: int, line: str) -> None:
        os.write(file, f"{line}\n".encode())
        os.fsync(file)


_outside: list[Outside] = []


def world() -> Outside:
    """Returns what the flows of this process see outside."""
    return _outside[-1]


def enter_world(folder: Path, life: int) -> None:
    _outside.append(Outside(folder, life))


class Work(Exception):
    """A failure of the work, of a class of our own."""


@dataclass
class State:
    n: int = 0
    log: Log[str] = field(default_factory=Log)
    words: Annotated[list[str], Merge.append] = field(default_factory=list)
    facts: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass
class Item:
    index: int
    log: Log[str] = field(default_factory=Log)


Act = Callable[[Step[Any, Any]], None]


def said(step: Step[Any, Any]) -> None:
    step.state.log.append(f"{step.path} {step.visit}")


def nothing(step: Step[Any, Any]) -> None:
    """Changes nothing: how often it is done is chance."""


def does(id: str, act: Act = said, state: type = State, **options: Any) -> Node[Any, Any, None, Any]:
    """Returns a node that acts and goes on."""

    async def function(step: Any) -> Continue:
        await world().begin(step)
        act(step)
        return Continue()

    function.__annotations__.update(step=Step[state], **{"return": Continue})  # type: ignore[valid-type]
    return node(id=id, **options)(function)


def fails(id: str, times: int = 1_000, error: type[Exception] = Work, state: type = State) -> Any:
    """Returns a node whose first attempts fail."""

    def act(step: Step[Any, Any]) -> None:
        said(step)
        if step.attempt <= times:
            raise error(f"{id} at attempt {step.attempt}")

    return does(id, act, state)


def hangs(id: str) -> Any:
    """Returns a node that is still at work when nobody waits for it any more."""

    async def function(step: Step[State]) -> Continue:
        await anyio.sleep(LONG)
        return Continue()

    return node(id=id, starts_round=False)(function)


@node(starts_round=False)
async def end(step: Step[State]) -> Complete[str]:
    await world().begin(step)
    state = step.state
    words = f"{state.n} {list(state.log)} {state.words} {sorted(state.facts.items())}"
    return Complete(f"{words} {step.error} {step.exhausted}")


def turns(times: int, id: str = "turn", **options: Any) -> Node[Any, Any, Any, Any]:
    """Returns a node that says `more` until it was entered so many times."""

    async def function(step: Step[State]) -> Continue[Literal["more", "done"]]:
        await world().begin(step)
        step.state.n += 1
        step.state.facts[f"{id}{step.visit}"] = (step.visit, step.state.n)
        return Continue("more" if step.visit < times else "done", why={"visit": step.visit})

    function.__name__ = id
    return node(id=id, **options)(function)


# ---- Composites --------------------------------------------------------------------------------------------


def loop(name: str, times: int, **options: Any) -> Flow[Any, Any, Any]:
    turn, work = turns(times, starts_round=True), does("work")
    return Flow(name, turn.to(more=work, done=end), work.to(turn), end, **options)


def nested() -> Flow[Any, Any, Any]:
    """Sub-flows: shared, with a state of their own, with a budget of their own, inside one another."""

    def enter(state: State) -> State:
        return State(n=state.n * 100, log=Log(["in"]))

    def leave(draft: State, result: str) -> Continue:
        draft.words.append(result[:8])
        return Continue()

    inner = loop("inner", 2)
    own = inner.as_node("own", state=State, enter=enter, leave=leave, budget=Budget(rounds=5))
    shared = inner.as_node("shared", state=State)
    middle = Flow("middle", does("first").to(own), own.to(shared), shared.to(end), end)
    twice = [middle.as_node(id, state=State, budget=budget) for id, budget in (("a", None), ("b", Budget()))]
    return Flow("nested", twice[0].to(twice[1]), twice[1].to(end), end)


def fans() -> Flow[Any, Any, Any]:
    """Branches: all, any and two of three, one inside another, with a handler of their own."""

    def word(step: Step[Any, Any]) -> None:
        step.state.words.append(step.path)
        said(step)

    nest = parallel("nest", does("x", word), does("y", word))
    steps = Flow("steps", does("s1", word).to(end), end).as_node("steps", state=State)
    every = parallel("every", does("l", word), fails("bad").on_error(does("mend", word)), nest, steps)
    first = parallel("first", hangs("slow"), does("quick", word), join="any")
    some = parallel("some", does("p", word), hangs("late"), does("q", word), join=2)
    return Flow("fans", every.to(first), first.to(some), some.to(end), end)


def items() -> Flow[Any, Any, Any]:
    """Items: two at a time, some fail and are collected; items inside items."""

    @node(starts_round=False)
    async def finished(step: Step[Item]) -> Complete[str]:
        await world().begin(step)
        return Complete(f"{step.state.index}{list(step.state.log)}")

    def odd(step: Step[Any, Any]) -> None:
        said(step)
        if step.state.index % 3 == 1:
            raise Work(f"item {step.state.index}")

    def over(state: Any) -> list[Item]:
        return [Item(index) for index in range(5)]

    def collect(draft: State, results: list[Any]) -> Continue:
        for one in results:
            draft.log.append(f"{one.failure.type} {one.failure}" if isinstance(one, ItemFailure) else one)
        return Continue()

    work = does("work", odd, Item, starts_round=False)
    flow = Flow("item", work.to(finished), finished)
    row = each("row", over=over, do=flow, collect=collect, limit=2, on_item_error="collect")
    outer_item = Flow("outer", does("begin", starts_round=False).to(row), row.to(end), end)

    def over_outer(state: State) -> list[State]:
        return [State(n=index) for index in range(3)]

    def collect_outer(draft: State, results: list[str]) -> Continue:
        draft.words += [str(len(one)) for one in results]
        draft.log.append(results[-1])
        return Continue()

    outer = each("outer", over=over_outer, do=outer_item, collect=collect_outer, limit=2)
    return Flow("items", row.to(outer), outer.to(end), end)


# ---- Failures and limits -----------------------------------------------------------------------------------


def failures() -> Flow[Any, Any, Any]:
    """Error routes by class, retries, a default route, visits that run out, failures that go out of a sub-flow."""

    def told(step: Step[Any, Any]) -> None:
        step.state.words.append(f"{step.error.path} {step.error.type} {step.error}" if step.error else "none")

    tried = fails("tried", 2).using(retry=Retry(attempts=3, wait=0.002))
    by_class, handled = fails("by_class", error=KeyError), does("handled", told)
    second = fails("d2", error=ValueError)
    deep = Flow("deep", does("d1").to(second), second.to(end), end)
    out = deep.as_node("out", state=State)
    caught, last, limited = does("caught", told), fails("last"), does("limited", starts_round=True)
    given_up = does("given_up", told)
    return Flow(
        "failures",
        tried.to(by_class),
        by_class.to(end).on_error(end, ValueError).on_error(handled, LookupError),
        handled.to(out),
        out.to(end).on_error(caught, ValueError),
        caught.to(limited),
        limited.to(limited).using(max_visits=3).over_limit(last),
        last.to(end),
        given_up.to(end),
        end.on_error(None),
        on_error=given_up,
    )


def limits() -> Flow[Any, Any, Any]:
    """Budgets that run out: of a sub-flow with a finish path, of items, and of the run."""

    @node(starts_round=False)
    async def finish(step: Step[State]) -> Complete[str]:
        await world().begin(step)
        async with step.scope.request() as request:
            request.used(tokens=3)
        return Complete(f"finished {step.exhausted} {step.state.n} {list(step.state.log)} {step.state.words}")

    @node(starts_round=False)
    async def done(step: Step[Item]) -> Complete[int]:
        await world().begin(step)
        step.scope.charge(requests=1)
        return Complete(step.state.index)

    def over(state: State) -> list[Item]:
        return [Item(index) for index in range(4)]

    def collect(draft: State, results: list[int | Unfinished]) -> Continue:
        draft.words += ["unfinished" if isinstance(one, Unfinished) else str(one) for one in results]
        return Continue()

    endless, work = turns(1_000, starts_round=True), does("work")
    routes = (endless.to(more=work, done=end), work.to(endless), end, finish)
    inner = Flow("inner", *routes, finish=finish, reserve=Reserve(requests=1))
    limited = inner.as_node("limited", state=State, budget=Budget(rounds=3, requests=1))
    few = each("few", over=over, do=Flow("item", done), collect=collect, limit=1, budget=Budget(requests=2))
    turn = turns(1_000, "again", starts_round=True)
    return Flow(
        "limits",
        limited.to(few),
        few.to(turn),
        turn.to(more=turn, done=end),
        end,
        finish,
        finish=finish,
        reserve=Reserve(requests=1),
    )


# ---- Effects and people ------------------------------------------------------------------------------------


def effects() -> Flow[Any, Any, Any]:
    """Effects of nodes and of tools, that are looked after or asked about when they were interrupted."""

    async def pay(step: Step[State]) -> Continue:
        await world().begin(step)
        await world().effect(f"pay {step.state.n}")
        return Continue()

    def was_paid(step: Step[State]) -> bool:
        return world().was_done(f"pay {step.state.n}")

    @node(effects=True)
    async def send(step: Step[State]) -> Continue:
        await world().begin(step)
        await world().effect(f"send {step.state.n}")
        return Continue()

    def charged(amount: int) -> bool:
        return world().was_done(f"charge {amount}")

    @tool(effects=True, verify=charged)
    async def charge(amount: int) -> str:
        """Charge a card."""
        await world().effect(f"charge {amount}")
        return f"charged {amount}"

    executor = ToolExecutor(ToolCatalog([charge]))

    @node
    async def call(step: Step[State]) -> Continue:
        await world().begin(step)
        wanted = [step.state.n * 10 + number for number in range(3)]
        for _ in range(20):
            calls = [ToolCall(f"c{amount}", "charge", f'{{"amount": {amount}}}') for amount in wanted]
            results = await executor.run(calls)
            wanted = [amount for amount, one in zip(wanted, results, strict=True) if one.status != "ok"]
            if not wanted:
                break
        return Continue()

    paying = node(id="pay", effects=True, verify=was_paid)(pay)
    turn = turns(3, starts_round=True)
    again, resend = (does(id, nothing, starts_round=True) for id in ("again", "resend"))
    return Flow(
        "effects",
        turn.to(more=paying, done=end),
        paying.to(send).on_error(again, NotDone),
        again.to(paying),
        send.to(call).on_error(resend, NotDone),
        resend.to(send),
        call.to(turn),
        end,
    )


def consent() -> Flow[Any, Any, Any]:
    """People: an approval inside a branch beside others, then a question, then an approval in a sub-flow."""

    def show(state: State) -> str:
        return f"Shall we, after {len(state.log)}?"

    def note(draft: State, answer: Approval[Any]) -> None:
        draft.words.append(f"{answer.approved} by {answer.by}" if hasattr(answer, "by") else str(answer.approved))

    def take(draft: State, answer: str) -> None:
        draft.words.append(answer)

    def asking(name: str) -> Flow[Any, Any, Any]:
        agreed = approve("agreed", show=show, take=note, expires=100_000)
        before, no = does("before", starts_round=True), does("no")
        return Flow(name, before.to(agreed), agreed.to(approved=end, denied=no), no.to(end), end)

    beside = [asking(f"ask{number}").as_node(f"ask{number}", state=State) for number in range(2)]
    fan = parallel("fan", *beside, does("other"))
    where = ask("where", show=show, form=str, take=take, expires=100_000)
    last = asking("last").as_node("last", state=State)
    return Flow("consent", fan.to(where), where.to(answered=last, expired=end), last.to(end), end)


FLOWS: dict[str, Callable[[], Flow[Any, Any, Any]]] = {
    made.__name__: made for made in (nested, fans, items, failures, limits, effects, consent)
}
BUDGETS: dict[str, Budget] = {"limits": Budget(rounds=8, requests=20), "nested": Budget(rounds=60)}
DEVIATES: Sequence[str] = ("effects",)
"""Where more visits are made when it is found that an interrupted effect was not done."""
