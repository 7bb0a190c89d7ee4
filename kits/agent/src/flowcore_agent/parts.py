"""The parts: what the nodes of one agent work with, made of its spec once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from flowcore import ContractError
from flowcore.models import ModelRunner
from flowcore.tools import RepetitionGuard, ToolCatalog, ToolExecutor
from flowcore_agent.guardrails.guardrail import Guardrail
from flowcore_agent.own_tools import OwnTool, RunView, Toolbox
from flowcore_agent.spec import AgentSpec

__all__ = ["Parts"]


@dataclass(frozen=True, slots=True)
class Parts:
    """What the nodes of one agent work with. `own` are the loop's own tools, by name."""

    spec: AgentSpec
    catalog: ToolCatalog
    executor: ToolExecutor
    own: Mapping[str, OwnTool] = field(default_factory=dict[str, OwnTool])
    input_guards: tuple[Guardrail, ...] = ()
    output_guards: tuple[Guardrail, ...] = ()

    @classmethod
    def of(cls, spec: AgentSpec, own: Sequence[OwnTool] = ()) -> Parts:
        """Return the parts of a spec, with own tools of the loop.

        Raises `ContractError` where these alone are more than a turn may be shown.
        """
        if len(own) > spec.limits.catalog:
            names = ", ".join(each.tool.name for each in own)
            raise ContractError(
                f"AgentLimits(catalog={spec.limits.catalog}) is too few for the loop's own tools: {names}"
            )
        catalog = spec.catalog if spec.catalog is not None else ToolCatalog(())
        if own:
            catalog = Toolbox(catalog, own)
        return cls(
            spec,
            catalog,
            _executor(spec, catalog),
            {each.tool.name: each for each in own},
            tuple(Guardrail(each, "input", spec.limits.guard_timeout) for each in spec.guards),
            tuple(Guardrail(each, "output", spec.limits.guard_timeout) for each in spec.output_guards),
        )

    def executor_for(self, view: Callable[[], RunView]) -> ToolExecutor:
        """Return the executor for the calls of one turn: own tools see the run as it stands."""
        if not isinstance(self.catalog, Toolbox):
            return self.executor
        return _executor(self.spec, self.catalog.bound(view))

    def runner(self, model: str) -> ModelRunner:
        """Return the runner of the model that was resolved for a request."""
        given = self.spec.model
        return given if isinstance(given, ModelRunner) else given.runner(model)


def _executor(spec: AgentSpec, catalog: ToolCatalog) -> ToolExecutor:
    limits = spec.limits
    return ToolExecutor(
        catalog,
        concurrency=limits.concurrency,
        timeout=limits.tool_timeout,
        hooks=spec.hooks,
        policy=spec.policy,
        guard=RepetitionGuard(limits.same_call, limits.same_tool_warn, limits.same_tool_end),
        max_result=limits.max_result,
    )
