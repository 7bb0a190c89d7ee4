"""Waits: faults that are reported and not mended yet."""

from __future__ import annotations

import copy
import pickle
from random import Random
from typing import Any

import pytest

from flowcore import Flow, FlowError, Log, parallel

from ..core.runs import does, ends
from .moving import finished
from .test_log import Kept
from .test_problems import END, leaf


@pytest.mark.parametrize("seed", range(5))
def test_what_a_view_adds_to_an_older_one_is_known_however_often_others_forked(seed: int) -> None:
    rng = Random(seed)
    views: list[tuple[Log[int], list[int], int]] = [(Log([1]), [1], -1)]
    for number in range(150):
        at = rng.randrange(max(0, len(views) - 6), len(views))
        before, wanted, _ = views[at]
        later = before.draft()
        added = [number] * rng.randint(1, 3)
        later.extend(added)
        views.append((later.settled(), [*wanted, *added], at))
    for log, wanted, parent in views:
        while parent >= 0:
            before, start, parent = views[parent]
            assert log.appended(before) == wanted[len(start) :]


def test_a_pickled_view_holds_nothing_that_others_appended() -> None:
    base = Log(["mine"])
    other = base.draft()
    other.append("secret of another")
    other.settled()
    assert b"secret" not in pickle.dumps(base)
    assert "secret" not in repr(copy.deepcopy(base)._shared)


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("laps", [1, 3])
async def test_forks_upon_forks_lose_nothing_and_keep_declared_order(depth: int, laps: int) -> None:
    def add(id: str) -> Any:
        return does(lambda step: step.state.log.append(int(id)), id, Kept, starts_round=False)

    def nest(level: int, prefix: str) -> tuple[Any, list[int]]:
        """Returns a fan whose second branch holds another fan between two appends, and what they append."""
        if level == 0:
            return add(prefix), [int(prefix)]
        inner, wanted = nest(level - 1, f"{prefix}1")
        before, after, end = add(f"{prefix}2"), add(f"{prefix}3"), ends(Kept)
        row = Flow(f"row{prefix}", before.to(inner), inner.to(after), after.to(end), end).as_node(f"row{prefix}")
        fan = parallel(f"fan{prefix}", add(f"{prefix}4"), row, add(f"{prefix}5"))
        whole = [int(f"{prefix}4"), int(f"{prefix}2"), *wanted, int(f"{prefix}3"), int(f"{prefix}5")]
        return fan, whole

    rows, wanted = [], []
    for lap in range(laps):
        row, added = nest(depth, str(lap + 6))
        rows.append(row)
        wanted += added
    end = ends(Kept, lambda step: list(step.state.log))
    flow = Flow("f", *(row.to(following) for row, following in zip(rows, [*rows[1:], end], strict=True)), end)
    result = await finished(flow, Kept(log=Log([0])))
    assert result.status == "completed", result.failure
    assert result.value == [0, *wanted]


@pytest.mark.parametrize("join", ["most", "ALL", None, 1.5, True])
def test_a_join_that_is_no_join_is_refused(join: Any) -> None:
    with pytest.raises((FlowError, TypeError, ValueError)) as caught:
        Flow("f", parallel("fan", leaf("a"), leaf("b"), join=join).to(END), END)
    assert "join" in str(caught.value)


def test_a_shallow_copy_grows_by_itself() -> None:
    log = Log([1])
    made = copy.copy(log)
    made.append(2)
    assert (list(log), list(made)) == ([1], [1, 2])
