"""The part of the store contract suite on who walks a run, on signals, and on answers."""

from __future__ import annotations

from collections import Counter

import anyio
import pytest

from ..errors import RunConflict
from ..store import Attention, RunStore, Signal
from .store_rows import BEGAN, LEASE, ME, end_row, request_row, run_row, visit_row, write_of, written

__all__ = ["ControlContract"]

OTHER = "host two"


class ControlContract:
    """One owner at a time walks a run; others ask, and answer."""

    async def test_a_run_is_taken_when_the_lease_is_over(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        with pytest.raises(RunConflict, match=ME):
            await store.take("run", OTHER, LEASE - 0.5, LEASE + 60)
        assert await store.run("run") == run_row()
        taken = run_row(owner=OTHER, lease=LEASE + 60)
        assert await store.take("run", OTHER, LEASE, LEASE + 60) == taken
        assert await store.run("run") == taken
        with pytest.raises(RunConflict, match=OTHER):
            await written(store, write_of(visits=(visit_row(1),)))
        await written(store, write_of("run", OTHER, visits=(visit_row(1),)))

    async def test_an_owner_takes_his_own_run_again(self, store: RunStore) -> None:
        await store.create(run_row(status="paused", signal="pause", signal_by="bob"), write_of())
        assert await store.take("run", ME, BEGAN, LEASE + 9) == run_row(status="paused", lease=LEASE + 9)

    async def test_of_many_who_take_a_run_one_has_it(self, store: RunStore) -> None:
        await store.create(run_row(owner="", lease=0.0), write_of())
        told: Counter[str] = Counter()

        async def take(owner: str) -> None:
            try:
                await store.take("run", owner, BEGAN, LEASE)
                told["taken"] += 1
            except RunConflict:
                told["refused"] += 1

        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(take, f"host {number}")
        assert told == {"taken": 1, "refused": 49}

    async def test_a_run_that_has_ended_is_not_taken(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        await store.settle("run", end_row("completed"), None, owner=ME)
        with pytest.raises(RunConflict, match="completed"):
            await store.take("run", OTHER, LEASE + 1, LEASE + 60)

    async def test_a_lease_goes_on_as_long_as_the_run_is_the_owners(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        assert await store.renew("run", OTHER, LEASE + 5) is False
        assert await store.renew("run", ME, LEASE + 9) is True
        assert (await store.run("run")).lease == LEASE + 9
        await store.take("run", OTHER, LEASE + 10, LEASE + 60)
        assert await store.renew("run", ME, LEASE + 99) is False
        assert (await store.run("run")).lease == LEASE + 60
        await store.settle("run", end_row(), None, owner=OTHER)
        assert await store.renew("run", OTHER, LEASE + 99) is False

    async def test_a_run_that_was_let_go_is_anybodys(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        await store.release("run", OTHER)
        assert (await store.run("run")).owner == ME
        await store.release("run", ME)
        assert await store.renew("run", ME, LEASE) is False
        assert (await store.take("run", OTHER, BEGAN, LEASE)).owner == OTHER

    async def test_the_strongest_signal_stands(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        asked: list[tuple[Signal, str]] = [
            ("pause", "a"),
            ("pause", "b"),
            ("interrupt", "c"),
            ("stop", "d"),
            ("", "e"),
        ]
        told = [await store.signal("run", signal, by) for signal, by in asked]
        assert told == ["pause", "pause", "interrupt", "interrupt", "interrupt"]
        run = await store.run("run")
        assert (run.signal, run.signal_by) == ("interrupt", "c")
        taken = await store.take("run", ME, BEGAN, LEASE)
        assert (taken.signal, taken.signal_by) == ("", "")
        await store.settle("run", end_row("cancelled"), None, owner=ME)
        with pytest.raises(RunConflict, match="cancelled"):
            await store.signal("run", "stop", "ann")

    async def test_resume_takes_back_a_pause_and_nothing_stronger(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        assert await store.signal("run", "resume", "a") == "resume"
        assert await store.signal("run", "pause", "b") == "pause"
        assert await store.signal("run", "resume", "c") == "resume"
        assert (await store.run("run")).signal_by == "c"
        assert await store.signal("run", "stop", "d") == "stop"
        assert await store.signal("run", "resume", "e") == "stop"

    async def test_a_signal_that_was_followed_is_cleared_by_the_status(self, store: RunStore) -> None:
        await store.create(run_row(), write_of())
        followed: list[tuple[Signal, str]] = [("pause", "paused"), ("resume", "running")]
        for signal, status in followed:
            await store.signal("run", signal, "bob")
            await written(store, write_of(spent="1"))
            assert (await store.run("run")).signal == signal
            await written(store, write_of(status=status))
            assert await store.run("run") == run_row(status=status, spent="1")
        await store.signal("run", "stop", "bob")
        await written(store, write_of(status="paused"))
        run = await store.run("run")
        assert (run.signal, run.signal_by) == ("stop", "bob")

    async def test_a_request_is_answered_once(self, store: RunStore) -> None:
        await store.create(run_row(), write_of(requests=(request_row("q1"), request_row("q2"))))
        row = await store.answer("run", "q1", '"yes"', "bob", BEGAN + 10)
        assert row == request_row("q1", status="answered", answer='"yes"', by="bob", at=BEGAN + 10)
        with pytest.raises(RunConflict, match="answered"):
            await store.answer("run", "q1", '"no"', "eve", BEGAN + 11)
        with pytest.raises(RunConflict, match="expired"):
            await store.answer("run", "q2", '"yes"', "bob", BEGAN + 303)
        with pytest.raises(RunConflict, match="q9"):
            await store.answer("run", "q9", '"yes"', "bob", BEGAN + 10)
        assert await store.requests("run", pending=False) == [row, request_row("q2")]
        assert await store.requests("run") == [request_row("q2")]

    async def test_of_many_answers_one_counts(self, store: RunStore) -> None:
        await store.create(run_row(), write_of(requests=(request_row(),)))
        answered: list[str] = []

        async def answer(by: str) -> None:
            try:
                answered.append((await store.answer("run", "q1", f'"{by}"', by, BEGAN + 10)).by)
            except RunConflict:
                pass

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(answer, f"person {number}")
        assert [row.by for row in await store.requests("run", pending=False)] == answered

    async def test_a_run_that_has_ended_takes_no_answer(self, store: RunStore) -> None:
        await store.create(run_row(), write_of(requests=(request_row(),)))
        await store.settle("run", end_row("cancelled"), None, owner=ME)
        with pytest.raises(RunConflict, match="cancelled"):
            await store.answer("run", "q1", '"yes"', "bob", BEGAN + 10)

    async def test_requests_are_in_the_order_in_which_they_were_opened(self, store: RunStore) -> None:
        rows = (request_row("late", opened=BEGAN + 9), request_row("early", opened=BEGAN + 1), request_row("b"))
        await store.create(run_row(), write_of(requests=(*rows, request_row("a"))))
        assert [row.id for row in await store.requests("run")] == ["early", "b", "a", "late"]

    async def test_an_owner_is_told_of_signals_and_answers(self, store: RunStore) -> None:
        await store.create(run_row(), write_of(requests=(request_row("q1"), request_row("q2"))))
        assert await store.attention("run", ME, BEGAN) is None
        await written(store, write_of(visits=(visit_row(1),)))
        assert await store.attention("run", ME, BEGAN) is None
        await store.signal("run", "pause", "bob")
        assert await store.attention("run", ME, BEGAN) == Attention("pause", "bob")
        await store.take("run", ME, BEGAN, LEASE)
        assert await store.attention("run", ME, BEGAN) is None
        second = await store.answer("run", "q2", "2", "bob", BEGAN + 10)
        assert await store.attention("run", ME, BEGAN + 10.5) is None
        assert await store.attention("run", ME, BEGAN + 10) == Attention(answered=(second,))
        first = await store.answer("run", "q1", "1", "eve", BEGAN + 20)
        assert await store.attention("run", ME, BEGAN) == Attention(answered=(second, first))
        assert await store.attention("run", ME, BEGAN + 10.5) == Attention(answered=(first,))

    async def test_an_owner_is_told_that_his_run_is_lost(self, store: RunStore) -> None:
        for run_id in ("taken", "ended"):
            await store.create(run_row(run_id), write_of(run_id))
            assert await store.attention(run_id, ME, BEGAN) is None
        await store.take("taken", OTHER, LEASE, LEASE + 60)
        await store.settle("ended", end_row("cancelled", LEASE), None, owner=None)
        assert await store.attention("taken", ME, BEGAN) == Attention(is_lost=True)
        assert await store.attention("taken", OTHER, BEGAN) is None
        assert await store.attention("ended", ME, BEGAN) == Attention(is_lost=True)

    async def test_who_listens_is_called(self, store: RunStore) -> None:
        await store.create(run_row(), write_of(requests=(request_row(),)))
        await store.create(run_row("other"), write_of("other"))
        called: list[str] = []
        store.listen("run", lambda: called.append("run"))
        store.listen("other", lambda: called.append("other"))
        await store.signal("run", "pause", "bob")
        assert called == ["run"]
        await store.answer("run", "q1", "1", "bob", BEGAN + 10)
        assert called == ["run", "run"]
        store.listen("run", None)
        await store.signal("run", "stop", "bob")
        assert called == ["run", "run"]
        store.listen("never", None)
