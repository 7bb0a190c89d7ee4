"""The own tool: a tool of the loop itself, which may read the run and says what is to change in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from flowcore import Step
from flowcore.messages import ModelSettings
from flowcore.tools import Arguments, Tool, ToolContext
from flowcore_agent.request import AgentRequest
from flowcore_agent.state import AgentState, Todo

__all__ = ["OwnTool", "RunView"]


@dataclass(frozen=True, slots=True)
class RunView:
    """What an own tool sees of its run, as it stood before the calls of the turn. `deps` are those of the run."""

    request: AgentRequest
    model: str = ""
    todo: tuple[Todo, ...] = ()
    deps: Any = field(default=None, repr=False)
    core: str = ""
    settings: ModelSettings = field(default_factory=ModelSettings)

    @classmethod
    def of(cls, state: AgentState, deps: Any) -> RunView:
        """Return the view of a state."""
        return cls(state.request, state.model, state.todo, deps, state.core, state.settings)


@dataclass(frozen=True, slots=True)
class OwnTool:
    """A tool of the loop itself.

    `tool` is an ordinary tool, whose context has a `RunView` as its `deps`. Calls run side by side and may be cut
    off, so it changes nothing of the run. What it returns is plain data, or `ToolOutput` with plain data as its
    value. When all calls of the turn have ended, in their order, `apply` is given this and changes the state, and
    `tell` is given it to emit events and keep artifacts. `doubt` changes the state where nobody knows whether the
    call was done.
    """

    tool: Tool
    apply: Callable[[AgentState, Any], None] | None = None
    tell: Callable[[Step[AgentState], Any], None] | None = None
    doubt: Callable[[AgentState], None] | None = None

    def bound(self, view: Callable[[], RunView]) -> Tool:
        """Return the tool for the calls of one turn; `view` is asked for when it is called."""
        inner = self.tool.call

        def call(context: ToolContext[Any], arguments: Arguments) -> Any:
            return inner(replace(context, deps=view()), arguments)

        return replace(self.tool, call=call)
