"""The request: what a caller hands to an agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flowcore.messages import Message, ModelSettings
from flowcore.trigger import TriggerKind

__all__ = ["AgentRequest"]


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """What a caller hands to an agent: the messages so far, who asks, and from where.

    `messages` are an optional system message, then a user's and an assistant's by turns, the last one a user's.
    `model`, `core`, `settings` and `prompt_patches` (JSON merge patches of templates, by name) override what the
    agent says, where it allows that. `key` proves who asks: it is handed to the agent's `authenticate` alone, and
    not kept.
    """

    messages: tuple[Message, ...]
    user: str = ""
    key: str = field(default="", repr=False)
    source: TriggerKind = "direct"
    conversation: str = ""
    model: str | None = None
    core: str | None = None
    settings: ModelSettings | None = None
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    prompt_patches: Mapping[str, Mapping[str, object]] = field(default_factory=dict[str, Mapping[str, object]])
    context_files: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
