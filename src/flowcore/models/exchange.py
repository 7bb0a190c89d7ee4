"""The exchange: all requests of one invocation, until there is an answer that fits or none can be had."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Any

from ..errors import ContextOverflow, OutputInvalid
from ..messages import Message, ModelReply
from ..scope import Scope
from .measure import measured
from .output import Misfit
from .prepared import Frame, as_messages
from .sending import Call, Delivery, Sender, Tally

__all__ = ["Exchange", "Reducer", "Rules"]

Reducer = Callable[[tuple[Message, ...], ContextOverflow], Awaitable[Sequence[Message]] | Sequence[Message]]
"""Makes a shorter list of the messages that the provider found too long."""

_COMPLAINT = "That answer does not fit what was asked for:\n{faults}\nAnswer again, whole, with JSON alone."


@dataclass(frozen=True, slots=True)
class Rules:
    """What a runner does about requests that are too large and answers that do not fit."""

    limit: int | None
    repairs: int
    reducer: Reducer | None

    def with_reducer(self, reducer: Reducer) -> Rules:
        """Return the rules with this reducer where they have none."""
        return self if self.reducer is not None else replace(self, reducer=reducer)


class Exchange:
    """One invocation: the request, its repairs, and its one reduction."""

    def __init__(
        self, sender: Sender, rules: Rules, frame: Frame, payer: Scope, delivery: Delivery | None, tally: Tally
    ) -> None:
        self._sender = sender
        self._rules = rules
        self._frame = frame
        self._payer = payer
        self._delivery = delivery
        self._tally = tally
        self._is_reduced = False

    async def answer(self, messages: tuple[Message, ...]) -> tuple[ModelReply[Any], Any]:
        """Return the answer, and its value. Raises `OutputInvalid` if it does not fit after its repairs."""
        form, why, repaired = self._frame.form, "", 0
        while True:
            reply, messages = await self._send(messages, why)
            if form is None:
                return reply, reply.text
            if reply.tool_calls:
                return reply, None
            try:
                return reply, form.read(reply.text)
            except Misfit as misfit:
                if repaired >= self._rules.repairs:
                    raise OutputInvalid(_said_last(misfit, repaired), reply.text) from None
                messages = (*messages, *_complaint(reply.text, misfit))
            repaired += 1
            why = "repair"

    async def _send(self, messages: tuple[Message, ...], why: str) -> tuple[ModelReply[Any], tuple[Message, ...]]:
        """Return the answer, and the messages that it answers: fewer ones where they had to be reduced."""
        call = self._call(messages)
        seen = call.seen
        try:
            return await self._sender.send(call, why), messages
        except ContextOverflow as error:
            shorter = await self._reduced(messages, error) if call.seen == seen else messages
            if shorter == messages:  # the same would be refused in the same way
                raise
        return await self._sender.send(self._call(shorter), "reduced"), shorter

    def _call(self, messages: tuple[Message, ...]) -> Call:
        """Return the request as it is sent. Raises `ContextOverflow` if it is known to be too large."""
        request, limit = self._frame.request(messages), self._rules.limit
        call = Call(request, self._payer, self._delivery, self._tally)
        if limit is None:
            return call
        measure = measured(self._sender.model, request, limit, streaming=self._delivery is not None)
        if not measure.fits:
            about = "about " if measure.estimated else ""
            answer = f" and {measure.answer} for the answer" if measure.answer else ""
            told = f"the request is {about}{measure.tokens} tokens{answer}, and {self._sender.name} reads {limit}"
            raise ContextOverflow(f"{told}: it was not sent", limit=limit, needed=measure.needed)
        return call

    async def _reduced(self, messages: tuple[Message, ...], error: ContextOverflow) -> tuple[Message, ...]:
        """Return what the reducer makes of the messages, once; the same messages when it may not."""
        reducer = self._rules.reducer
        if reducer is None or self._is_reduced:
            return messages
        self._is_reduced = True
        shorter = reducer(messages, error)
        return as_messages(await shorter if isawaitable(shorter) else shorter)


def _complaint(text: str, misfit: Misfit) -> tuple[Message, ...]:
    said = (Message("assistant", text),) if text.strip() else ()
    return (*said, Message("user", _COMPLAINT.format(faults=misfit)))


def _said_last(misfit: Misfit, repaired: int) -> str:
    faults = "; ".join(str(misfit).splitlines())
    after = f" after {repaired} repair{'' if repaired == 1 else 's'}" if repaired else ""
    return f"the answer is not of the type that was asked for{after}: {faults}"
