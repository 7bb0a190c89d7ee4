"""The flow: its seven nodes, its routes, and what a run costs."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace as Kit
from typing import Any

import pytest

import flowcore_answering
from flowcore import Budget, Flow
from flowcore.errors import BudgetExhausted, ContractError
from flowcore_answering import AnswerItem, AnswerState, ItemAnswer, answer_flow

NODES = ("prepare", "generate", "check", "review", "repair", "fallback", "finalize")
ROUTES = {
    ("prepare", "generate", "generate"),
    ("prepare", "fallback", "fallback"),
    ("generate", "", "check"),
    ("generate", "error", "fallback"),
    ("check", "review", "review"),
    ("check", "repair", "repair"),
    ("check", "fallback", "fallback"),
    ("check", "finalize", "finalize"),
    ("review", "finalize", "finalize"),
    ("review", "repair", "repair"),
    ("review", "fallback", "fallback"),
    ("repair", "", "check"),
    ("repair", "error", "fallback"),
    ("fallback", "", "finalize"),
}


def routes_of(flow: Any) -> set[tuple[str, str, str]]:
    edges = flow.graph.edges(data=True)
    return {(source, "error" if kind["kind"] == "error" else kind["label"], to) for source, to, kind in edges}


@pytest.mark.behaviour("S2-55")
def test_seven_nodes_and_every_route(kit: Kit) -> None:
    flow = answer_flow(generate=kit.Port(()))
    assert tuple(flow.graph.nodes) == NODES
    assert routes_of(flow) == ROUTES


@pytest.mark.behaviour("S2-55")
def test_every_choice_of_ports_gives_the_same_flow(kit: Kit) -> None:
    port = kit.Port(())
    bare = answer_flow(generate=port)
    full = answer_flow(generate=port, repair=port, review=port, fallback=port, max_repairs=9, requests=3)
    assert bare.to_json() == full.to_json()
    assert bare.signature == full.signature


@pytest.mark.behaviour("S2-55")
def test_the_picture_of_the_readme_is_the_flow(kit: Kit) -> None:
    readme = Path(flowcore_answering.__file__).parents[2] / "README.md"
    picture = readme.read_text().partition("```mermaid\n")[2].partition("```")[0]
    drawn = {
        (source, (label or "").strip("|"), target)
        for source, label, target in re.findall(r"^ +(\w+) -\.?->(\|\w+\|)? (\w+)$", picture, re.M)
    }
    assert drawn == ROUTES
    assert len(picture.strip().splitlines()) == 1 + len(ROUTES) + 2
    rounds = {source for source, starts in flow_rounds(kit).items() if starts}
    assert set(re.findall(r"^ +(\w+)\[\[", picture, re.M)) == rounds


def flow_rounds(kit: Kit) -> dict[str, bool]:
    nodes = answer_flow(generate=kit.Port(())).graph.nodes(data=True)
    return {name: attributes["starts_round"] for name, attributes in nodes}


@pytest.mark.behaviour("S2-57", "S2-58")
def test_generate_and_repair_start_a_round_and_nothing_else_does(kit: Kit) -> None:
    assert {name for name, starts in flow_rounds(kit).items() if starts} == {"generate", "repair"}


@pytest.mark.behaviour("S2-57")
async def test_a_run_without_repair_costs_one_round(kit: Kit) -> None:
    flow = answer_flow(generate=kit.Port(kit.drafts()), review=kit.Port(kit.verdicts()))
    run = await kit.run(flow, kit.state("a", "b"), budget=Budget(rounds=1))
    assert run.trace.path == "prepare > generate > check > review > finalize"
    assert run.usage.rounds == 1
    assert kit.statuses(run.value) == {"a": "answered", "b": "answered"}


@pytest.mark.behaviour("S2-58")
@pytest.mark.parametrize("repairs", [1, 2, 3])
async def test_each_repair_costs_one_round(kit: Kit, repairs: int) -> None:
    still_bad = [kit.drafts("a")] * (repairs - 1)
    repair = kit.Port(*still_bad, kit.drafts())
    flow = answer_flow(generate=kit.Port(kit.drafts("a")), repair=repair, max_repairs=5)
    run = await kit.run(flow, kit.state("a"), budget=Budget(rounds=10))
    assert run.usage.rounds == 1 + repairs == 1 + len(repair.calls)
    assert kit.statuses(run.value) == {"a": "answered"}


@pytest.mark.behaviour("S2-57", "S2-62")
async def test_a_run_that_cannot_generate_costs_nothing(kit: Kit) -> None:
    generate = kit.Port(kit.drafts())
    run = await kit.run(answer_flow(generate=generate), kit.state(kit.item("a", "pending")))
    assert run.trace.path == "prepare > fallback > finalize"
    assert (run.usage.rounds, generate.calls) == (0, [])


async def test_no_items_give_no_answers(kit: Kit) -> None:
    fallback = kit.Port(kit.words())
    run = await kit.run(answer_flow(generate=kit.Port(kit.drafts()), fallback=fallback), AnswerState(items=()))
    assert (run.value.items, run.usage.rounds, fallback.calls) == ((), 0, [])


@pytest.mark.behaviour("S2-12")
async def test_one_node_works_on_several_items(kit: Kit) -> None:
    generate = kit.Port(kit.drafts())
    run = await kit.run(answer_flow(generate=generate), kit.state(*"edcba"))
    assert generate.asked == [list("edcba")]
    assert [each.item_id for each in run.value.items] == list("edcba")
    assert [visit.node for visit in run.trace].count("generate") == 1


@pytest.mark.behaviour("S2-11")
async def test_question_node_and_item_are_three_things(kit: Kit) -> None:
    flow = answer_flow(generate=kit.Port(kit.drafts()))
    before = tuple(flow.graph.nodes)
    named_like_nodes = kit.state("generate", "finalize")
    run = await kit.run(flow, named_like_nodes)
    assert [visit.node for visit in run.trace] == ["prepare", "generate", "check", "finalize"]
    assert kit.statuses(run.value) == {"generate": "answered", "finalize": "answered"}
    assert tuple(flow.graph.nodes) == before
    kinds = {
        type(named_like_nodes),
        type(named_like_nodes.items[0]),
        type(run.value.items[0]),
        type(before[0]),
    }
    assert kinds == {AnswerState, AnswerItem, ItemAnswer, str}


@pytest.mark.behaviour("S2-56")
def test_the_core_does_not_bring_the_kit() -> None:
    code = "import flowcore, sys; print([name for name in sys.modules if name.startswith('flowcore_')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert ran.stdout == "[]\n"


@pytest.mark.behaviour("S2-56")
def test_there_is_no_flow_until_the_app_makes_one() -> None:
    ready_made = [name for name, value in vars(flowcore_answering).items() if isinstance(value, Flow)]
    assert ready_made == []


@pytest.mark.behaviour("S2-61")
def test_the_kit_takes_no_budget_of_its_own() -> None:
    settings = set(inspect.signature(answer_flow).parameters)
    assert settings == {
        *("generate", "repair", "review", "fallback", "max_repairs", "unreviewed"),
        *("requests", "checks", "can_invoke", "propagate"),
    }


async def test_one_flow_serves_many_runs_and_keeps_nothing_of_them(kit: Kit) -> None:
    flow = answer_flow(generate=kit.Port(kit.drafts()))
    given = kit.state("a")
    before = given.model_copy(deep=True)
    first, second = await flow.run(given), await flow.run(kit.state("b"))
    assert (kit.statuses(first), kit.statuses(second)) == ({"a": "answered"}, {"b": "answered"})
    assert given == before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_repairs": -1}, "max_repairs=-1, requests=0: give zero or more"),
        ({"requests": -1}, "max_repairs=1, requests=-1: give zero or more"),
    ],
)
def test_negative_numbers_are_refused(kit: Kit, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        answer_flow(generate=kit.Port(()), **settings)


def test_a_port_that_cannot_be_called_is_found_at_once() -> None:
    async def generate() -> list[Any]:
        return []

    with pytest.raises(ContractError, match=r"generate= cannot be called with 1 argument"):
        answer_flow(generate=generate)  # type: ignore[arg-type]


@pytest.mark.behaviour("S2-59")
async def test_rounds_that_ran_out_before_the_first_generation_are_seen_in_time(kit: Kit) -> None:
    generate = kit.Port(kit.drafts())
    run = await kit.run(answer_flow(generate=generate), kit.state("a"), budget=Budget(rounds=0))
    assert (kit.statuses(run.value), generate.calls) == ({"a": "blocked"}, [])


async def test_a_quota_that_promises_too_much_does_not_get_past_the_budget(kit: Kit) -> None:
    generate = kit.Port(kit.drafts())
    flow = answer_flow(generate=generate, fallback=kit.Port(kit.words()), can_invoke=kit.Quota(True))
    with pytest.raises(BudgetExhausted, match="rounds"):
        await flow.run(kit.state("a"), budget=Budget(rounds=0))
    assert generate.calls == []
