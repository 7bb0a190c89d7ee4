"""Errors can be copied and sent to another process, with all that they hold."""

from __future__ import annotations

import copy
import pickle

import pytest

from flowcore.errors import (
    BudgetExhausted,
    ContextOverflow,
    ContractError,
    Failure,
    FlowcoreError,
    FlowError,
    ModelRequestError,
    ModelTimeout,
    NodeCancelled,
    NodeTimeout,
    OutcomeUnknown,
    OutputInvalid,
    Problem,
    RunCancelled,
    RunFailed,
    SignInNeeded,
)

ERRORS = [
    FlowError("f", [Problem("c", "w", "m", "r")]),
    ContractError("wrong"),
    BudgetExhausted("requests", 3, 3, "a/b", scope_id=7),
    RunCancelled("user"),
    RunFailed(Failure("a", "ValueError", "exception", "m")),
    NodeTimeout("a", 2.5, scope_id=3),
    NodeCancelled("a"),
    ModelRequestError("m", status=500, retryable=True, retry_after=2.0, text="t"),
    ModelTimeout("m", 5.0, text="t"),
    ContextOverflow("m", limit=8, needed=9),
    OutputInvalid("m", "t"),
    OutcomeUnknown("m", tool="t", call_id="1", status="unknown"),
    SignInNeeded("mail"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_copy_holds_what_the_error_holds(error: FlowcoreError) -> None:
    error.add_note("seen twice")
    for twin in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert type(twin) is type(error)
        assert (str(twin), twin.args, vars(twin)) == (str(error), error.args, vars(error))
