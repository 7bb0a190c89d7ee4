"""Outcomes: a node ends with an explicit word, and a run with what it promised."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from flowcore import Complete, Continue, ContractError, Flow, Step, node, result_of

from ..runs import chain, does, ends
from ..states import Note

WRONG: list[Any] = [None, True, False, 0, "", "good", object(), Continue, Complete, {"complete": 1}, ("good",)]


@node
async def yes_or_no(step: Step[Note]) -> Continue[Literal["yes", "no"]]:
    return Continue("yes" if step.state.number else "no", why={"number": step.state.number})


@pytest.mark.behaviour("S2-28")
@pytest.mark.parametrize(
    "returned", WRONG, ids=lambda value: type(value).__name__ if type(value) is object else repr(value)
)
async def test_anything_but_an_outcome_is_a_contract_error_that_no_route_takes(returned: Any) -> None:
    @node
    async def first(step: Step[Note]) -> Complete[Any]:
        step.state.number = 5
        return returned  # type: ignore[no-any-return]

    last = ends(Note)
    flow = Flow("f", first.on_error(last), last)
    with pytest.raises(ContractError) as caught:
        await flow.run(Note())
    assert str(caught.value).startswith("first#1 returned ")
    assert "return Continue(), Continue(label) or Complete(value)" in str(caught.value)
    result = result_of(caught.value)
    assert (result.status, result.trace.path, result.state) == ("failed", "first!", Note())


BARE: list[tuple[Any, Any]] = [
    (Complete[str], "x"),
    (Complete[int], 3),
    (Complete[bool], True),
    (Complete[bool], False),
    (Complete[bool], None),
    (Complete[None], None),
    (Complete[Note], Note()),
    (Complete[dict[str, int]], {"a": 1}),
    (Continue, None),
    (Continue, True),
    (Continue[Literal["a"]], "a"),
    (Continue[Literal["a"]], True),
    (Continue[Literal["a"]] | Complete[str], "a"),
]


@pytest.mark.behaviour("S2-28")
@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
@pytest.mark.parametrize(("hint", "returned"), BARE, ids=repr)
async def test_a_bare_value_is_no_outcome_though_the_annotation_names_its_type_or_label(
    hint: Any, returned: Any, is_async: bool
) -> None:
    def act(step: Any) -> Any:
        step.state.number = 5
        return returned

    async def awaited(step: Any) -> Any:
        return act(step)

    function = awaited if is_async else act
    function.__annotations__.update(step=Step[Note], **{"return": hint})
    bare: Any = node(id="bare")(function)
    last = ends(Note)
    labelled, plain = "Literal" in repr(hint), hint is Continue
    row = bare.to(a=last) if labelled else bare.to(last) if plain else bare
    with pytest.raises(ContractError) as caught:
        await Flow("f", row.on_error(last), last).run(Note())
    assert str(caught.value).startswith(f"bare#1 returned {returned!r}: return Continue(), ")
    result = result_of(caught.value)
    assert (result.status, result.value, result.trace.path, result.state) == ("failed", None, "bare!", Note())


@pytest.mark.behaviour("S2-28")
@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
async def test_an_outcome_goes_on_or_completes_with_its_value(is_async: bool) -> None:
    def act(step: Any) -> Any:
        return Continue("a") if step.state.number else Complete("x")

    async def awaited(step: Any) -> Any:
        return act(step)

    function = awaited if is_async else act
    function.__annotations__.update(step=Step[Note], **{"return": Continue[Literal["a"]] | Complete[str]})
    first: Any = node(id="first")(function)
    last = ends(Note)
    flow = Flow("f", first.to(a=last), last)
    ended, went_on = [await flow.run(Note(number=number), check=False) for number in (0, 1)]
    assert (ended.status, ended.value, ended.trace.path) == ("completed", "x", "first")
    assert (went_on.status, went_on.value, went_on.trace.path) == ("completed", None, "first > end")


@pytest.mark.behaviour("S2-22", "S2-28")
@pytest.mark.parametrize("label", ["maybe", "", "YES", "end"])
async def test_a_label_that_is_not_declared_is_a_contract_error_and_its_node_is_not_entered(label: str) -> None:
    last = ends(Note)
    pick = does(lambda step: Continue(label), "pick", Note, Continue[Literal["yes", "no"]])
    result = await Flow("f", pick.to(yes=last, no=last).on_error(last), last).run(Note(), check=False)
    assert result.failure is not None
    assert (result.status, result.failure.code, result.trace.path) == ("failed", "contract", "pick!")
    assert repr(label) in result.failure.message or label == ""


@pytest.mark.parametrize(
    ("hint", "outcome"),
    [
        (Continue[Literal["a"]], Continue()),
        (Continue, Continue("a")),
        (Complete[int], Complete("1")),
        (Complete[int], Complete(None)),
        (Complete[list[int]], Complete(["x"])),
        (Complete[int | str], Complete(1.5)),
        (Complete[Note], Complete({"number": 1})),
        (Continue, Complete(1)),
    ],
    ids=repr,
)
async def test_an_outcome_that_the_annotation_does_not_name_is_a_contract_error(hint: Any, outcome: Any) -> None:
    last = ends(Note)
    first = does(lambda step: outcome, "first", Note, hint)
    row = first.to(a=last) if hint == Continue[Literal["a"]] else first.to(last) if hint is Continue else first
    rows = (row, last) if row is not first else (row.on_error(last), last)
    with pytest.raises(ContractError, match="first#1"):
        await Flow("f", *rows).run(Note())


@pytest.mark.behaviour("S2-29")
@pytest.mark.parametrize("value", [None, 0, "", False, 0.0, [], {}, ()], ids=repr)
async def test_a_falsy_value_completes_and_is_given_back(value: Any) -> None:
    flow = Flow("f", does(lambda step: Complete(value), "only", Note, Complete[Any]))
    assert await flow.run(Note()) == value
    result = await flow.run(Note(), check=False)
    assert (result.status, result.failure) == ("completed", None)
    assert type(result.value) is type(value)


async def test_complete_of_the_draft_gives_a_state_of_its_own() -> None:
    kept: list[Any] = []

    def act(step: Any) -> Complete[Note]:
        step.state.words.append("a")
        kept.append(step.state)
        return Complete(step.state)

    result = await Flow("f", does(act, "only", Note, Complete[Note])).run(Note(), check=False)
    assert type(result.value) is Note
    assert result.value == result.state == Note(words=["a"])
    kept[0].words.append("late")
    result.value.words.append("mine")
    assert result.state == Note(words=["a"])


@pytest.mark.parametrize(("number", "path"), [(1, "yes_or_no > end"), (0, "yes_or_no > n1 > end")])
async def test_a_label_takes_its_own_route_and_says_why(number: int, path: str) -> None:
    last = ends(Note)
    middle = does(lambda step: None, "n1", Note)
    flow = Flow("f", yes_or_no.to(yes=last, no=middle), middle.to(last), last)
    result = await flow.run(Note(number=number), check=False)
    assert result.trace.path == path
    assert result.trace[0].why == {"number": number}


async def test_a_label_may_be_any_text() -> None:
    last = ends(Note)
    first = does(lambda step: Continue("not found"), "first", Note, Continue[Literal["not found", "class"]])
    flow = Flow("f", first.to({"not found": last, "class": last}), last)
    result = await flow.run(Note(), check=False)
    assert (result.trace[0].kind, result.trace[0].label) == ("label", "not found")


@pytest.mark.behaviour("S2-12")
async def test_one_visit_works_on_any_number_of_items() -> None:
    calls: list[int] = []

    def answer(step: Any) -> None:
        calls.append(len(step.state.words))
        step.state.words = [word.upper() for word in step.state.words]

    result = await chain(Note, answer).run(Note(words=list("abcde")), check=False)
    assert calls == [5]
    assert result.state.words == list("ABCDE")
    assert result.trace.path == "n1 > end"
