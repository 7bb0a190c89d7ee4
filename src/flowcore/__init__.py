"""flowcore: agent workflows as typed node graphs.

Checked before they run, bounded while they run, seen after they ran.
"""

from .app import App
from .compose import each
from .errors import (
    BudgetExhausted,
    ContractError,
    Failure,
    FlowcoreError,
    FlowError,
    NodeTimeout,
    Problem,
    RunCancelled,
    RunFailed,
)
from .flow import Flow
from .graph import ItemFailure, Node, Unfinished, node, parallel
from .outcome import Complete, Continue
from .result import RunResult, result_of
from .retry import Retry
from .run import Run
from .scope import Budget, Reserve, Scope, Usage, current_scope
from .state import Log, Merge
from .step import Step
from .trace import Trace
from .visit import Visit

__version__ = "0.1.0"

__all__ = [
    "App",
    "Budget",
    "BudgetExhausted",
    "Complete",
    "Continue",
    "ContractError",
    "Failure",
    "Flow",
    "FlowError",
    "FlowcoreError",
    "ItemFailure",
    "Log",
    "Merge",
    "Node",
    "NodeTimeout",
    "Problem",
    "Reserve",
    "Retry",
    "Run",
    "RunCancelled",
    "RunFailed",
    "RunResult",
    "Scope",
    "Step",
    "Trace",
    "Unfinished",
    "Usage",
    "Visit",
    "current_scope",
    "each",
    "node",
    "parallel",
    "result_of",
]
