"""Code of users that is wrong: both type checkers refuse every line that is marked, and no other."""

from __future__ import annotations

from typing import Annotated, Literal, Never

from pydantic import BaseModel

from flowcore import (
    Approval,
    Budget,
    Complete,
    Continue,
    Flow,
    Log,
    Merge,
    Node,
    Retry,
    Step,
    approve,
    ask,
    each,
    node,
    parallel,
)
from flowcore.tools import ToolCatalog, ToolExecutor, tool


class Ticket(BaseModel):
    question: str = ""


class Special(Ticket):
    extra: str = ""


class Parcel(BaseModel):
    weight: int = 0


class Model:
    name: str = ""


@node
async def draft(step: Step[Ticket, Model]) -> Continue:
    return Continue()


@node
async def check(step: Step[Ticket]) -> Continue[Literal["good", "poor"]]:
    return Continue("good")


@node
async def deliver(step: Step[Ticket]) -> Complete[str]:
    return Complete(step.state.question)


@node
async def weigh(step: Step[Parcel]) -> Complete[int]:
    return Complete(step.state.weight)


@node
async def special(step: Step[Special]) -> Complete[str]:
    return Complete(step.state.extra)


# ---- In a node ---------------------------------------------------------------------------------------------


@node
async def wrong_label(step: Step[Ticket]) -> Continue[Literal["good"]]:
    return Continue("god")  # type: ignore[arg-type]  # pyright: ignore[reportReturnType]


@node
async def wrong_result(step: Step[Ticket]) -> Complete[int]:
    return Complete("one")  # type: ignore[arg-type]  # pyright: ignore[reportReturnType]


@node
async def nothing(step: Step[Ticket]) -> Continue:
    return None  # type: ignore[return-value]  # pyright: ignore[reportReturnType]


@node
async def no_field(step: Step[Ticket]) -> Continue:
    step.state.missing = 1  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    step.state.question = 1  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]
    return Continue()


@node
async def no_deps(step: Step[Ticket]) -> Continue:
    step.deps.name  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    return Continue()


@node  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue, reportUntypedFunctionDecorator]
async def plain_value(step: Step[Ticket]) -> str:
    return "good"


@node  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue, reportUntypedFunctionDecorator]
async def no_step(ticket: Ticket) -> Continue:
    return Continue()


@node  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue, reportUntypedFunctionDecorator]
async def two_arguments(step: Step[Ticket], other: int) -> Continue:
    return Continue()


@node(starts_rounds=True)  # type: ignore[call-overload, untyped-decorator]  # pyright: ignore[reportCallIssue, reportUntypedFunctionDecorator]
async def wrong_option(step: Step[Ticket]) -> Continue:
    return Continue()


# ---- In a row ----------------------------------------------------------------------------------------------

