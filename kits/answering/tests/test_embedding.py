"""An answer flow inside a flow of the app: it is paid from the same budget and stays what it is."""

from __future__ import annotations

from types import SimpleNamespace as Kit

import pytest
from pydantic import BaseModel

from flowcore import Budget, BudgetExhausted, Complete, Continue, Flow, Step, node
from flowcore_answering import AnswerItem, AnswerResult, AnswerState, answer_flow


class Desk(BaseModel):
    items: tuple[AnswerItem, ...]
    said: tuple[str, ...] = ()


@node(starts_round=False)
async def open_desk(step: Step[Desk]) -> Continue:
    return Continue()


@node
async def close_desk(step: Step[Desk]) -> Complete[tuple[str, ...]]:
    return Complete(step.state.said)


def into(desk: Desk) -> AnswerState:
    return AnswerState(items=desk.items)


def back(desk: Desk, result: AnswerResult) -> Continue:
    desk.said += tuple(f"{each.item_id} {each.status}" for each in result.items)
    return Continue()


def desk_of(flow: Flow[AnswerState, object, AnswerResult]) -> Flow[Desk, object, tuple[str, ...]]:
    first = flow.as_node("first", state=Desk, enter=into, leave=back)
    second = flow.as_node("second", state=Desk, enter=into, leave=back)
    return Flow("desk", open_desk.to(first), first.to(second), second.to(close_desk), close_desk)


async def test_it_is_paid_from_the_budget_around_it(kit: Kit) -> None:
    flow = answer_flow(generate=kit.Port(kit.drafts("b")), repair=kit.Port(kit.drafts()))
    given = Desk(items=(kit.item("a"), kit.item("b")))
    run = await kit.run(desk_of(flow), given, budget=Budget(rounds=3))
    assert run.usage.rounds == 3
    assert run.value == ("a answered", "b answered", "a answered", "b blocked")
    inner = "prepare > generate > check > repair > check > finalize"
    late = "prepare > generate > check > fallback > finalize"
    assert run.trace.path == f"open_desk > first({inner}) > second({late}) > close_desk"


async def test_running_out_inside_is_the_error_of_the_run(kit: Kit) -> None:
    flow = answer_flow(generate=kit.Port(kit.drafts()), can_invoke=kit.Quota(True))
    with pytest.raises(BudgetExhausted, match="rounds"):
        await desk_of(flow).run(Desk(items=(kit.item("a"),)), budget=Budget(rounds=1))
