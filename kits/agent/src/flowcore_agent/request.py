"""The request: what a caller hands to an agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, cast, get_args

from flowcore import ContractError, TriggerKind
from flowcore.messages import Message, ModelSettings

__all__ = ["AgentRequest"]


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """What a caller hands to an agent: the messages so far, who asks, and from where.

    `messages` are an optional system message, then a user's and an assistant's by turns, the last one a user's.
    What is wrong with them is found on admission. `model`, `core`, `settings` and `prompt_patches` (JSON merge
    patches of templates, by name) override what the agent says, where it allows that. `key` proves who asks: it is
    handed to the agent's `authenticate` alone, and not kept. `history` has the `turn` of each earlier reply, one
    for each message of the assistant, in order; `summary` says what was before the messages. `context_files` and
    `skills` are read along, by name. Raises `ContractError` for a field of another kind.
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
    history: tuple[tuple[Message, ...], ...] = ()
    summary: str = ""

    def __post_init__(self) -> None:
        faults = [
            f"{name}={getattr(self, name)!r}: give {words}"
            for name, (kinds, words) in _KINDS.items()
            if not isinstance(getattr(self, name), kinds)
        ]
        turns: Any = self.history
        if isinstance(turns, tuple | list) and not all(map(_is_turn, cast("list[object]", turns))):
            faults.append("history: give each turn as a tuple of messages")
        if self.source not in get_args(TriggerKind):
            faults.append(f"source={self.source!r}: give one of {', '.join(get_args(TriggerKind))}")
        if faults:
            raise ContractError(f"AgentRequest: {'; '.join(faults)}")


def _is_turn(turn: object) -> bool:
    return isinstance(turn, tuple | list)


_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "user": ((str,), "a text"),
    "key": ((str,), "a text"),
    "conversation": ((str,), "a text"),
    "model": ((str, NoneType), "the name of a model, or None"),
    "core": ((str, NoneType), "a core version, or None"),
    "settings": ((ModelSettings, NoneType), "ModelSettings(...), or None"),
    "variables": ((Mapping,), "texts by name"),
    "prompt_patches": ((Mapping,), "merge patches by the name of their template"),
    "context_files": ((tuple, list), "names in a tuple"),
    "skills": ((tuple, list), "names in a tuple"),
    "history": ((tuple, list), "the turns of earlier replies in a tuple"),
    "summary": ((str,), "a text"),
}
