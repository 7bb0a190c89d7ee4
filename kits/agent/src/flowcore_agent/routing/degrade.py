"""Degrading: what a step of routing may fail with, so that the run goes on without it."""

from __future__ import annotations

from flowcore import BudgetExhausted, ContractError
from flowcore.errors import NotSerialisable, OutcomeUnknown
from flowcore_agent.reply import Issue, Stage
from flowcore_agent.state import AgentState

__all__ = ["STOPS", "note_failure"]

STOPS = (BudgetExhausted, ContractError, NotSerialisable, OutcomeUnknown)
"""What nothing goes on after."""


def note_failure(state: AgentState, stage: Stage, error: Exception) -> None:
    """Note that a step failed: the run goes on without it, and the reply says so.

    Raises the error again where nothing may go on: a budget that ran out, a broken contract, an effect of which
    nobody knows.
    """
    if isinstance(error, STOPS):
        raise error
    state.issues += (Issue(stage, type(error).__name__, str(error)),)
