"""Runs that the tests of the page look at: a rich one, one that went another way, hostile ones, long ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Literal

import anyio
from examples import tool_loop
from pydantic import BaseModel

from flowcore import Budget, Complete, Continue, Flow, Log, Reserve, Retry, Step, each, node, parallel
from flowcore.messages import Message
from flowcore.recording import ModelCall, Recording, recording_of

EVIL = (
    '</script><script>alert(1)</script><img src=x onerror="alert(2)"><!-- \' "'
    " \u202etxet\u202c \u2028 \ud800 {{7*7}} &lt;"
)


class Busy(Exception):
    """The model has no time."""


class Ticket(BaseModel):
    question: str = "Where is my order?"
    kind: str = ""
    queries: tuple[str, ...] = ()
    docs: Log[str] = Log()
    orders: list[dict[str, str]] = []
    fails: bool = True
    rounds: int = 2
    reply: str = ""


@node(starts_round=False)
async def load(step: Step[Ticket]) -> Continue:
    step.state.question = f"{step.state.question} I asked twice."
    return Continue()


@node
async def classify(step: Step[Ticket]) -> Continue[Literal["question", "refund"]]:
    step.state.kind = "question"
    return Continue("question", why={"confidence": 0.83, "words": ["order"]})


@node
async def ask_human(step: Step[Ticket]) -> Continue:
    return Continue()


@node(starts_round=True)
async def plan(step: Step[Ticket]) -> Continue:
    step.state.queries = (*step.state.queries, f"order {step.round}")
    return Continue()


@node
async def search_docs(step: Step[Ticket]) -> Continue:
    step.state.docs.append("three to five days")
    step.emit("hits", {"count": 3})
    return Continue()


@node
async def fetch_orders(step: Step[Ticket]) -> Continue:
    if step.attempt == step.round == 1 and step.state.fails:
        raise ConnectionError("503 Service Unavailable")
    step.state.orders = [{"id": "7731", "status": "shipped"}]
    step.artifact("order.json", '{"id": 7731}', "application/json")
    return Continue()


@node
async def merge_facts(step: Step[Ticket]) -> Continue[Literal["enough", "not enough"]]:
    facts, needed = len(step.state.docs), step.state.rounds
    return Continue("enough" if facts >= needed else "not enough", why={"facts": facts, "needed": needed})


@node
async def draft(step: Step[Ticket]) -> Continue:
    if step.state.fails:
        raise Busy("529: try again later")
    step.state.reply = "It is on its way."
    return Continue()


@node(starts_round=False)
async def judge(step: Step[Ticket]) -> Continue[Literal["good", "poor"]]:
    return Continue("good", why={"score": 0.91})


@node(starts_round=True)
async def revise(step: Step[Ticket]) -> Continue:
    return Continue()


@node
async def accept(step: Step[Ticket]) -> Complete[str]:
    return Complete("good")


@node
async def fallback(step: Step[Ticket]) -> Continue:
    step.state.reply = "We will write to you."
    return Continue()


@node
async def send(step: Step[Ticket]) -> Complete[str]:
    return Complete(step.state.reply)


def triage() -> Flow[Ticket, object, str]:
    """A flow with everything that a page shows: a loop, branches, a sub-flow, retries, error routes."""
    research = parallel("research", search_docs, fetch_orders.using(retry=Retry(attempts=3)))
    review = Flow("review", judge.to(good=accept, poor=revise), revise.to(judge), accept).as_node("review")
    return Flow(
        "triage",
        load.to(classify),
        classify.to(question=plan, refund=ask_human),
        ask_human.to(send),
        plan.to(research),
        research.to(merge_facts).on_error(fallback),
        merge_facts.to({"enough": draft, "not enough": plan}),
        draft.to(review).on_error(fallback, Busy),
        review.to(send),
        fallback.to(send),
        send,
    )


def recorded(
    flow: Flow[Any, Any, Any],
    state: Any,
    name: str = "",
    title: str = "",
    budget: Budget | None = None,
    deps: Any = None,
) -> Recording:
    """Returns a run of a flow. It has a thread of its own, since a browser's keeps a loop of its own."""
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(flow.run_sync, state, deps=deps, check=False, budget=budget).result()
    return recording_of(result.trace, name=name, title=title)


@cache
def rich() -> Recording:
    """A run with two rounds, a retry, an error route, and requests to a model."""
    budget = Budget(rounds=3, tokens=8000)
    run = recorded(triage(), Ticket(), "42", "Where is my order?", budget)
    tokens = 0
    visits = []
    for visit in run.visits:
        calls: tuple[ModelCall, ...] = ()
        if visit.node in ("plan", "draft") and visit.ended is not None:
            tokens += 3600
            length = visit.ended - visit.started
            times = {"started": visit.started + length / 4, "ended": visit.ended - length / 4}
            calls = (ModelCall(model="small-1", tokens=3600, cost=0.002, **times),)
        visits.append(
            visit.model_copy(update={"calls": calls, "spent": visit.spent.model_copy(update={"tokens": tokens})})
        )
    spent = run.spent.model_copy(update={"tokens": tokens})
    return run.model_copy(update={"visits": tuple(visits), "spent": spent})


@cache
def tooled() -> Recording:
    """A run of the example of the tool loop: three calls of tools, of which the last one fails."""
    chat = tool_loop.Chat(Log([Message("user", "Where are Dune and Solaris?")]))
    desk = tool_loop.desk(*tool_loop.SCRIPT)
    return recorded(tool_loop.loop, chat, budget=Budget(rounds=8, requests=8, tool_calls=20), deps=desk)


@cache
def straight() -> Recording:
    """A run of the same flow that needed one round and went well."""
    return recorded(triage(), Ticket(fails=False, rounds=1), "41", "Where is my order?", Budget(rounds=3))


