"""The toolbox: the agent's catalogue, and beside it the loop's own tools, which nothing takes away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy

from flowcore import ContractError
from flowcore.tools import Allowed, SignIn, Tool, ToolCatalog
from flowcore_agent.own_tools.own import OwnTool, RunView

__all__ = ["Toolbox"]


class Toolbox(ToolCatalog):
    """A catalogue with own tools in front. `allowed` chooses among the agent's tools alone.

    Raises `ContractError` for a tool of the agent that has the name of an own tool.
    """

    def __init__(self, given: ToolCatalog, own: Sequence[OwnTool]) -> None:
        super().__init__(())
        self._given = given
        self._own_tools = tuple(own)
        self._bound: Mapping[str, Tool] = {each.tool.name: each.tool for each in own}
        if taken := sorted(self._bound.keys() & given.tools.keys()):
            raise ContractError(
                f"the agent has own tools called {', '.join(taken)}: give those of the catalogue other names"
            )

    def bound(self, view: Callable[[], RunView]) -> Toolbox:
        """Return the toolbox for the calls of one turn."""
        made = copy(self)
        made._bound = {each.tool.name: each.bound(view) for each in self._own_tools}
        return made

    @property
    def failures(self) -> Mapping[str, str]:
        """The toolsets that could not be opened, each with the reason."""
        return self._given.failures

    @property
    def sign_in(self) -> SignIn | None:
        """The notice for toolsets that want a sign-in."""
        return self._given.sign_in

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools that are known by now, by name."""
        return {**self._given.tools, **self._bound}

    async def open(self) -> None:
        """Open the toolsets."""
        await self._given.open()

    async def close(self) -> None:
        """Close the toolsets."""
        await self._given.close()

    async def usable(self, allowed: Allowed = None) -> Mapping[str, Tool]:
        """Return the own tools, and those of the agent that a request may use, by name."""
        given = await self._given.usable(allowed)
        return {**self._bound, **{name: tool for name, tool in given.items() if name not in self._bound}}
