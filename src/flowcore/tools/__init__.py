"""Tools: what a model may propose to call, and the executor that decides and runs it."""

from .catalog import Allowed, ToolCatalog
from .tool import Arguments, Tool, ToolContext
from .toolset import Toolset

__all__ = ["Allowed", "Arguments", "Tool", "ToolCatalog", "ToolContext", "Toolset"]
