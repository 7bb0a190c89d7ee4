"""The runs of the offline service, whole: what each kind of question does, and the flow that it goes through."""

from __future__ import annotations

from typing import Any

import pytest
from examples.offline_service import BUDGET, Enquiry, desk

from flowcore.testing import FlowRunner

QUESTIONS = {
    "fee": "What does it cost to bring a book back 12 days late?",
    "hours": "When are you open on Saturday?",
    "loan": "How long may I keep a film?",
    "unclear": "May I bring my dog?",
}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_the_run_of_a_question(kind: str, flow_runner: FlowRunner, trace_snapshot: Any) -> None:
    result = flow_runner(desk, Enquiry(question=QUESTIONS[kind]), budget=BUDGET)
    assert result == trace_snapshot


def test_the_flow(diagram_snapshot: Any) -> None:
    assert desk == diagram_snapshot
