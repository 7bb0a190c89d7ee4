"""The tool: something that a model may propose to call, with everything that is known of it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal

from typing_extensions import TypeVar

from ..errors import ContractError
from ..messages import ToolSchema
from ..scope import Scope
from .hostile import harmless, harmless_schema

__all__ = ["Arguments", "Tool", "ToolContext", "check_tool_name"]

Arguments = Mapping[str, Any]
"""The arguments of a call by name, as the tool's parameters want them."""
DepsT = TypeVar("DepsT", default=Any)
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class ToolContext(Generic[DepsT]):
    """What a call knows of itself: the first parameter of a tool, if it is annotated so."""

    call_id: str
    """The id of the call."""
    tool: str
    """The name of the tool."""
    run_id: str
    """The id of the run; empty outside of a run."""
    path: str
    """The path of the visit; empty outside of a run."""
    scope: Scope
    """The budget that the call spends."""
    deps: DepsT
    """What was passed to the executor as `deps`."""
    teller: Callable[[object], None] = field(repr=False)
    """What `emit` calls."""

    def emit(self, data: object) -> None:
        """Tell those who follow the run how the call goes on: an event of kind `tool.delta`."""
        self.teller(data)


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool as a catalogue holds it. `@tool` makes one from a function, a toolset from what it finds outside.

    Args:
        name: 1 to 64 letters, digits, `_` and `-`. Raises `ContractError` for another one.
        description: What it does, for the model. It is only ever text.
        parameters: The JSON Schema of the arguments: an object.
        call: What runs it, async or not; a plain function works in a thread.
        check: Returns arguments as `call` wants them. Raises `ValueError`, whose text the model is told.
        check_output: Returns what `call` returned as it is handed on. Raises `ValueError`.
        effects: It changes something outside: dispatched at most once, and unknown if it was interrupted.
        verify: Says whether a call that was interrupted was done: True, False, or None if nobody can tell.
        timeout: Seconds a call may take; None leaves it to the toolset, then to the executor.
        on_failure: `tell` the model, or `fail` the visit with a `ToolError`.
        toolset: The name of the toolset that it belongs to.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    call: Callable[[ToolContext[Any], Arguments], Any] = field(repr=False)
    is_async: bool = True
    check: Callable[[Arguments], Arguments] = field(default=dict, repr=False)
    check_output: Callable[[Any], Any] | None = field(default=None, repr=False)
    effects: bool = False
    verify: Callable[[Arguments], bool | Awaitable[bool | None] | None] | None = field(default=None, repr=False)
    timeout: float | None = None
    on_failure: Literal["tell", "fail"] = "tell"
    toolset: str = ""

    def __post_init__(self) -> None:
        check_tool_name(self.name)
        if self.timeout is not None and not self.timeout > 0:
            raise ContractError(f"tool {self.name!r}, timeout={self.timeout!r}: give seconds above zero")
        if self.on_failure not in ("tell", "fail"):
            raise ContractError(f"tool {self.name!r}, on_failure={self.on_failure!r}: give 'tell' or 'fail'")

    @property
    def schema(self) -> ToolSchema:
        """The tool as a model sees it."""
        return ToolSchema(self.name, harmless(self.description), harmless_schema(self.parameters))


def check_tool_name(name: str) -> None:
    """Return if a model can be given a tool of this name. Raises `ContractError` otherwise."""
    if not _NAME.fullmatch(name):
        raise ContractError(
            f"tool {name[:80]!r}: the name is 1 to 64 letters, digits, '_' and '-'; give another with name="
        )