draft.to(weigh)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
draft.to(special)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
draft.to(good=deliver)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
check.to(deliver)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
check.to(good=weigh, poor=draft)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
check.to({"good": weigh})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
draft.to("check")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
draft.to(check).on_error(weigh)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
draft.to(check).on_error(deliver, KeyError())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
draft.to(check).on_error(deliver, KeyboardInterrupt)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
draft.to(check).over_limit(weigh)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
draft.using(timeout="20")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
draft.using(retry=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
draft.using(retires=Retry())  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
draft.named(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# ---- In a flow ---------------------------------------------------------------------------------------------

Flow("f", draft.to(check), weigh)  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
Flow("f", deliver, special)  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
Flow("f", deliver, on_error=weigh)  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
Flow("f", "deliver")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Flow(deliver)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

triage = Flow("triage", draft.to(check), check.to(good=deliver, poor=draft), deliver)


def counts(number: int) -> None: ...


async def runs() -> None:
    await triage.run(Ticket())  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    await triage.run(Ticket(), deps="model")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
    await triage.run(Parcel(), deps=Model())  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
    await triage.run({"question": ""}, deps=Model())  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
    await triage.run(Ticket(), deps=Model(), budgt=Budget())  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    await triage.run(Ticket(), deps=Model(), budget=5)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
    triage.run_sync(Ticket(), deps=Model(), budgt=Budget())  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    triage.run_sync(Ticket())  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    counts(await triage.run(Ticket(), deps=Model()))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    result = await triage.run(Ticket(), deps=Model(), check=False)
    result.value.upper()  # type: ignore[union-attr]  # pyright: ignore[reportOptionalMemberAccess]
    result.status = "completed"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    triage.name = "other"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


# ---- Composing ---------------------------------------------------------------------------------------------


def pack(ticket: Ticket) -> Parcel:
    return Parcel()


def pack_text(ticket: Ticket) -> str:
    return ""


def unpack(ticket: Ticket, result: int) -> Continue:
    return Continue()


def unpack_text(ticket: Ticket, result: str) -> Continue:
    return Continue()


def unpack_to_none(ticket: Ticket, result: int) -> None: ...


weighing = Flow("weighing", weigh)
weighing.as_node("w", state=Ticket, enter=pack_text, leave=unpack)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
weighing.as_node("w", state=Ticket, enter=pack, leave=unpack_text)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
weighing.as_node("w", state=Ticket, enter=pack, leave=unpack_to_none)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
weighing.as_node("w", state=Ticket, enter=pack)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
weighing.as_node("w", state=Ticket)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
shared: Node[Ticket, object, None, str] = weighing.as_node("w")  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]

# ---- Side by side ------------------------------------------------------------------------------------------


class Board(BaseModel):
    words: Annotated[list[str], Merge.append] = []
    history: Log[str] = Log()


@node
async def look(step: Step[Board]) -> Continue:
    step.state.history.append(1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    step.state.history[0] = "x"  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
    step.state.history.pop()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    step.state.history = ["x"]  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]
    return Continue()


@node
async def close(step: Step[Board]) -> Complete[int]:
    return Complete(1)


@node
async def ask_model(step: Step[Board, Model]) -> Continue:
    return Continue()


def parcels(board: Board) -> list[Parcel]:
    return []


def tickets(board: Board) -> list[Ticket]:
    return []


def total(draft: Board, results: list[int]) -> Continue:
    return Continue()


def total_text(draft: Board, results: list[str]) -> Continue:
    return Continue()


def to_none(draft: Board, results: list[int]) -> None: ...


async def slowly(draft: Board, results: list[int]) -> Continue:
    return Continue()


parallel("fan", look, weigh)  # type: ignore[misc, arg-type]  # pyright: ignore[reportArgumentType]
parallel("fan", look, close)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parallel("fan", check)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parallel("fan", look, join="most")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parallel("fan", look, "look")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parallel(look)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
parallel("fan", look, limit=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
fan = parallel("fan", look, ask_model)
without_deps: Node[Board, object, None, Never] = fan  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
each("map", over=tickets, do=weighing, collect=total)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
each("map", over=parcels, do=weighing, collect=total_text)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
each("map", over=parcels, do=weighing, collect=to_none)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
each("map", over=parcels, do=weighing, collect=slowly)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
each("map", over=parcels, do=weighing, collect=total, on_item_error="collect")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
each("map", over=parcels, do=weighing, collect=total, limit="4")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
each("map", over=parcels, do=weighing)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
each("map", over=parcels, do=weigh, collect=total)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]


def show_board(board: Board) -> str:
    return ""


def take_text(draft: Board, answer: str) -> None: ...


def take_parcel(draft: Board, answer: Approval[Parcel]) -> None: ...


async def take_slowly(draft: Board, answer: str) -> None: ...


consent = approve("consent", show=show_board, form=Parcel, take=take_parcel)
approve("consent", show=show_board, form=Ticket, take=take_parcel)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
approve("consent", show=show_board, take=take_parcel)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
approve("consent", show=show_board, form=Parcel, take=take_text)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
approve("consent", take=take_parcel)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
ask("question", show=show_board, form=str)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
ask("question", show=show_board, form=Parcel, take=take_text)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
ask("question", show=show_board, form=str, take=take_slowly)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
consent.to(look)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
consent.to(approved=weigh, denied=weigh)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Flow("mixed", consent.to(approved=close, denied=close), close, special)  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
numbers: Log[int] = Log(["a"])  # type: ignore[list-item]  # pyright: ignore[reportAssignmentType]
Merge("append")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@tool
def count(title: str) -> int:
    return len(title)


count(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
tool(on_failure="shout")(count.fn)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
ToolCatalog(["count"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
ToolExecutor(ToolCatalog([count]), policy=lambda proposal: True)  # type: ignore[arg-type, return-value]  # pyright: ignore[reportArgumentType]
