"""Code of users that is right: both type checkers take every line and infer what stands in `assert_type`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial, wraps
from typing import Annotated, Literal, Never, TypeVar, assert_type

from pydantic import BaseModel, TypeAdapter

from flowcore import (
    Approval,
    Budget,
    Complete,
    Continue,
    Failure,
    Flow,
    ItemFailure,
    Log,
    Merge,
    ModelReply,
    ModelRunner,
    Node,
    Retry,
    Run,
    RunResult,
    Scope,
    Step,
    Unfinished,
    Usage,
    approve,
    ask,
    current_scope,
    each,
    node,
    parallel,
    result_of,
)
from flowcore.events import Event
from flowcore.messages import ToolSchema
from flowcore.models import Prepared
from flowcore.tools import (
    Allow,
    Ask,
    Deny,
    Proposal,
    RepetitionGuard,
    ToolCatalog,
    ToolContext,
    ToolExecutor,
    ToolResult,
    tool,
)


class Ticket(BaseModel):
    question: str
    draft: str = ""


@dataclass
class Parcel:
    weight: float = 0.0


class Reply(BaseModel):
    text: str


class Model:
    async def write(self, question: str) -> str:
        return question


class Store(Model):
    def save(self, text: str) -> None: ...


# ---- Nodes are of the types that their annotations say ------------------------------------------------------


@node(starts_round=True, description="Writes a draft.")
async def draft(step: Step[Ticket, Model]) -> Continue:
    step.state.draft = await step.deps.write(step.state.question)
    return Continue()


@node
async def check(step: Step[Ticket]) -> Continue[Literal["good", "poor"]]:
    length = len(step.state.draft)
    return Continue("good" if length > 20 else "poor", why={"length": length})


@node
def deliver(step: Step[Ticket, Store]) -> Complete[Reply]:
    step.deps.save(step.state.draft)
    return Complete(Reply(text=step.state.draft))


@node
async def apologise(step: Step[Ticket]) -> Complete[Reply]:
    assert_type(step.error, Failure | None)
    return Complete(Reply(text=f"Sorry: {step.error}"))


async def was_either(step: Step[Ticket]) -> Continue[Literal["again"]] | bool | None:
    assert_type(await step.once("number", lambda: 7), int)
    assert_type(await step.once("draft", partial(kept_text, step.state.draft)), str)
    return Continue("again") if step.state.draft else None


async def kept_text(text: str) -> str:
    return text


@node(id="either", effects=True, verify=was_either, writes=("draft",))
async def either(step: Step[Ticket]) -> Continue[Literal["again"]] | Complete[Reply]:
    if step.visit < 3:
        return Continue("again")
    return Complete(Reply(text=""))


assert_type(draft, Node[Ticket, Model, None, Never])
assert_type(check, Node[Ticket, object, Literal["good", "poor"], Never])
assert_type(deliver, Node[Ticket, Store, Never, Reply])
assert_type(either, Node[Ticket, object, Literal["again"], Reply])
assert_type(check.to(good=deliver, poor=draft), Node[Ticket, object, Literal["good", "poor"], Never])
assert_type(check.to({"good": deliver}, poor=draft), Node[Ticket, object, Literal["good", "poor"], Never])
assert_type(draft.to(check).using(timeout=20, retry=Retry(attempts=3)), Node[Ticket, Model, None, Never])
assert_type(deliver.on_error(apologise, ValueError).named("other"), Node[Ticket, Store, Never, Reply])
assert_type(
    draft.to(check).using(timeout=None, max_visits=2).over_limit(apologise), Node[Ticket, Model, None, Never]
)


# ---- Flows -------------------------------------------------------------------------------------------------

triage = Flow(
    "triage",
    draft.to(check).using(timeout=20, retry=Retry(attempts=3)).on_error(apologise, TimeoutError).on_error(None),
    check.to(good=deliver, poor=draft),
    deliver,
    apologise,
    on_error=apologise,
    node_timeout=30,
)
assert_type(triage, Flow[Ticket, Store, Reply])

several: Flow[Ticket, object, Reply | str]


@node
async def as_text(step: Step[Ticket]) -> Complete[str]:
    return Complete(step.state.draft)


several = Flow("several", check.to(good=apologise, poor=as_text), apologise, as_text)


async def runs() -> None:
    ticket = Ticket(question="why")
    assert_type(await triage.run(ticket, deps=Store(), budget=Budget(rounds=5, seconds=30)), Reply)
    assert_type(await triage.run(ticket, deps=Store(), check=False), RunResult[Reply])
    assert_type(await several.run(ticket), Reply | str)
    assert_type(several.run_sync(ticket), Reply | str)
    assert_type(several.run_sync(ticket, check=False), RunResult[Reply | str])
    assert_type(await several.run(ticket, deps="whatever", deadline=datetime.now(UTC)), Reply | str)
    result = await triage.run(ticket, deps=Store(), check=False, observers=[watch, watch_slowly])
    assert_type(result.value, Reply | None)
    assert_type(result.failure, Failure | None)
    assert_type(result.usage, Usage)
    if result.status == "completed":
        print(result.trace.path)  # noqa: T201
    async with triage.start(ticket, deps=Store()) as run:
        assert_type(run, Run[Reply])
        async for event in run.events():
            assert_type(event, Event)
        assert_type(await run.wait(), RunResult[Reply])
        assert_type(await run.result(), Reply)
        await run.cancel("user")


def watch(event: Event) -> None: ...


async def watch_slowly(event: Event) -> None: ...


def explains(error: Exception) -> str:
    return result_of(error).status


# ---- Composing ---------------------------------------------------------------------------------------------


def pack(ticket: Ticket) -> Parcel:
    return Parcel(weight=float(len(ticket.question)))


def unpack(draft: Ticket, result: float) -> Continue[Literal["light", "heavy"]]:
    draft.draft = str(result)
    return Continue("light" if result < 1 else "heavy")


def to_nothing(deps: Model) -> None: ...


@node
async def weigh(step: Step[Parcel]) -> Complete[float]:
    return Complete(step.state.weight)


weighing = Flow("weighing", weigh)
posted = weighing.as_node("posted", state=Ticket, enter=pack, leave=unpack, budget=Budget(rounds=2))
assert_type(posted, Node[Ticket, object, Literal["light", "heavy"], Never])
assert_type(weighing.as_node("shared"), Node[Parcel, object, None, Never])
assert_type(
    weighing.as_node("with_deps", state=Ticket, enter=pack, leave=unpack, deps=to_nothing),
    Node[Ticket, Model, Literal["light", "heavy"], Never],
)
around = Flow("around", posted.to(light=apologise, heavy=deliver), apologise, deliver)
assert_type(around, Flow[Ticket, Store, Reply])
assert_type(triage.replace(check=check), Flow[Ticket, Store, Reply])


# ---- Side by side ------------------------------------------------------------------------------------------


def smallest(before: int, values: Sequence[int]) -> int:
    return min(before, *values)


class Board(BaseModel):
    words: Annotated[list[str], Merge.append] = []
    least: Annotated[int, Merge(smallest)] = 0
    history: Log[str] = Log()


@node
async def look(step: Step[Board]) -> Continue:
    step.state.words.append("seen")
    step.state.history.append("looked")
    assert_type(step.state.history[0], str)
    assert_type(step.state.history[1:], list[str])
    assert_type(len(step.state.history), int)
    for word in step.state.history:
        assert_type(word, str)
    return Continue()


@node
async def ask_model(step: Step[Board, Model]) -> Continue:
    step.state.history += [await step.deps.write(word) for word in step.state.words]
    return Continue()


@node
async def close(step: Step[Board]) -> Complete[int]:
    return Complete(len(step.state.history))


looking = Flow("looking", look.to(close), close)
assert_type(Log([1, 2]), Log[int])
assert_type(parallel("fan", look), Node[Board, object, None, Never])
assert_type(parallel("fan", look, ask_model), Node[Board, Model, None, Never])
assert_type(parallel("fan", look, look.named("again"), join="any"), Node[Board, object, None, Never])
assert_type(
    parallel("fan", look.using(timeout=2).on_error(look.named("h")), looking.as_node("in"), join=2),
    Node[Board, object, None, Never],
)
assert_type(parallel("outer", parallel("inner", look), ask_model), Node[Board, Model, None, Never])
fan = parallel("fan", look, ask_model)
assert_type(Flow("side", fan.to(close), close), Flow[Board, Model, int])


def parcels(board: Board) -> list[Parcel]:
    return [Parcel(weight=float(len(word))) for word in board.words]


def lazily(board: Board) -> Iterator[Parcel]:
    yield Parcel()


def total(draft: Board, results: list[float]) -> Continue:
    draft.least = int(sum(results))
    return Continue()


def light_or_heavy(draft: Board, results: list[float]) -> Continue[Literal["light", "heavy"]]:
    return Continue("light" if sum(results) < 1 else "heavy")


def as_far_as_it_got(draft: Board, results: list[float | Unfinished]) -> Continue:
    draft.words = [str(one.index) for one in results if isinstance(one, Unfinished)]
    return Continue()


def with_failures(draft: Board, results: list[float | ItemFailure]) -> Continue:
    draft.words = [one.failure.message for one in results if isinstance(one, ItemFailure)]
    return Continue()


def with_all(draft: Board, results: list[float | ItemFailure | Unfinished]) -> Complete[int]:
    return Complete(len(results))


assert_type(each("map", over=parcels, do=weighing, collect=total), Node[Board, object, None, Never])
assert_type(each("map", over=lazily, do=weighing, collect=total, limit=9), Node[Board, object, None, Never])
assert_type(
    each("map", over=parcels, do=weighing, collect=light_or_heavy, budget=Budget(requests=3)),
    Node[Board, object, Literal["light", "heavy"], Never],
)
assert_type(each("map", over=parcels, do=weighing, collect=as_far_as_it_got), Node[Board, object, None, Never])
assert_type(
    each("map", over=parcels, do=weighing, collect=with_failures, on_item_error="collect"),
    Node[Board, object, None, Never],
)
assert_type(
    each("map", over=parcels, do=weighing, collect=with_all, on_item_error="collect"),
    Node[Board, object, Never, int],
)
mapped = each("map", over=parcels, do=weighing, collect=total)
assert_type(parallel("fan", mapped, look, ask_model), Node[Board, Model, None, Never])
assert_type(Flow("items", mapped.to(close), close), Flow[Board, object, int])


# ---- Nodes that are made ------------------------------------------------------------------------------------

StateT = TypeVar("StateT", bound=BaseModel)


def clear(kind: type[StateT]) -> Node[StateT, object, None, Never]:
    """A node for several state types is made by a function of the type."""

    async def clearing(step: Step[StateT]) -> Continue:
        return Continue()

    return node(id=f"clear_{kind.__name__}")(clearing)


assert_type(clear(Ticket), Node[Ticket, object, None, Never])


def kit(write: Callable[[str], Awaitable[str]], steps: Sequence[str] = ()) -> Flow[Ticket, object, Reply]:
    """A kit is a function that returns a flow."""

    @node
    async def begin(step: Step[Ticket]) -> Continue:
        step.state.draft = await write(step.state.question)
        return Continue()

    return Flow("kit", begin.to(apologise), apologise)


assert_type(kit(Model().write).as_node("kit"), Node[Ticket, object, None, Never])


class Agent:
    """A method may be a node."""

    async def act(self, step: Step[Ticket]) -> Complete[Reply]:
        return Complete(Reply(text=""))


assert_type(node(Agent().act), Node[Ticket, object, Never, Reply])


def traced(
    fn: Callable[[Step[Ticket]], Awaitable[Complete[Reply]]],
) -> Callable[[Step[Ticket]], Awaitable[Complete[Reply]]]:
    @wraps(fn)
    async def inner(step: Step[Ticket]) -> Complete[Reply]:
        return await fn(step)

    return inner


@node
@traced
async def decorated(step: Step[Ticket]) -> Complete[Reply]:
    return Complete(Reply(text=""))


assert_type(decorated, Node[Ticket, object, Never, Reply])


# ---- Budgets and scopes -------------------------------------------------------------------------------------


async def pays() -> None:
    async with Scope(Budget(requests=3)) as scope:
        assert_type(scope.can_invoke(requests=1, rounds=0), bool)
        async with current_scope().request() as request:
            request.used(tokens=10, cost=0.1)
        scope.charge(tool_calls=1)
        assert_type(scope.narrow(Budget(tokens=5)), Scope)
        assert_type(scope.used, Usage)


# ---- People ------------------------------------------------------------------------------------------------


class Address(BaseModel):
    city: str


@dataclass
class Remarks:
    urgent: bool = False


def show_ticket(ticket: Ticket) -> Ticket:
    return ticket


def note_reason(draft: Ticket, answer: Approval[None]) -> None:
    draft.draft = answer.reason


def note_any(draft: Ticket, answer: Approval) -> None:
    draft.draft = answer.reason


def note_remarks(draft: Ticket, answer: Approval[Remarks]) -> None:
    if answer.form is not None:
        assert_type(answer.form, Remarks)
        draft.draft = "urgent" if answer.form.urgent else ""


def note_city(draft: Ticket, answer: Address) -> None:
    draft.draft = answer.city


def note_words(draft: Ticket, answer: str) -> None:
    draft.draft = answer


Consent = Literal["approved", "denied", "expired"]
assert_type(approve("plain", show=show_ticket), Node[Ticket, object, Consent, Never])
assert_type(approve("reasoned", show=show_ticket, take=note_reason), Node[Ticket, object, Consent, Never])
assert_type(approve("loose", show=show_ticket, take=note_any), Node[Ticket, object, Consent, Never])
formal = approve("formal", show=show_ticket, form=Remarks, take=note_remarks, expires=60)
assert_type(formal, Node[Ticket, object, Consent, Never])
where = ask("where", show=show_ticket, form=Address, take=note_city)
assert_type(where, Node[Ticket, object, Literal["answered", "expired"], Never])
words = ask("words", show=lambda ticket: ticket.question, form=str, take=note_words, starts_round=True)
assert_type(words, Node[Ticket, object, Literal["answered", "expired"], Never])
asked = Flow(
    "asked",
    formal.to(approved=where, denied=deliver),
    where.to(answered=words, expired=deliver),
    words.to({"answered": deliver, "expired": deliver}),
    deliver,
)


async def answers(run: Run[Reply]) -> None:
    for request in run.requests:
        assert_type(request.question, str)
        assert_type(request.expires, datetime)
    await run.answer(None, Approval(True, "fine", Remarks(urgent=True)))
    await run.answer("id", {"city": "Bonn"}, by="ann")


# ---- Tools -------------------------------------------------------------------------------------------------


@tool
async def find_shelf(title: str, copies: int = 1) -> list[str]:
    return [title] * copies


@tool(effects=True, timeout=5, on_failure="fail")
def lend(context: ToolContext[int], title: str) -> str:
    return f"{title} {context.deps + 1}"


def may_lend(proposal: Proposal) -> Allow | Deny | Ask:
    return Deny("no") if proposal.tool.name == "lend" else Ask() if proposal.arguments else Allow()


def gently(proposal: Proposal) -> dict[str, object] | None:
    return None


def total_copies(title: str) -> int:
    return len(title)


catalog = ToolCatalog([find_shelf, lend, total_copies])
executor = ToolExecutor(catalog, policy=may_lend, hooks=[gently], guard=RepetitionGuard(same_call=None))


async def uses_tools(reply: ModelReply) -> None:
    assert_type(await find_shelf("Dune", copies=2), list[str])
    assert_type(await catalog.for_request(["lend"]), tuple[ToolSchema, ...])
    assert_type(await executor.run(reply.tool_calls), tuple[ToolResult, ...])


async def asks_a_model(runner: ModelRunner, tools: list[ToolSchema]) -> None:
    assert_type(await runner.invoke("hello"), ModelReply[str])
    assert_type((await runner.invoke("hello", output=Ticket)).value, Ticket)
    assert_type((await runner.invoke("hello", output=list[int])).value, list[int])
    assert_type((await runner.invoke("hello", output=TypeAdapter(int))).value, int)
    assert_type((await runner.invoke("hello", output=Ticket, tools=tools)).value, Ticket | None)
    prepared = runner.prepare(output=Ticket)
    assert_type(prepared, Prepared[Ticket])
    assert_type((await runner.invoke("hello", prepared=prepared)).value, Ticket)
    assert_type(await runner.invoke(prepared=runner.prepare(messages="hello")), ModelReply[str])
