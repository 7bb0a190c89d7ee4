"""A bench: a catalogue that is open, and what its tools answer to calls."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from flowcore import Budget, Scope
from flowcore.messages import ToolCall
from flowcore.tools import Tool, ToolCatalog, ToolExecutor, ToolResult

__all__ = ["Bench", "bench", "is_alive"]


class Bench:
    """Tools that can be called by name."""

    def __init__(self, catalog: ToolCatalog, tools: Mapping[str, Tool], **options: Any) -> None:
        self.catalog = catalog
        self.tools = tools
        self.executor = ToolExecutor(catalog, guard=None, **options)

    async def call(self, tool: str, **arguments: Any) -> ToolResult:
        (result,) = await self.executor.run([ToolCall("1", tool, json.dumps(arguments))])
        return result

    async def said(self, tool: str, **arguments: Any) -> tuple[str, str]:
        """Returns the status and the text of a call."""
        result = await self.call(tool, **arguments)
        return result.status, result.text


@asynccontextmanager
async def bench(*toolsets: Any, open_timeout: float = 30.0, **options: Any) -> AsyncGenerator[Bench]:
    async with ToolCatalog(toolsets, open_timeout=open_timeout) as catalog, Scope(Budget()):
        yield Bench(catalog, await catalog.usable(), **options)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