class Counter(BaseModel):
    left: int
    note: str = ""


def loop_flow() -> Flow[Counter, object, int]:
    @node(starts_round=True)
    async def work(step: Step[Counter]) -> Continue:
        step.state.left -= 1
        step.state.note = f"{step.state.left} left"
        return Continue()

    @node
    async def look(step: Step[Counter]) -> Continue[Literal["more", "done"]]:
        return Continue("more" if step.state.left else "done", why={"left": step.state.left})

    @node
    async def finish(step: Step[Counter]) -> Complete[int]:
        return Complete(step.state.left)

    return Flow("counting", work.to(look), look.to(more=work, done=finish), finish)


@cache
def looped(rounds: int) -> Recording:
    """A run that goes round `rounds` times: twice as many visits, and one."""
    return recorded(loop_flow(), Counter(left=rounds), budget=Budget(rounds=rounds))


@cache
def hostile() -> Recording:
    """A run in which every name and value would do harm if it were taken for more than text."""

    async def attack(step: Any) -> Any:
        step.state.note = EVIL + "x" * 10_000
        step.emit(EVIL, {EVIL: EVIL})
        return Continue(EVIL, why={EVIL: EVIL * 3})

    @node
    async def fail(step: Step[Counter]) -> Continue:
        raise ValueError(EVIL + "y" * 10_000)

    @node
    async def finish(step: Step[Counter]) -> Complete[str]:
        return Complete(EVIL)

    labels: Any = Literal.__getitem__(EVIL)
    attack.__annotations__ = {"step": Step[Counter], "return": Continue[labels]}
    attacking = node(starts_round=True, description=EVIL)(attack)
    name = EVIL.translate(dict.fromkeys(map(ord, "/[#]\u2028")))
    first, second, third = attacking.named(name), fail.named(f"{name}2"), finish.named(f"{name}3" + "z" * 10_000)
    flow = Flow(name, first.to({EVIL: second}), second.to(third).on_error(third), third, description=EVIL)
    return recorded(flow, Counter(left=1, note=EVIL), EVIL, EVIL)


class Part(BaseModel):
    number: int = 0


@node
async def wait(step: Step[Part]) -> Continue:
    await anyio.sleep(0.001 * (5 - step.state.number % 5))
    return Continue()


@node
async def tell(step: Step[Part]) -> Complete[int]:
    return Complete(step.state.number)


@cache
def crowded() -> Recording:
    """A run over forty items, eight at a time, whose steps run through each other."""

    def parts(counter: Counter) -> list[Part]:
        return [Part(number=number) for number in range(counter.left)]

    def collect(counter: Counter, results: list[int]) -> Complete[int]:
        return Complete(sum(results))

    items = each("items", over=parts, do=Flow("item", wait.to(tell), tell), collect=collect, limit=8)
    return recorded(Flow("crowd", items), Counter(left=40), budget=Budget(rounds=60))


@cache
def deep() -> Recording:
    """A run three levels deep whose first node is a loop: items in a sub-flow in a sub-flow."""

    @node
    async def measure(step: Step[Part]) -> Complete[int]:
        return Complete(step.state.number)

    def parts(counter: Counter) -> list[Part]:
        return [Part(number=number) for number in range(3)]

    def collect(counter: Counter, results: list[int]) -> Complete[int]:
        return Complete(sum(results))

    items = each("items", over=parts, do=Flow("item", measure), collect=collect)
    middle = Flow("middle", items)
    inner = middle.as_node("middle", state=Counter, enter=lambda counter: counter, leave=_pass)

    @node
    async def finish(step: Step[Counter]) -> Complete[int]:
        return Complete(step.state.left)

    @node(starts_round=True)
    async def again(step: Step[Counter]) -> Continue[Literal["again", "on"]]:
        step.state.left -= 1
        return Continue("again" if step.state.left else "on", why={"left": step.state.left})

    outer = Flow("outer", again.to(again=again, on=inner), inner.to(finish), finish)
    return recorded(outer, Counter(left=2))


def _pass(counter: Counter, result: int) -> Continue:
    counter.left = result
    return Continue()


@node(starts_round=True)
async def count_down(step: Step[Counter]) -> Continue[Literal["more", "on"]]:
    step.state.left -= 1
    return Continue("more" if step.state.left else "on", why={"left": step.state.left})


@node(starts_round=False)
async def second_fails(step: Step[Part]) -> Complete[int]:
    if step.state.number == 1:
        raise ValueError("one is bad")
    await anyio.sleep(5)
    return Complete(step.state.number)


@node
async def settle(step: Step[Counter]) -> Complete[int]:
    return Complete(step.state.left)


def _two_parts(counter: Counter) -> list[Part]:
    return [Part(number=number) for number in range(2)]


def _collect(counter: Counter, results: list[int]) -> Continue:
    return Continue()


@cache
def troubled() -> Recording:
    """A run over a limit of visits, with items of which one fails and the other is dropped, saved by a route."""
    items = each("items", over=_two_parts, do=Flow("item", second_fails), collect=_collect)
    saved = settle.named("saved")
    limited = count_down.to(more=count_down, on=settle).using(max_visits=2).over_limit(items)
    return recorded(Flow("troubled", limited, items.to(settle).on_error(saved), settle, saved), Counter(left=9))


@cache
def finished() -> Recording:
    """A run that goes on by its finish path, since its rounds ran out."""
    last = settle.named("last")
    flow = Flow(
        "bounded", count_down.to(more=count_down, on=settle), settle, last, finish=last, reserve=Reserve(rounds=1)
    )
    return recorded(flow, Counter(left=9), budget=Budget(rounds=4))
