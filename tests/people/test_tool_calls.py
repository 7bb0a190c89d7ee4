"""Calls of tools that a person has to agree to: parked, and dispatched once."""

from __future__ import annotations

import pytest
from tests.people.desk import pending, settled
from tests.tools.room import Room, State, call

from flowcore import Approval
from flowcore.tools import Ask


@pytest.mark.behaviour("S1-13", "S4-15")
@pytest.mark.parametrize(("answer", "times"), [(True, 1), (Approval(True, "fine"), 1), (False, 0)])
async def test_a_call_waits_for_consent_and_is_dispatched_once(answer: bool | Approval, times: int) -> None:
    dispatched: list[str] = []

    async def delete() -> str:
        dispatched.append("delete")
        return "deleted"

    room = Room([delete], {"policy": lambda proposal: Ask("Really?", expires=900)})
    async with room.flow([call("delete")]).start(State(), clock=room.clock) as run:
        (request,) = await pending(run)
        assert (request.kind, request.tool, request.form) == ("tool", "delete", "")
        await room.clock.advance(800)
        await settled(run)
        assert (dispatched, run.requests) == ([], (request,))
        await run.answer(request.id, answer, by="ann")
        assert (await run.wait()).status == "completed"
    assert dispatched == ["delete"] * times
