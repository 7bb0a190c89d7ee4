"""Admission: a request is checked and resolved before there is a run of it."""

from __future__ import annotations

from dataclasses import replace

from flowcore import ContractError
from flowcore_agent.admission.found import Desk, Found
from flowcore_agent.admission.prompts import fill, find_prompt
from flowcore_agent.admission.resolve import find_core, find_model, find_settings
from flowcore_agent.admission.shape import check_shape
from flowcore_agent.admission.system_messages import client_prompt
from flowcore_agent.admission.templates import Template, find_template, refused_patches
from flowcore_agent.errors import AdmissionError
from flowcore_agent.prompt import PredefinedPrompt
from flowcore_agent.request import AgentRequest
from flowcore_agent.spec import AgentSpec
from flowcore_agent.state import AgentState

__all__ = ["admit", "admit_caller"]


def admit(spec: AgentSpec, request: AgentRequest) -> AgentState:
    """Return the state that a run of this request begins with. Nothing is run, and nothing written down.

    In this order: the model, the core version and the settings, the shape of the messages, the policy on system
    messages, then templates and prompt. Faults of all of them are listed together; a fault stops the templates,
    which are not looked at then.

    Raises:
        AdmissionError: The request has faults; it lists all of them.
        ContractError: The agent wants to know who asks, and `Agent.admit` is what asks it.
    """
    if spec.authenticate is not None:
        raise ContractError(
            f"agent {spec.name!r} authenticates its callers: use `await Agent(spec).admit(request)`"
        )
    return _admitted(spec, request, Desk())


async def admit_caller(spec: AgentSpec, request: AgentRequest) -> AgentState:
    """Do what `admit` does, after `authenticate` has said who asks. What that raises goes out as it is."""
    desk = Desk()
    if spec.authenticate is not None:
        user = await spec.authenticate(request)
        if not isinstance(user, str):  # pyright: ignore[reportUnnecessaryIsInstance] - what apps return is theirs
            raise ContractError(f"authenticate returned a {type(user).__name__}: return the name of the user")
        request = desk.take("authenticate", Found(replace(request, user=user)))
    return _admitted(spec, request, desk)


def _admitted(spec: AgentSpec, request: AgentRequest, desk: Desk) -> AgentState:
    if not isinstance(request, AgentRequest):  # pyright: ignore[reportUnnecessaryIsInstance] - what apps give
        raise ContractError(f"agent {spec.name!r} was given a {type(request).__name__}: give an AgentRequest")
    model = desk.take("model", find_model(spec, request))
    core = desk.take("core", find_core(spec, request, model))
    settings = desk.take("settings", find_settings(spec, request, model))
    desk.take("messages", check_shape(request))
    client = desk.take("system_message", client_prompt(spec, request))
    desk.take("patches", Found(None, refused_patches(spec, request)))
    prompt = client or _prompt(spec, request, desk)
    if desk.faults:
        raise AdmissionError(spec.name, desk.faults)
    return AgentState(
        request=_plain(request),
        model=model.name,
        core=core,
        settings=settings,
        prompt=prompt,
        is_client_prompt=bool(client),
        admitted=tuple(desk.steps),
        issues=tuple(desk.issues),
    )


def _prompt(spec: AgentSpec, request: AgentRequest, desk: Desk) -> str:
    """Return the configured prompt. Templates are looked at only for a request without faults."""
    is_sound = not desk.faults
    template = desk.take("templates", find_template(spec, request)) if is_sound else Template()
    if isinstance(spec.prompt, PredefinedPrompt):
        return desk.take("prompt", fill(template.text, request.variables, template))
    return desk.take("prompt", find_prompt(spec.prompt, request.variables))


def _plain(request: AgentRequest) -> AgentRequest:
    """Return a request that can be written down, without the key."""
    return replace(
        request,
        key="",
        messages=tuple(request.messages),
        variables=dict(request.variables),
        prompt_patches={name: dict(patch) for name, patch in request.prompt_patches.items()},
        context_files=tuple(request.context_files),
        skills=tuple(request.skills),
        history=tuple(map(tuple, request.history)),
    )
