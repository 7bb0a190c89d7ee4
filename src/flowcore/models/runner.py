"""The model runner: sends a request to a model and pays for it from the scope around it."""

from __future__ import annotations

from collections.abc import Sequence

from ..messages import Message, ModelReply, ModelRequest
from ..scope import Scope, current_scope
from .model import Model

__all__ = ["ModelRunner"]


class ModelRunner:
    """Sends requests to a model. Whatever flow, sub-flow or plain code calls it, that one's budget pays."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._name = str(getattr(model, "name", "")) or type(model).__name__

    async def invoke(self, messages: str | Sequence[Message], *, scope: Scope | None = None) -> ModelReply:
        """Send the messages (a text is one user message) and return the reply.

        The request is charged before it is sent; tokens and cost are added when they are known. Raises
        `BudgetExhausted` when the scope has no request left, and `LookupError` outside of every scope.
        """
        if isinstance(messages, str):
            messages = (Message("user", messages),)
        payer = scope if scope is not None else current_scope()
        async with payer.request(self._name) as request:
            reply = await self._model.complete(ModelRequest(tuple(messages)))
            request.used(tokens=reply.usage.total, cost=reply.cost)
        return reply
