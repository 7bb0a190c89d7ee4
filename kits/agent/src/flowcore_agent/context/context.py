"""The context: everything that was loaded for one request. Frozen data, of which prompt and messages are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from flowcore.tools import SignIn
from flowcore_agent.ports import SkillCard
from flowcore_agent.reply import Issue
from flowcore_agent.request import AgentRequest

__all__ = ["AgentContext", "Given", "ToolsetCard"]


@dataclass(frozen=True, slots=True)
class ToolsetCard:
    """What the model is told of a toolset: its tools that the request may use, or why there are none.

    `is_large` says that there are more tools than a turn is shown, so that these are not all there.
    """

    name: str
    tools: tuple[str, ...] = ()
    is_large: bool = False
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """A text that a request names: a context file, or a skill that was chosen."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentContext:
    """Everything that was loaded for one request.

    `prompt` is the configured one, or the client's where `is_client_prompt`. What an agent has not is None, and so
    is what could not be loaded: `issues` says why. `run_id`, `path`, `round` and `remaining` (of the budget, by
    dimension) say where the run stands.
    """

    request: AgentRequest
    agent: str = ""
    model: str = ""
    core: str = ""
    prompt: str = ""
    is_client_prompt: bool = False
    core_memory: str | None = None
    recalled: tuple[str, ...] | None = None
    skills: tuple[SkillCard, ...] | None = None
    can_read_skills: bool = False
    chosen_skills: tuple[Given, ...] | None = None
    tools: tuple[str, ...] | None = None
    toolsets: tuple[ToolsetCard, ...] | None = None
    sign_in: SignIn | None = None
    files: tuple[Given, ...] | None = None
    profile: Mapping[str, str] | None = None
    guidance: str | None = None
    now: datetime | None = None
    run_id: str = ""
    path: str = ""
    round: int = 0
    remaining: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    issues: tuple[Issue, ...] = ()
