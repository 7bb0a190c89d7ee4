"""Messages: what is said to a model, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Message", "ModelReply", "ModelRequest", "TokenUsage"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens that one request used: what was sent, and what came back."""

    input: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        """All tokens of the request."""
        return self.input + self.output


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model answers, and what the answer cost: `cost` is in the currency of your prices."""

    text: str
    usage: TokenUsage = TokenUsage()
    cost: float = 0.0
    finish_reason: str = "stop"
