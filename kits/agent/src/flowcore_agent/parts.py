"""The parts: what the nodes of one agent work with, made of its spec once."""

from __future__ import annotations

from dataclasses import dataclass
from flowcore.models import ModelRunner
from flowcore.tools import RepetitionGuard, ToolCatalog, ToolExecutor
from flowcore_agent.spec import AgentSpec

__all__ = ["Parts"]


@dataclass(frozen=True, slots=True)
class Parts:
    """What the nodes of one agent work with."""

    spec: AgentSpec
    catalog: ToolCatalog
    executor: ToolExecutor

    @classmethod
    def of(cls, spec: AgentSpec) -> Parts:
        """Return the parts of a spec."""
        limits = spec.limits
        catalog = spec.catalog if spec.catalog is not None else ToolCatalog([])
        executor = ToolExecutor(
            catalog,
            concurrency=limits.concurrency,
            timeout=limits.tool_timeout,
            hooks=spec.hooks,
            policy=spec.policy,
            guard=RepetitionGuard(limits.same_call, limits.same_tool_warn, limits.same_tool_end),
            max_result=limits.max_result,
        )
        return cls(spec, catalog, executor)

    def runner(self, model: str) -> ModelRunner:
        """Return the runner of the model that was resolved for a request."""
        given = self.spec.model
        return given if isinstance(given, ModelRunner) else given.runner(model)
