"""Preparing: what a request is made of before the loop, once per request."""

from __future__ import annotations

from flowcore import Continue, Log, Node, Step, node
from flowcore_agent.context.context import AgentContext
from flowcore_agent.context.core_memory import CoreMemory
from flowcore_agent.context.history import restored
from flowcore_agent.context.load import load_context
from flowcore_agent.context.pairs import call_pairs
from flowcore_agent.context.prompt import system_prompt
from flowcore_agent.parts import Parts
from flowcore_agent.state import AgentState

__all__ = ["prepare_node"]


def prepare_node(parts: Parts) -> Node[AgentState, object, None, object]:
    """Make the node that loads the context, and builds the system prompt and the messages before the loop.

    It tells what it has added by the events `memory.recalled`, `skills.chosen` and `files.added`, and by
    `sign_in.wanted` that toolsets want a sign-in.
    """
    spec = parts.spec
    core_memory = None if spec.memory is None else CoreMemory(spec.memory)

    @node(id="prepare", starts_round=False, description="Build the system prompt and the messages.")
    async def prepare(step: Step[AgentState]) -> Continue:
        state = step.state
        context = await load_context(parts, step, core_memory)
        messages, issues = restored(state.request)
        state.system = system_prompt(context, spec.prompt_parts)
        state.prepared = Log([*messages, *call_pairs(context)])
        state.issues += (*context.issues, *issues)
        _tell(step, context)
        return Continue()

    return prepare


def _tell(step: Step[AgentState], context: AgentContext) -> None:
    if context.core_memory or context.recalled:
        step.emit("memory.recalled", {"core": context.core_memory or "", "recalled": list(context.recalled or ())})
    if context.chosen_skills:
        step.emit("skills.chosen", {"names": [skill.name for skill in context.chosen_skills]})
    if context.files:
        step.emit("files.added", {"names": [file.name for file in context.files]})
    if context.sign_in is not None:
        step.emit("sign_in.wanted", dict(context.sign_in.servers))
