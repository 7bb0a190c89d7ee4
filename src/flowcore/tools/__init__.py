"""Tools: what a model may propose to call, and the executor that decides and runs it."""

from ..requests import Approval, OpenRequest
from .catalog import Allowed, ToolCatalog
from .conversation import assistant_message, tool_messages
from .definition import Arguments, Tool, ToolContext
from .executor import ToolExecutor
from .function import FunctionTool, tool
from .guard import RepetitionGuard
from .policy import Allow, Ask, Decision, Deny, Hook, Policy, Proposal
from .result import Status, ToolOutput, ToolResult
from .sign_in import SignIn
from .toolset import Toolset

__all__ = [
    "Allow",
    "Allowed",
    "Approval",
    "Arguments",
    "Ask",
    "Decision",
    "Deny",
    "FunctionTool",
    "Hook",
    "OpenRequest",
    "Policy",
    "Proposal",
    "RepetitionGuard",
    "SignIn",
    "Status",
    "Tool",
    "ToolCatalog",
    "ToolContext",
    "ToolExecutor",
    "ToolOutput",
    "ToolResult",
    "Toolset",
    "assistant_message",
    "tool",
    "tool_messages",
]
