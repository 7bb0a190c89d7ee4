"""What is wrong with branches, items and joins is found when the flow is built, at the place where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

import networkx as nx
import pytest

from flowcore import Complete, Continue, Flow, FlowError, Retry, each, parallel

from ..core.graph.finding import kinds, only
from ..core.runs import does, ends
from .states import Item, Page, item_flow, items


def leaf(id: str, **options: Any) -> Any:
    options.setdefault("starts_round", False)
    return does(lambda step: None, id, Page, **options)


END = ends(Page)


def collect(draft: Page, results: list[int]) -> Continue:
    return Continue()


@pytest.mark.behaviour("A09")
@pytest.mark.parametrize("join", [0, -1, 3, 4])
def test_a_join_that_cannot_be_satisfied_is_refused(join: int) -> None:
    problem = only(parallel("fan", leaf("a"), leaf("b"), join=join).to(END), END)
    assert (problem.code, problem.where) == ("impossible_join", "fan")
    assert f"{join} of 2" in problem.message


@pytest.mark.parametrize("join", ["all", "any", 1])
def test_a_parallel_without_branches_is_refused(join: Any) -> None:
    assert kinds(parallel("fan", join=join).to(END), END) == [("no_branches", "fan")]


@pytest.mark.parametrize("join", ["most", "ALL", None, 1.5, True])
def test_a_join_that_is_no_join_is_refused(join: Any) -> None:
    with pytest.raises((FlowError, TypeError, ValueError)) as caught:
        Flow("f", parallel("fan", leaf("a"), leaf("b"), join=join).to(END), END)
    assert "join" in str(caught.value)


@pytest.mark.parametrize(
    ("outcome", "act"),
    [(Complete[str], lambda step: Complete("x")), (Continue[Literal["a", "b"]], lambda step: Continue("a"))],
    ids=["completes", "labels"],
)
def test_a_branch_that_completes_or_labels_is_refused(outcome: Any, act: Any) -> None:
    wrong = does(act, "wrong", Page, outcome)
    assert ("branch_outcome", "fan/wrong") in kinds(parallel("fan", leaf("a"), wrong).to(END), END)


@pytest.mark.parametrize("place", ["branch", "handler", "nested"])
def test_routes_of_a_branch_other_than_error_routes_are_refused(place: str) -> None:
    strayed = leaf("strayed").to(END)
    fan = {
        "branch": lambda: parallel("fan", leaf("a"), strayed),
        "handler": lambda: parallel("fan", leaf("a").on_error(strayed)),
        "nested": lambda: parallel("fan", parallel("inner", leaf("a"), strayed)),
    }[place]()
    where = "fan/inner/strayed" if place == "nested" else "fan/strayed"
    assert kinds(fan.to(END), END) == [("branch_with_routes", where)]


@pytest.mark.parametrize("id", ["a/b", "", " ", "a#1", "a[0]"])
def test_a_branch_with_an_id_that_paths_are_written_with_is_refused(id: str) -> None:
    assert [code for code, _ in kinds(parallel("fan", leaf("a"), leaf("b").named(id)).to(END), END)] == ["bad_id"]


def test_two_branches_of_one_id_are_refused() -> None:
    assert [code for code, _ in kinds(parallel("fan", leaf("a"), leaf("a")).to(END), END)] in (
        ["duplicate_id"], ["shared_branch"], ["two_definitions"],
    )  # fmt: skip


def test_writes_that_collide_are_named_with_both_branches_and_the_field() -> None:
    a, b = leaf("a", writes=("text", "title")), leaf("b", writes=("text",))
    problem = only(parallel("fan", a, leaf("c", writes=("number",)), b).to(END), END)
    assert (problem.code, problem.where) == ("colliding_writes", "fan")
    assert "'a'" in problem.message
    assert "'b'" in problem.message
    assert "'text'" in problem.message


@pytest.mark.parametrize("field", ["words", "log", "most"])
def test_writes_of_one_field_with_a_rule_or_a_log_collide_with_nothing(field: str) -> None:
    fan = parallel("fan", leaf("a", writes=(field,)), leaf("b", writes=(field,)))
    assert Flow("f", fan.to(END), END).name == "f"


def test_problems_inside_branches_inside_branches_are_named_by_their_path() -> None:
    fan = parallel("fan", parallel("empty"), parallel("inner", leaf("a"), join=2), leaf("b", writes=("nowhere",)))
    assert sorted(kinds(fan.to(END), END)) == [
        ("impossible_join", "fan/inner"), ("no_branches", "fan/empty"), ("unknown_write", "fan/b"),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["parallel", "each", "branch"])
def test_a_retry_on_a_composite_is_refused(kind: str) -> None:
    row: Any = parallel("fan", leaf("a"))
    if kind == "each":
        row = each("fan", over=items(1), do=item_flow(lambda step: None), collect=collect)
    row = parallel("outer", row.using(retry=Retry())) if kind == "branch" else row.using(retry=Retry())
    where = "outer/fan" if kind == "branch" else "fan"
    assert kinds(row.to(END), END) == [("retry_on_composite", where)]


def wrong_items(page: Page) -> list[Page]:
    return [page]


def no_items(page: Page) -> int:
    return 3


def of_another_state(item: Item) -> list[Item]:
    return [item]


@pytest.mark.parametrize("over", [wrong_items, no_items])
def test_what_gives_no_states_of_the_flow_is_refused(over: Any) -> None:
    row = each("map", over=over, do=item_flow(lambda step: None), collect=collect)
    problem = only(row.to(END), END)
    assert (problem.code, problem.where) == ("over_mismatch", "map")
    assert "Item" in problem.message


def test_what_takes_another_state_is_refused() -> None:
    row: Any = each("map", over=of_another_state, do=item_flow(lambda step: None), collect=collect)
    assert {code for code, _ in kinds(row.to(END), END)} <= {"over_mismatch", "state_mismatch", "leave_mismatch"}


async def slow_over(page: Page) -> list[Item]:
    return []


async def slow_collect(draft: Page, results: list[int]) -> Continue:
    return Continue()


@pytest.mark.parametrize("name", ["over", "collect"])
def test_a_function_that_would_have_to_be_awaited_is_refused(name: str) -> None:
    given: Any = {"over": items(1), "collect": collect, name: slow_over if name == "over" else slow_collect}
    row: Any = each("map", do=item_flow(lambda step: None), **given)
    assert "async_function" in [code for code, _ in kinds(row.to(END), END)]


# ---- The cycle rule ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A node, branches, or items, in random shapes: what a walk can pass without paying is searched for."""

    kind: str
    pays: bool = False
    parts: tuple[Part, ...] = ()
    join: Any = "all"
    handler: Part | None = None


