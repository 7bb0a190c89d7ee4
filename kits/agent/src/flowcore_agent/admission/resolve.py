"""Resolving: which model and which core version a request is worked on with, and by what settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

from flowcore.messages import ModelSettings
from flowcore.models import ModelRunner
from flowcore_agent.admission.cores import PLATFORM_DEFAULT, available_cores, resolve_core
from flowcore_agent.admission.faults import fault
from flowcore_agent.admission.found import Found
from flowcore_agent.ports import Models
from flowcore_agent.reply import Issue
from flowcore_agent.request import AgentRequest
from flowcore_agent.spec import AgentSpec

__all__ = ["ModelChoice", "find_core", "find_model", "find_settings"]


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model of a request: its name, and its runner, which is None where none can be had."""

    name: str
    runner: ModelRunner | None


def find_model(spec: AgentSpec, request: AgentRequest) -> Found[ModelChoice]:
    """Choose the model: the request's where the user and the agent may use it, else the default.

    The default is the spec's, and without one the first that is enabled.
    """
    if isinstance(spec.model, ModelRunner):
        choice = ModelChoice(spec.model.name, spec.model)
        passed = [request.model] if request.model and request.model != choice.name else []
    else:
        choice, passed = _enabled(spec, request, spec.model)
    if choice.runner is None:
        why = f"none can be used by {request.user!r}" + (f", and {_quoted(passed)} neither" if passed else "")
        return Found(choice, (fault("no_model", "model", why),))
    told = "cannot be used by this user with this agent"
    issues = [Issue("resolve", name, f"{name!r} {told}: {choice.name!r} is used") for name in passed]
    return Found(choice, issues=tuple(issues))


def _enabled(spec: AgentSpec, request: AgentRequest, models: Models) -> tuple[ModelChoice, list[str]]:
    """Return the first wish that can be had, and the wishes before it that cannot."""
    enabled = tuple(models.enabled(request.user, spec.name))
    wishes = dict.fromkeys(name for name in (request.model, spec.default_model, *enabled[:1]) if name)
    passed: list[str] = []
    for name in wishes:
        if name in enabled and (runner := _runner(models, name)) is not None:
            return ModelChoice(name, runner), passed
        passed.append(name)
    return ModelChoice("", None), passed


def _runner(models: Models, name: str) -> ModelRunner | None:
    try:
        return models.runner(name)
    except LookupError:
        return None


def find_core(spec: AgentSpec, request: AgentRequest, model: ModelChoice) -> Found[str]:
    """Choose the core version: the request's, else the model's, else the spec's, which is the platform's default.

    A request that asks for an unknown one is refused. A stored one that is not known any more is an issue, and
    the next choice is used.
    """
    if request.core:
        if request.core not in available_cores():
            offered = ", ".join(available_cores())
            return Found("", (fault("unknown_core", "core", f"{request.core!r} is none of {offered}"),))
        return _supported(request.core, spec.core)
    of_model = spec.model.core(model.name) if model.name and not isinstance(spec.model, ModelRunner) else ""
    return _supported(of_model, spec.core)


def _supported(*choices: str) -> Found[str]:
    """Return the first choice that is supported. Those that say `"default"` leave it to the next."""
    issues: list[Issue] = []
    for core in (resolve_core(choice) for choice in choices if choice not in ("", PLATFORM_DEFAULT)):
        if core.is_supported:
            return Found(core.name, issues=tuple(issues))
        told = f"core {core.name!r} is not supported any more: choose one of {', '.join(available_cores())}"
        issues.append(Issue("resolve", core.name, told))
    return Found(resolve_core(None).name, issues=tuple(issues))


def find_settings(spec: AgentSpec, request: AgentRequest, model: ModelChoice) -> Found[ModelSettings]:
    """Merge the settings: the request's over the spec's; the runner puts them over its own.

    What the model does not have is left out, as an issue.
    """
    settings = (request.settings or ModelSettings()).over(spec.settings)
    lacks_effort = model.runner is not None and "reasoning_effort" not in model.runner.features
    if settings.reasoning_effort is None or not lacks_effort:
        return Found(settings)
    told = f"it was left out: model {model.name!r} does not have it"
    return Found(replace(settings, reasoning_effort=None), issues=(Issue("model", "reasoning_effort", told),))


def _quoted(names: list[str]) -> str:
    return ", ".join(map(repr, names))
