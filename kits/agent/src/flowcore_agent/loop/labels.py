"""Labels of a node that depend on the spec: the diagram shows those that can be taken, and no other."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Literal

from flowcore import Continue, Node, Step, node
from flowcore_agent.state import AgentState

__all__ = ["labelled"]


def labelled(
    work: Callable[[Step[AgentState]], Coroutine[Any, Any, Continue[Any]]],
    *labels: str,
    id: str,
    description: str,
    starts_round: bool = False,
) -> Node[AgentState, object, Any, object]:
    """Make a node of a function that continues by one of these labels."""

    work.__annotations__["return"] = Continue[Literal[labels]]  # type: ignore[valid-type]
    return node(id=id, starts_round=starts_round, description=description)(work)