def random_part(rng: Random, depth: int) -> Part:
    kind = rng.choice(["leaf", "leaf", "fan", "row", "each"]) if depth else "leaf"
    if kind == "leaf":
        handler = random_part(rng, 0) if rng.random() < 0.3 else None
        return Part("leaf", pays=rng.random() < 0.6, handler=handler)
    parts = tuple(random_part(rng, depth - 1) for _ in range(rng.randint(1, 3)))
    join = rng.choice(["all", "any", rng.randint(1, len(parts))]) if kind == "fan" else "all"
    return Part(kind, parts=parts, join=join)


def ways(part: Part) -> set[str]:
    """Returns how a walk may leave a part without having paid: with success, with an error."""
    if part.kind == "leaf":
        free = set() if part.pays else {"ok", "error"}
        if part.handler is not None and "error" in free:
            free = (free - {"error"}) | ways(part.handler)
        return free
    if part.kind == "each":
        return {"ok", "error"}
    if part.kind == "row":
        inner = all("ok" in ways(one) for one in part.parts)
        return {"ok", "error"} if inner else {"error"}
    passed = [("ok" in ways(one)) for one in part.parts]
    return {"ok", "error"} if (all(passed) if part.join == "all" else any(passed)) else {"error"}


def build(part: Part, id: str) -> Any:
    match part.kind:
        case "leaf":
            row = leaf(id, starts_round=part.pays)
            return row
        case "fan":
            return parallel(id, *(branch(one, f"{id}{n}") for n, one in enumerate(part.parts)), join=part.join)
        case "each":
            return each(id, over=items(1), do=item_flow(lambda step: None, starts_round=True), collect=collect)
    rows = [build(one, f"{id}{n}") for n, one in enumerate(part.parts)]
    last = ends_free()
    return Flow(id, *(row.to(on) for row, on in zip(rows, [*rows[1:], last], strict=True)), last).as_node(id)


def ends_free() -> Any:
    return does(lambda step: Complete(None), "end", Page, Complete[Any], starts_round=False)


def branch(part: Part, id: str) -> Any:
    row = build(part, id)
    return row.on_error(branch(part.handler, f"{id}h")) if part.handler is not None else row


def unpaid_cycles(rows: list[tuple[Part, int, int | None]]) -> Iterator[Any]:
    """Yields the cycles of rows that can be gone round without paying. A row is a part, its next, its error."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    for number, (part, following, error) in enumerate(rows):
        alone = Part(part.kind, part.pays, part.parts, part.join)
        if "ok" in ways(alone):
            graph.add_edge(number, following)
        if error is not None and "error" in ways(alone):
            graph.add_edge(number, error)
    return nx.simple_cycles(graph)


@pytest.mark.parametrize("chunk", range(6))
def test_a_loop_through_branches_and_items_is_judged_as_a_search_judges_it(chunk: int) -> None:
    verdicts = []
    for seed in range(chunk * 60, (chunk + 1) * 60):
        rng = Random(seed)
        count = rng.randint(1, 3)
        rows = [
            (random_part(rng, 2), rng.randrange(count), rng.choice([None, rng.randrange(count)]))
            for _ in range(count)
        ]
        bare = [build(part, f"p{number}") for number, (part, _, _) in enumerate(rows)]
        entry = does(lambda step: Continue("a"), "entry", Page, Continue[Literal["a", "b"]], starts_round=False)
        over = ends_free()
        flow_rows = [entry.to(a=bare[0], b=over), over.on_error(None)]
        reached = {0}
        for _ in rows:
            reached |= {target for n in reached for target in rows[n][1:] if target is not None}
        for number, (_, following, error) in enumerate(rows):
            row = bare[number].to(bare[following])
            flow_rows.append(row if error is None else row.on_error(bare[error]))
        try:
            Flow("f", *flow_rows)
            codes = set()
        except FlowError as found:
            codes = {problem.code for problem in found.problems}
        wanted = any(True for _ in unpaid_cycles(rows))
        verdicts.append(wanted)
        assert ("unpaid_cycle" in codes) is wanted, (seed, rows)
    assert any(verdicts)
    assert not all(verdicts)
