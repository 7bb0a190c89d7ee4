"""The catalogue: every tool there is, and what a request may use of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from inspect import isroutine
from types import TracebackType
from typing import Any, Self, cast

import anyio

from ..errors import ContractError
from ..graph import callers_names
from ..messages import ToolSchema
from ..runtime import current_loop
from ..value_text import escaped
from .definition import Tool
from .function import made_tool
from .opened import OpenedToolset
from .sign_in import SignIn
from .toolset import Toolset

__all__ = ["Allowed", "ToolCatalog"]

Allowed = Collection[str] | Callable[[Tool], bool] | None
"""What a request may use: names, or a function of the tool; None is everything."""


class ToolCatalog:
    """Holds tools and toolsets. Toolsets are opened when somebody first asks what there is.

    `async with ToolCatalog([...]) as catalog:` closes them again. They end with their event loop, too, and are
    opened anew in the next one. A toolset that cannot be opened is named in `failures` with its reason, and the
    rest goes on.

    Args:
        tools: Tools and toolsets, in the order in which a model sees them.
            A function is made a tool, as by `@tool`.
        open_timeout: Seconds that a toolset may take to open.

    Raises:
        ContractError: Two tools, or two toolsets, have one name; it lists all such names. Something else is given.
    """

    def __init__(
        self, tools: Iterable[Tool | Toolset | Callable[..., Any]], *, open_timeout: float = 30.0
    ) -> None:
        given: Any = tools
        if not isinstance(given, Iterable):
            raise ContractError(f"ToolCatalog({given!r}): give a list, ToolCatalog([...])")
        names = callers_names(1)
        parts = tuple(made_tool(part, names=names) if isroutine(part) else part for part in tools)
        self._own = tuple(part for part in parts if isinstance(part, Tool))
        rest = tuple(part for part in parts if not isinstance(part, Tool))
        for part in rest:
            if not hasattr(part, "open"):
                raise ContractError(f"ToolCatalog([{part!r}]): give tools, functions and toolsets")
        self._toolsets = cast(tuple[Toolset, ...], rest)
        self._open_timeout = open_timeout
        self._opened: list[OpenedToolset] = []
        self._opening = anyio.Lock()
        self._ready = not self._toolsets
        self._failures: dict[str, str] = {}
        self._sign_ins: dict[str, str] = {}
        _must_differ("toolsets", [(part.name, "") for part in self._toolsets])
        _must_differ("tools", [(part.name, _origin(part)) for part in self._own])
        self._tools = {part.name: part for part in self._own}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def failures(self) -> Mapping[str, str]:
        """The toolsets that could not be opened, each with the reason."""
        return dict(self._failures)

    @property
    def sign_in(self) -> SignIn | None:
        """The one notice for all toolsets that could not be opened because they want a sign-in, if there are."""
        return SignIn(dict(self._sign_ins)) if self._sign_ins else None

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools that are known by now, by name."""
        return dict(self._tools)

    async def open(self) -> None:
        """Open the toolsets, side by side. Those that are open stay so; those that failed are tried again."""
        async with self._opening:
            self._opened = [opened for opened in self._opened if not opened.has_ended]
            known = {opened.name for opened in self._opened}
            fresh = [OpenedToolset(part, current_loop()) for part in self._toolsets if part.name not in known]
            try:
                async with anyio.create_task_group() as group:
                    for opened in fresh:
                        group.start_soon(opened.open, self._open_timeout)
            except BaseException:
                for opened in fresh:
                    await opened.close()
                raise
            self._failures = {opened.name: opened.failure for opened in fresh if opened.failure is not None}
            self._sign_ins = {opened.name: opened.sign_in for opened in fresh if opened.sign_in is not None}
            self._opened += [opened for opened in fresh if opened.failure is None]
            await self._take_in()
            self._ready = True

    async def close(self) -> None:
        """Close the toolsets. They are opened anew when somebody asks for tools again."""
        opened, self._opened = self._opened, []
        self._tools = {part.name: part for part in self._own}
        self._ready = not self._toolsets
        for part in reversed(opened):
            await part.close()

    async def usable(self, allowed: Allowed = None) -> Mapping[str, Tool]:
        """Return the tools that a request may use, by name."""
        if isinstance(allowed, str):
            raise ContractError(f"allowed={allowed!r}: give the names in a list, as in [{allowed!r}]")
        if not self._ready or any(opened.has_ended for opened in self._opened):
            await self.open()
        if allowed is None:
            return self._tools
        if callable(allowed):
            return {name: tool for name, tool in self._tools.items() if allowed(tool)}
        return {name: tool for name, tool in self._tools.items() if name in allowed}

    async def for_request(self, allowed: Allowed = None) -> tuple[ToolSchema, ...]:
        """Return what a model is told of the tools that a request may use, and of no other."""
        return tuple(tool.schema for tool in (await self.usable(allowed)).values())

    async def _take_in(self) -> None:
        """Add what the toolsets offer. One that offers a name which is taken is closed and named as failed."""
        tools = {part.name: part for part in self._own}
        by_name = {opened.name: opened for opened in self._opened}
        for part in self._toolsets:
            if (opened := by_name.get(part.name)) is None:
                continue
            fault = _clash(opened, tools)
            if fault is None:
                limit = part.timeout
                for each in opened.tools:
                    timeout = limit if each.timeout is None else each.timeout
                    tools[each.name] = replace(each, toolset=part.name, timeout=timeout)
            else:
                self._failures[part.name] = fault
                self._opened.remove(opened)
                await opened.close()
        self._tools = tools


def _clash(opened: OpenedToolset, taken: Mapping[str, Tool]) -> str | None:
    names = [each.name for each in opened.tools]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        return f"it offers two tools of one name: {', '.join(map(escaped, twice))}"
    both = [f"{name} (also of {_origin(taken[name])})" for name in names if name in taken]
    return f"its tools have names that are taken: {', '.join(both)}" if both else None


def _must_differ(what: str, named: list[tuple[str, str]]) -> None:
    found: dict[str, list[str]] = {}
    for name, origin in named:
        found.setdefault(name, []).append(origin)
    twice = {name: origins for name, origins in found.items() if len(origins) > 1}
    if twice:
        listed = "; ".join(
            f"{name!r} {' and '.join(filter(None, origins))}".rstrip() for name, origins in twice.items()
        )
        raise ContractError(f"several {what} have one name: {listed}. Give each a name of its own, with name=")


def _origin(tool: Tool) -> str:
    """Return where a tool comes from, so that two of one name can be told apart."""
    if tool.toolset:
        return f"the toolset {tool.toolset}"
    fn = getattr(tool, "fn", None)
    return f"{fn.__module__}.{fn.__qualname__}" if fn is not None else "a tool of yours"
