"""Routing a request: answered directly or worked on, planned or not, and with which of the tools there are."""

from __future__ import annotations

from inspect import isawaitable
from typing import Any

from flowcore import Continue, ContractError, Node, Step, node
from flowcore.tools import Tool
from flowcore_agent.loop.labels import labelled
from flowcore_agent.parts import Parts
from flowcore_agent.ports import Class, Classifier
from flowcore_agent.routing.degrade import note_failure
from flowcore_agent.routing.relevance import relevant_tools
from flowcore_agent.state import AgentState

__all__ = ["route_node"]


def route_node(parts: Parts) -> Node[AgentState, object, Any, object]:
    """Make the node that says how a request is worked on, and which tools it is shown.

    With a classifier it continues by `direct` or `task`, and by `plan` where tasks of some depth are planned.
    Without one every request is a task, and one of full depth where tasks are planned or looked at.
    """
    spec = parts.spec
    if spec.classify is not None:
        return _classified(parts, spec.classify)

    @node(id="route", starts_round=False, description="Choose the tools that the request is shown.")
    async def route(step: Step[AgentState]) -> Continue:
        if spec.plan or spec.verify:
            step.state.depth = "full"
        await _choose_tools(parts, step.state)
        return Continue()

    return route


def _classified(parts: Parts, classify: Classifier) -> Node[AgentState, object, Any, object]:
    spec = parts.spec

    async def route(step: Step[AgentState]) -> Continue[Any]:
        state = step.state
        found = await _class(parts, state, classify)
        state.route, state.depth = found.route, found.depth
        why = {"depth": found.depth}
        if found.route == "direct":
            return Continue("direct")
        await _choose_tools(parts, state)
        return Continue("plan" if spec.plan and found.depth != "none" else "task", why=why)

    labels = ("direct", "task", "plan") if spec.plan else ("direct", "task")
    return labelled(route, *labels, id="route", description="Class the request, and choose its tools.")


async def _class(parts: Parts, state: AgentState, classify: Classifier) -> Class:
    """Return what the classifier says; a task that is not planned where it fails."""
    try:
        said: Any = classify(list(state.prepared), tuple(await _tools(parts)))
        found: Any = await said if isawaitable(said) else said
    except Exception as error:
        note_failure(state, "route", error)
        return Class()
    if not isinstance(found, Class):
        raise ContractError(f"classify returned a {type(found).__name__}: return a Class")
    return found


async def _choose_tools(parts: Parts, state: AgentState) -> None:
    """Choose among the agent's tools, if there are more than a turn may be shown beside the loop's own."""
    tools, room = await _tools(parts), parts.spec.limits.catalog - len(parts.own)
    if len(tools) > room:
        asked = state.request.messages[-1].content
        state.tools = relevant_tools(tools, room, asked, state.prepared)


async def _tools(parts: Parts) -> dict[str, Tool]:
    """Return the agent's tools that its requests may use, by name."""
    usable = await parts.catalog.usable(parts.spec.allowed)
    return {name: tool for name, tool in usable.items() if name not in parts.own}
