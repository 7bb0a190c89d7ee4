"""Loading a context: which sections a request needs, and what each of them brings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from flowcore import Clock, Scope, Step
from flowcore.tools import Tool
from flowcore_agent.context.context import AgentContext, Given, ToolsetCard
from flowcore_agent.context.core_memory import CoreMemory
from flowcore_agent.context.loading import Load, load_all
from flowcore_agent.errors import ContextUnavailable
from flowcore_agent.loop.tools import allowed_tools
from flowcore_agent.parts import Parts
from flowcore_agent.reply import Issue
from flowcore_agent.request import AgentRequest
from flowcore_agent.sections import Section
from flowcore_agent.spec import AgentSpec
from flowcore_agent.state import AgentState

__all__ = ["load_context"]

Failures = Iterator[tuple[Section, Issue]]


async def load_context(parts: Parts, step: Step[AgentState], core_memory: CoreMemory | None) -> AgentContext:
    """Return everything that a request needs to begin with. What cannot be loaded is None, and an issue.

    Raises `ContextUnavailable` that lists everything which the spec requires and could not be loaded.
    """
    spec, state = parts.spec, step.state
    request = state.request
    loads = [
        Load("tools", "tools", "tools", partial(parts.catalog.usable, allowed_tools(parts, state))),
        *_memory(spec, request, core_memory),
        *_skills(spec, request),
        *_files(spec, request),
    ]
    loaded = await load_all(loads)
    found = {(load.kind, load.name): value for load, value in zip(loads, loaded.values, strict=True)}
    failures = [*_absent(spec, request), *loaded.failures, *_closed_toolsets(parts)]
    if missing := [issue for section, issue in failures if section in spec.required]:
        raise ContextUnavailable(spec.name, [f"{issue.name}: {issue.message}" for issue in missing])
    tools = found["tools", "tools"]
    return AgentContext(
        request=request,
        agent=spec.name,
        model=state.model,
        core=state.core,
        prompt=state.prompt,
        is_client_prompt=state.is_client_prompt,
        core_memory=found.get(("core_memory", "core memory")),
        recalled=_tuple(found.get(("recalled_memory", "recalled memory"))),
        skills=_tuple(found.get(("skills", "skills"))),
        can_read_skills=spec.own_tools.skills,
        chosen_skills=_given("skill", request.skills, found),
        tools=_tuple(tools),
        toolsets=None if tools is None else tuple(_cards(parts, tools)),
        sign_in=parts.catalog.sign_in,
        files=_given("file", request.context_files, found),
        profile=spec.profile or None,
        guidance=spec.guidance or None,
        now=_now(step.scope) if spec.tells_time else None,
        run_id=step.run_id,
        path=step.path,
        round=step.round,
        remaining=step.scope.remaining,
        issues=tuple(issue for _, issue in failures),
    )


def _memory(spec: AgentSpec, request: AgentRequest, core_memory: CoreMemory | None) -> Iterator[Load]:
    memory, user, seconds = spec.memory, request.user, spec.limits.tool_timeout
    if memory is None or core_memory is None or not user:
        return
    if "core_memory" in spec.prompt_parts:
        yield Load("memory", "core_memory", "core memory", partial(core_memory.read, user, spec.name), seconds)
    if "recalled_memory" in spec.prompt_parts:
        query = request.messages[-1].content
        fetch = partial(memory.recall, user, spec.name, query, spec.limits.recalled)
        yield Load("memory", "recalled_memory", "recalled memory", fetch, seconds)


def _skills(spec: AgentSpec, request: AgentRequest) -> Iterator[Load]:
    seconds = spec.limits.tool_timeout
    if spec.skills is None:
        return
    if "skills" in spec.prompt_parts:
        yield Load("skills", "skills", "skills", spec.skills.cards, seconds)
    for name in dict.fromkeys(request.skills):
        yield Load("skills", "skill", name, partial(spec.skills.read, name), seconds)


def _files(spec: AgentSpec, request: AgentRequest) -> Iterator[Load]:
    seconds = spec.limits.tool_timeout
    if spec.files is not None:
        for name in dict.fromkeys(request.context_files):
            yield Load("files", "file", name, partial(spec.files.read, name), seconds)


def _absent(spec: AgentSpec, request: AgentRequest) -> Failures:
    """Yield what a request names and the agent has not, and a memory of which nobody is the user."""
    if spec.memory is not None and not request.user:
        yield "memory", Issue("memory", "memory", "the request names no user, and nothing is remembered")
    if spec.skills is None:
        for name in dict.fromkeys(request.skills):
            yield "skills", Issue("skills", name, "the agent has no skills")
    if spec.files is None:
        for name in dict.fromkeys(request.context_files):
            yield "files", Issue("prepare", name, "the agent reads no files")


def _closed_toolsets(parts: Parts) -> Failures:
    """Yield each toolset that could not be opened, and one notice for all that want a sign-in."""
    if (sign_in := parts.catalog.sign_in) is not None:
        yield "tools", Issue("tools", "sign_in", str(sign_in))
    for name, reason in parts.catalog.failures.items():
        if sign_in is None or name not in sign_in.servers:
            yield "tools", Issue("tools", name, reason)


def _cards(parts: Parts, tools: Mapping[str, Tool]) -> Iterator[ToolsetCard]:
    """Yield a card of each toolset of which the request may use a tool, and of each that is closed."""
    sets: dict[str, list[str]] = {}
    for name, tool in tools.items():
        if tool.toolset:
            sets.setdefault(tool.toolset, []).append(name)
    is_large = len(tools) > parts.spec.limits.catalog
    for toolset, names in sets.items():
        yield ToolsetCard(toolset, tuple(names), is_large)
    sign_in = parts.catalog.sign_in
    for toolset, reason in parts.catalog.failures.items():
        wants_user = sign_in is not None and toolset in sign_in.servers
        yield ToolsetCard(toolset, failure="the user has to sign in first" if wants_user else reason)


def _given(kind: str, names: Sequence[str], found: Mapping[tuple[str, str], Any]) -> tuple[Given, ...] | None:
    """Return the texts of this kind that were found, in the order of their names; None where none was named."""
    texts = ((name, found.get((kind, name))) for name in dict.fromkeys(names))
    return tuple(Given(name, text) for name, text in texts if text is not None) if names else None


def _tuple(values: Any) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)


def _now(scope: Scope) -> datetime:
    """Return the time on the clock of the host that a run runs on."""
    clock: Clock = scope.host.clock
    return clock.utcnow()
