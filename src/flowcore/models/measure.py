"""The measure of a request: how many bytes are sent, and how many tokens they are."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from ..messages import ModelReply, ModelRequest, TokenUsage
from .model import CountingModel, Model, SizedModel

__all__ = ["BYTES_A_TOKEN", "TOKENS_AN_ATTACHMENT", "Measure", "estimated_usage", "measured"]

BYTES_A_TOKEN = 4
"""What a token is taken for, in bytes of UTF-8, where nobody counts."""
TOKENS_AN_ATTACHMENT = 1_000
"""What an attachment is taken for, whatever its size."""


@dataclass(frozen=True, slots=True)
class Measure:
    """How large a request is: `size` is in bytes, the whole body as it is sent.

    `tokens` is what the model counts, or an estimate: a token for every four bytes of the body, and a thousand
    for each attachment in the place of its bytes. `limit` is the runner's `context_limit`, and `answer` the tokens
    that the settings keep for the answer.
    """

    size: int
    tokens: int
    estimated: bool
    limit: int | None = None
    answer: int = 0

    @property
    def needed(self) -> int:
        """The tokens of the request and of its answer."""
        return self.tokens + self.answer

    @property
    def fits(self) -> bool:
        """Whether the request is within the limit."""
        return self.limit is None or self.needed <= self.limit


def measured(model: Model, request: ModelRequest, limit: int | None = None, *, streaming: bool = False) -> Measure:
    """Return how large a request to a model is. Sends nothing."""
    body = _payload(model, request, streaming)
    answer = request.settings.max_tokens or 0
    if hasattr(model, "count_tokens"):
        return Measure(len(body), cast(CountingModel, model).count_tokens(request), False, limit, answer)
    return Measure(len(body), _tokens(model, request, body), True, limit, answer)


def estimated_usage(model: Model, request: ModelRequest, reply: ModelReply[Any]) -> TokenUsage:
    """Return what a request is taken to have used, when the model did not say."""
    said = reply.text + reply.reasoning + "".join(call.name + call.arguments for call in reply.tool_calls)
    asked = measured(model, request).tokens
    return TokenUsage(asked, _of_bytes(len(said.encode(errors="replace"))), estimated=True)


def _payload(model: Model, request: ModelRequest, streaming: bool) -> bytes:
    """Return what is sent; of a model that does not say, the request as JSON."""
    if hasattr(model, "payload"):
        return cast(SizedModel, model).payload(request, streaming=streaming)
    return json.dumps(_plain(request), ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def _tokens(model: Model, request: ModelRequest, body: bytes) -> int:
    count = sum(len(message.attachments) for message in request.messages)
    if count:
        bare = tuple(replace(message, attachments=()) for message in request.messages)
        body = _payload(model, replace(request, messages=bare), False)
    return _of_bytes(len(body)) + count * TOKENS_AN_ATTACHMENT


def _of_bytes(count: int) -> int:
    return -(-count // BYTES_A_TOKEN)


def _plain(value: Any) -> Any:
    """Return data as JSON has it, without the fields that say nothing."""
    if hasattr(value, "__dataclass_fields__"):
        value = {name: getattr(value, name) for name in value.__dataclass_fields__}
        parts = {name: _plain(part) for name, part in value.items()}
        return {name: part for name, part in parts.items() if part not in (None, "", [], {})}
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value
