"""Waits: faults that are reported and not mended yet."""

from __future__ import annotations

from typing import Literal

from flowcore import Budget, Continue, Flow

from .graph.finding import kinds
from .runs import does, ends
from .states import Note


def test_a_finish_that_leads_into_a_loop_inside_of_a_sub_flow_is_refused() -> None:
    spin = does(lambda step: Continue("done"), "spin", Note, Continue[Literal["more", "done"]], starts_round=True)
    last = ends(Note)
    loops = Flow("loops", spin.to(more=spin, done=last), last).as_node("loops", budget=Budget(rounds=1))
    assert kinds(last, loops.to(last), finish=loops) == [("finish_cycle", "f")]
