"""The conclusion: all that an agent is told of the work of a sub-agent."""

from __future__ import annotations

from dataclasses import dataclass

from flowcore import Complete, Node, Step, node
from flowcore_agent.reply import EndReason
from flowcore_agent.state import AgentState

__all__ = ["Conclusion", "conclude_node"]


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a sub-agent came to, and why it ended; `error` is what it failed with."""

    text: str
    reason: EndReason
    is_partial: bool = False
    error: str = ""

    def told(self) -> str:
        """Return it as the agent is told it."""
        if not self.text:
            return f"It came to no conclusion. {f'It failed: {self.error}' if self.error else ''}".strip()
        if self.is_partial:
            return f"It was cut short ({self.reason}). What it had said by then:\n{self.text}"
        if self.reason in ("limit", "repetition"):
            return f"It had to stop before it was done. It says:\n{self.text}"
        return self.text


def conclude_node() -> Node[AgentState, object, None, Conclusion]:
    """Make the node that ends a sub-agent with its conclusion."""

    @node(id="conclude", description="Hand back what was found.")
    async def conclude(step: Step[AgentState]) -> Complete[Conclusion]:
        state = step.state
        return Complete(Conclusion(state.text.strip(), state.reason, state.is_partial))

    return conclude
