"""The size of messages in tokens, as an estimate."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..messages import Message
from ..models.measure import BYTES_A_TOKEN, TOKENS_AN_ATTACHMENT

__all__ = ["Count", "tokens_of"]

Count = Callable[[Sequence[Message]], int]
"""Says how many tokens messages are. More messages are never fewer tokens."""
_AROUND = 4
"""The tokens around each message: its role, and where it begins and ends."""


def tokens_of(messages: Sequence[Message]) -> int:
    """Return about how many tokens messages are: one for every four bytes, and some around each message.

    It knows nothing of the tools and schemas of a request. `ModelRunner.prepare` does: give
    `count=lambda messages: runner.prepare(tools=tools).measure(messages).tokens` where these count.

        >>> tokens_of([Message("user", "How long does green tea steep?")])
        12
    """
    return sum(_AROUND + _of(message) for message in messages)


def _of(message: Message) -> int:
    texts = [message.content, *(call.name + call.arguments for call in message.tool_calls)]
    size = sum(len(text.encode(errors="replace")) for text in texts)
    return -(-size // BYTES_A_TOKEN) + TOKENS_AN_ATTACHMENT * len(message.attachments)
