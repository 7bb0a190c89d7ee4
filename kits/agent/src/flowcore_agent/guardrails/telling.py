"""Telling: what guardrails said goes into the state, and to those who follow the run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from flowcore import Step
from flowcore_agent.guardrails.guardrail import merged
from flowcore_agent.reply import GuardReport
from flowcore_agent.state import AgentState

__all__ = ["CHECKED", "tell_checked"]

CHECKED = "guardrail.checked"
"""The name of the event that tells what a guardrail said."""


def tell_checked(step: Step[AgentState], reports: Iterable[GuardReport]) -> None:
    """Put what the guardrails said into the state, and tell it."""
    said = tuple(reports)
    step.state.guards = merged(step.state.guards, said)
    for report in said:
        step.emit(CHECKED, asdict(report))
