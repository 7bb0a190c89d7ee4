"""The spec of a sub-agent: the agent's, less what could reach beyond one piece of work."""

from __future__ import annotations

from dataclasses import replace
from inspect import isawaitable

from flowcore import Reserve
from flowcore.tools import Allowed, Ask, Decision, Deny, Policy, Proposal, Tool
from flowcore_agent.limits import AgentLimits
from flowcore_agent.own_tools import OwnTool, own_tools
from flowcore_agent.spec import AgentSpec, OwnTools

__all__ = ["sub_spec", "sub_tools"]

_WRITES = ("save_memory",)
_NOBODY = "it needs the consent of a person, and a sub-agent can ask nobody; go on without it, and say so"


def sub_spec(spec: AgentSpec) -> AgentSpec:
    """Return the spec of the sub-agents of an agent.

    They have fewer turns, and sum up after the last one. They may use those of the agent's tools that change
    nothing outside; what a person would be asked about is denied. What they say is streamed to nobody, stored
    nowhere and sent to no one.
    """
    own = spec.own_tools
    return replace(
        spec,
        own_tools=OwnTools(todo=own.todo, memory=own.memory, skills=own.skills),
        limits=_limits(spec.limits),
        policy=None if spec.policy is None else _asking_nobody(spec.policy),
        allowed=_without_effects(spec.allowed),
        classify=None,
        plan=False,
        verify=False,
        guards=(),
        output_guards=(),
        sink=None,
        delivery=None,
        observers=(),
    )


def sub_tools(spec: AgentSpec) -> tuple[OwnTool, ...]:
    """Return the loop's own tools of a sub-agent: a list of work that is its own, and what only reads."""
    return tuple(each for each in own_tools(spec) if each.tool.name not in _WRITES)


def _limits(limits: AgentLimits) -> AgentLimits:
    turns = max(1, min(limits.sub_turns, limits.most_turns - 1))
    return replace(limits, turns=turns, on_limit="wrap_up", reserve=Reserve())


def _without_effects(allowed: Allowed) -> Allowed:
    def may(tool: Tool) -> bool:
        if tool.effects:
            return False
        return allowed is None or (allowed(tool) if callable(allowed) else tool.name in allowed)

    return may


def _asking_nobody(policy: Policy) -> Policy:
    async def decide(proposal: Proposal) -> Decision:
        said = policy(proposal)
        decision = await said if isawaitable(said) else said
        return Deny(_NOBODY) if isinstance(decision, Ask) else decision

    return decide
