"""flowcore: agent workflows as typed node graphs.

Checked before they run, bounded while they run, seen after they ran.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .app import App
from .clock import Clock
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
from .people import approve, ask
from .requests import Approval, OpenRequest
from .result import RunResult, result_of
from .retry import Retry
from .run import Run
from .scope import Budget, Reserve, Scope, Usage, current_scope
from .state import Log, Merge
from .step import Step
from .trace import Trace
from .trigger import Trigger, TriggerKind
from .visit import Visit

if TYPE_CHECKING:
    from .messages import Message, ModelReply
    from .models import ModelRunner
    from .tools import ToolCatalog, ToolExecutor, tool

__version__ = "0.1.0"

__all__ = [
    "App",
    "Approval",
    "Budget",
    "BudgetExhausted",
    "Clock",
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
    "Message",
    "ModelReply",
    "ModelRunner",
    "Node",
    "NodeTimeout",
    "OpenRequest",
    "Problem",
    "Reserve",
    "Retry",
    "Run",
    "RunCancelled",
    "RunFailed",
    "RunResult",
    "Scope",
    "Step",
    "ToolCatalog",
    "ToolExecutor",
    "Trace",
    "Trigger",
    "TriggerKind",
    "Unfinished",
    "Usage",
    "Visit",
    "approve",
    "ask",
    "current_scope",
    "each",
    "node",
    "parallel",
    "result_of",
    "tool",
]

_LATER = {
    "Message": ".messages",
    "ModelReply": ".messages",
    "ModelRunner": ".models",
    "ToolCatalog": ".tools",
    "ToolExecutor": ".tools",
    "tool": ".tools",
}
"""What is loaded when it is first asked for, since flows without a model do not need it."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_LATER[name], __name__), name)
    return found
