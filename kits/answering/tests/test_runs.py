"""The main ways through the answer flow, whole: what each node did, and why the run went where it went."""

from __future__ import annotations

from types import SimpleNamespace as Kit
from typing import Any

import pytest

from flowcore import Flow
from flowcore.testing import FlowRunner
from flowcore_answering import AnswerState, Review, answer_flow

Ports = dict[str, Any]


def ports(kit: Kit, way: str) -> Ports:
    """Returns the ports that lead a run on its way."""
    good, bad, says = kit.drafts(), kit.drafts("b"), kit.words()
    failed = Review.failed("wrong")
    ways: dict[str, Ports] = {
        "answered": {"generate": kit.Port(good)},
        "reviewed": {"generate": kit.Port(good), "review": kit.Port(kit.verdicts())},
        "repaired": {"generate": kit.Port(bad), "repair": kit.Port(good)},
        "failed its review": {
            "generate": kit.Port(good),
            "review": kit.Port(kit.verdicts(b=failed)),
            "fallback": kit.Port(says),
            "max_repairs": 0,
        },
        "generator down": {"generate": kit.Port(ConnectionError("down")), "fallback": kit.Port(says)},
        "nothing to say": {"generate": kit.Port(bad), "fallback": kit.Port(kit.words("b")), "max_repairs": 0},
        "not ready": {"generate": kit.Port(good), "fallback": kit.Port(says)},
    }
    return ways[way]


def given(kit: Kit, way: str) -> AnswerState:
    ready = "pending" if way == "not ready" else "ready"
    state: AnswerState = kit.state("a", kit.item("b", ready))
    return state


@pytest.mark.behaviour("A139")
@pytest.mark.parametrize(
    "way",
    [
        "answered",
        "reviewed",
        "repaired",
        "failed its review",
        "generator down",
        "nothing to say",
        "not ready",
    ],
)
def test_the_run_on_each_way(kit: Kit, way: str, flow_runner: FlowRunner, trace_snapshot: Any) -> None:
    flow: Flow[AnswerState, object, Any] = answer_flow(**ports(kit, way))
    assert flow_runner(flow, given(kit, way)) == trace_snapshot
