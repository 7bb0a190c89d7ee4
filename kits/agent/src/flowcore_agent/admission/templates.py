"""Templates: predefined prompts by name, with patches merged in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from pydantic import BaseModel, ConfigDict, ValidationError

from flowcore_agent.admission.faults import fault
from flowcore_agent.admission.found import Found
from flowcore_agent.errors import AdmissionFault
from flowcore_agent.prompt import PredefinedPrompt
from flowcore_agent.reply import Issue
from flowcore_agent.request import AgentRequest
from flowcore_agent.spec import AgentSpec

__all__ = ["Template", "find_template", "merge_patch", "refused_patches"]


class _Definition(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    text: str
    variables: dict[str, str] = {}
    description: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """A predefined prompt, with the values that its variables have where the request gives none."""

    text: str = ""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])


def refused_patches(spec: AgentSpec, request: AgentRequest) -> tuple[AdmissionFault, ...]:
    """Return a fault for each template that a request patches and may not."""
    refused = [name for name in request.prompt_patches if name not in spec.patchable]
    return tuple(
        fault("patch_refused", f"prompt_patches[{name!r}]", "a request may not patch this template")
        for name in refused
    )


def find_template(spec: AgentSpec, request: AgentRequest) -> Found[Template]:
    """Resolve the template of a spec's prompt: its definition, then the spec's patch, then the request's.

    What cannot be had is an issue: a definition that is not there leaves an empty text, a patch that does not fit
    leaves what it was to change.
    """
    prompt = spec.prompt
    name = prompt.name if isinstance(prompt, PredefinedPrompt) else ""
    issues = [
        Issue("templates", other, "the patch is not used, since the prompt is not made of this template")
        for other in request.prompt_patches
        if other != name
    ]
    if not isinstance(prompt, PredefinedPrompt):
        return Found(Template(), issues=tuple(issues))
    definition: object = spec.templates.get(name)
    if definition is None:
        issues.append(Issue("templates", name, "there is no template of this name"))
        return Found(Template(), issues=tuple(issues))
    for patch in (prompt.patch, request.prompt_patches.get(name, {})):
        patched = merge_patch(definition, patch)
        if patch and (why := _misfit(patched)):
            issues.append(Issue("templates", name, f"a patch is not used: {why}"))
        else:
            definition = patched
    if why := _misfit(definition):
        issues.append(Issue("templates", name, why))
        return Found(Template(), issues=tuple(issues))
    read = _Definition.model_validate(definition)
    return Found(Template(read.text, read.variables), issues=tuple(issues))


def merge_patch(target: object, patch: object) -> object:
    """Return a value with a JSON merge patch (RFC 7396): null deletes, objects merge, the rest replaces."""
    if not isinstance(patch, Mapping):
        return patch
    merged: dict[str, object] = dict(cast("Mapping[str, object]", target)) if isinstance(target, Mapping) else {}
    for key, value in cast("Mapping[str, object]", patch).items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def _misfit(definition: object) -> str:
    """Return why something is no definition of a template, '' if it is one."""
    try:
        _Definition.model_validate(definition)
    except ValidationError as error:
        faults = [(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()]
        return "; ".join(f"{place}: {what}" if place else what for place, what in faults)
    return ""
