"""The executor: runs the calls that a model proposes, when your node says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from ..errors import ContractError
from ..messages import Message, ToolCall
from ..scope import Scope, current_scope
from ..types import is_a
from .batch import Batch
from .catalog import Allowed, ToolCatalog
from .guard import RepetitionGuard
from .policy import Hook, Policy
from .result import ToolResult
from .settings import ExecutorSettings

__all__ = ["ToolExecutor"]

_GUARD: Final = RepetitionGuard()


class ToolExecutor:
    """Runs calls of the tools in a catalogue. It keeps nothing between two replies, and many runs may share it.

    Args:
        catalog: The tools that there are.
        concurrency: Calls of one reply that run at a time.
        timeout: Seconds that a call may take where neither its tool nor the toolset says.
        hooks: Functions that see each call with its checked arguments, and may change them or deny it.
        policy: Decides whether a call is allowed, denied, or put to a person. Without one every call is allowed.
        guard: How much repetition is too much; None is no limit.
        max_result: Characters of a result that a model is told; of a longer one the head and the tail.

    Raises `ContractError` for what is no catalogue, and `ValueError` for settings out of range.
    """

    def __init__(
        self,
        catalog: ToolCatalog,
        *,
        concurrency: int = 4,
        timeout: float = 60.0,
        hooks: Sequence[Hook] = (),
        policy: Policy | None = None,
        guard: RepetitionGuard | None = _GUARD,
        max_result: int = 20_000,
    ) -> None:
        if not is_a(catalog, ToolCatalog):
            raise ContractError(
                f"ToolExecutor({catalog!r}): give a catalogue, as in ToolExecutor(ToolCatalog([...]))"
            )
        self._catalog = catalog
        self._settings = ExecutorSettings(concurrency, timeout, tuple(hooks), policy, guard, max_result)

    async def run(
        self,
        calls: Sequence[ToolCall],
        *,
        allowed: Allowed = None,
        history: Iterable[Message] = (),
        deps: Any = None,
        scope: Scope | None = None,
    ) -> tuple[ToolResult, ...]:
        """Run the calls of one reply, and return a result for each, in their order, whatever happens.

        Calls that nobody is asked about are paid for together, before the first one starts: if the budget has too
        few left, none starts.

        Args:
            calls: What the model proposes, as in `reply.tool_calls`.
            allowed: What this request may use: what `for_request` was given.
            history: The messages before this reply, for the repetition guard.
            deps: What tools, hooks and the policy get as `deps`.
            scope: Who pays; by default the scope around.

        Raises:
            ToolError: A tool with `on_failure="fail"` gave no result; the others have been run to their end.
            BudgetExhausted: There are not enough tool calls left.
            LookupError: There is no scope around.
        """
        payer = scope if scope is not None else current_scope()
        if not calls:
            return ()
        usable = await self._catalog.usable(allowed)
        return await Batch(self._settings, usable, self._catalog.tools, calls, history, payer, deps).run()
