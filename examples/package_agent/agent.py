"""Agent: all that is said of the agent that works on the installed packages."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from flowcore import Budget
from flowcore.models import ModelRunner
from flowcore.tools import Hook, ToolCatalog
from flowcore.toolsets import MCPToolset, knowledge_search
from flowcore_agent import AgentLimits, AgentSpec, CustomPrompt, OwnTools

from .inventory import TABLES
from .packages import Inventory, Packages, Texts

__all__ = ["BUDGET", "agent_of"]

BUDGET = Budget(rounds=25, requests=30, tool_calls=80, seconds=900)
_SERVER = Path(__file__).with_name("server.py")
_INDEXING = 600.0
"""Seconds that a search may take: the first one indexes the texts."""
_PROMPT = """\
You answer questions about the Python packages that are installed on this machine.
Look before you answer: ask the inventory in SQL, search the texts, read the source. Say only what the results of
your tools say, and name where it stands: a package, a section, a module with its line. Where they do not say it,
say so. For work of more than two steps write a list with `todo` first."""
_INVENTORY = f"""\
`packages_query` takes one SELECT on these tables of SQLite:
{TABLES}Names of distributions are in lower case with hyphens. A row of `need` is declared by `distribution`; its
`extra` is '' where it is always wanted. `module.name` is what a program imports, and what the tools that read
source want."""


def agent_of(runner: ModelRunner, packages: Packages, hooks: Sequence[Hook] = ()) -> AgentSpec:
    """Return the agent with a model. Its tools come from a text index, a database and an MCP server."""
    search = knowledge_search(
        Texts(packages),
        name="search_texts",
        description="Search summaries, READMEs and docstrings of the installed packages.",
        limit=5,
        timeout=_INDEXING,
    )
    sources = MCPToolset("sources", command=[sys.executable, "-P", str(_SERVER), *(packages.path or ())])
    return AgentSpec(
        name="package_agent",
        description="Works on the installed packages: asks the inventory, searches texts, reads source.",
        model=runner,
        prompt=CustomPrompt(_PROMPT),
        profile={"The inventory": _INVENTORY},
        catalog=ToolCatalog([search, Inventory(packages), sources]),
        own_tools=OwnTools(todo=True),
        limits=AgentLimits(turns=12),
        hooks=hooks,
    )
