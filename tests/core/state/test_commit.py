"""The commit guard: what a node changes is kept when it returns in time, and dropped otherwise."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from flowcore import Complete, Continue, Flow, Retry

from ..clock import HandClock
from ..runs import chain, does, raising
from .states import EDITS, FORMS, Model, Plain

every_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
every_edit = pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)


def edited(form: type, edit: Callable[[Any], Any]) -> Any:
    """Returns what the edit makes of an ordinary state."""
    state = form()
    edit(state)
    return state


@pytest.mark.behaviour("S2-30")
@every_form
@every_edit
async def test_an_edit_is_kept_when_the_node_returns(form: type, edit: Callable[[Any], Any]) -> None:
    given = form()
    result = await chain(form, lambda step: edit(step.state)).run(given, check=False)
    assert result.status == "completed"
    assert type(result.state) is form
    assert result.state == edited(form, edit)
    assert given == form()


@pytest.mark.behaviour("S2-30")
@every_form
@every_edit
async def test_an_edit_is_dropped_when_the_node_fails(form: type, edit: Callable[[Any], Any]) -> None:
    seen: list[Any] = []
    flow = chain(form, raising(lambda step: edit(step.state)), value=lambda step: seen.append(step.state))
    result = await flow.run(form(), check=False)
    assert result.status == "completed"
    assert result.trace[0].failure is not None
    assert seen == [form()]
    assert result.state == form()
    assert not result.trace[0].patch


@every_form
async def test_a_state_put_in_place_of_the_draft_is_kept_or_dropped_as_a_whole(form: type) -> None:
    def put(step: Any) -> None:
        new = form()
        new.items.append(5)
        step.state = new
        step.state.number = 8

    kept = await chain(form, put).run(form(), check=False)
    assert (kept.state.items, kept.state.number) == ([1, 5], 8)
    assert sorted(kept.trace[0].patch) == ["items", "number"]
    dropped = await chain(form, raising(put)).run(form(), check=False)
    assert dropped.state == form()


@pytest.mark.behaviour("S2-11")
@pytest.mark.parametrize("form", [Plain, Model])
async def test_a_state_of_another_type_cannot_be_put_there(form: type) -> None:
    result = await chain(form, lambda step: setattr(step, "state", {"number": 1})).run(form(), check=False)
    assert result.failure is not None
    assert (result.status, result.failure.code) == ("failed", "contract")
    assert result.state == form()


@pytest.mark.behaviour("S2-30")
async def test_each_attempt_starts_from_the_committed_state() -> None:
    seen: list[list[int]] = []

    def act(step: Any) -> None:
        step.state.items.append(step.attempt)
        seen.append(list(step.state.items))
        if step.attempt < 3:
            raise ValueError

    node = does(act, "n", Plain)
    last = does(lambda step: Complete(None), "end", Plain, Complete[None])
    flow = Flow("f", node.to(last).using(retry=Retry(attempts=3)), last)
    result = await flow.run(Plain(), check=False)
    assert seen == [[1, 1], [1, 2], [1, 3]]
    assert result.state.items == [1, 3]


@pytest.mark.behaviour("S2-30")
@every_form
async def test_a_node_that_swallows_its_timeout_is_late_and_leaves_no_trace(form: type) -> None:
    clock = HandClock()

    async def stubborn(step: Any) -> Continue[None]:
        step.state.items.append(2)
        step.state.number = 9
        try:
            clock.advance(60)
            await anyio.sleep_forever()
        except BaseException:
            step.state.text = "late"
        return Continue()

    flow = with_timeout(form, stubborn)
    result = await flow.run(form(), check=False, clock=clock)
    assert result.status == "completed"
    assert result.value is not None
    assert result.value.code == "node_timeout"
    assert result.state == form()


@pytest.mark.behaviour("S2-30")
async def test_a_node_that_returns_too_late_without_ever_waiting_is_late() -> None:
    clock = HandClock()

    def slow(step: Any) -> None:
        step.state.number = 9
        clock.now += 6.0

    result = await with_timeout(Plain, slow).run(Plain(), check=False, clock=clock)
    assert result.value is not None
    assert result.value.type == "NodeTimeout"
    assert result.state == Plain()


def with_timeout(form: type, act: Any) -> Any:
    last = does(lambda step: Complete(step.error), "end", form, Complete[Any])
    return Flow("f", does(act, "n", form).to(last).using(timeout=5).on_error(last), last)


@pytest.mark.behaviour("S2-31")
async def test_what_a_node_wrote_outside_the_state_stays_written() -> None:
    outside: list[str] = []
    result = await chain(Plain, raising(lambda step: outside.append("sent"))).run(Plain(), check=False)
    assert result.trace[0].failure is not None
    assert outside == ["sent"]


@every_form
async def test_the_state_passed_in_is_never_changed_and_the_result_shares_nothing_with_it(form: type) -> None:
    given = form()
    before = copy.deepcopy(given)
    result = await chain(form, lambda step: step.state.items.append(2)).run(given, check=False)
    assert given == before
    for edit in EDITS.values():
        edit(given)
    assert result.state == edited(form, lambda state: state.items.append(2))
    for edit in EDITS.values():
        edit(result.state)
    again = await chain(form).run(before, check=False)
    assert again.state == before == form()


@pytest.mark.behaviour("S2-16")
async def test_a_state_changed_from_outside_while_the_run_goes_on_changes_nothing() -> None:
    given = Model()
    result = await chain(Model, lambda step: given.items.append(99), lambda step: None).run(given, check=False)
    assert result.state.items == [1]


async def test_commit_comes_before_the_route_is_followed() -> None:
    flow = chain(Model, lambda step: step.state.add(4), value=lambda step: step.state.total)
    assert await flow.run(Model()) == 5
