"""Sending: one request to a model, paid for, waited for, and sent again where that may help."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any, Protocol, cast

import anyio
import anyio.lowlevel

from ..clock import Clock, SystemClock
from ..errors import ContractError, ModelRequestError, ModelTimeout
from ..events import ModelChunk
from ..messages import Chunk, ModelReply, ModelRequest, TokenUsage
from ..retry import Retry
from ..scope import Request as Paid
from ..scope import Scope
from ..visit_host import inside
from .assembly import Assembly, pieces_of
from .measure import estimated_usage
from .model import Model, StreamingModel
from .patience import Patience
from .prices import Prices, PublicPrices
from .recalled import Answered, keep_answer, logged_request, recalled_answer
from .retries import as_undelivered, is_transient, pause_before_retry
from .slots import Slots
from .sound import is_cost, is_usage, sound_chunk, sound_price, sound_reply, sound_stream

__all__ = ["Call", "Delivery", "OutputSink", "Sender", "Sink", "Tally"]

_CLOSING = 5.0
"""Seconds in which a stream that is left must have closed."""
_SINK = "give an async function, or an object with `async def output(chunk)`"


class OutputSink(Protocol):
    """Something that takes the pieces of an answer as they come."""

    async def output(self, chunk: Chunk, /) -> object:
        """Take the next piece. The one after it is not read before this has returned."""
        ...


Sink = Callable[[Chunk], Awaitable[object]] | OutputSink


class Delivery:
    """The way of pieces to a sink: how many were handed on, and the sink's own failure."""

    def __init__(self, sink: Sink) -> None:
        self._output = cast("Callable[[Chunk], Awaitable[object]]", getattr(sink, "output", sink))
        if not callable(self._output):
            raise ContractError(f"the sink is a {type(sink).__name__}: {_SINK}")
        self.count = 0
        self.failure: Exception | None = None

    async def hand(self, chunk: Chunk) -> None:
        """Wait until the sink has taken a piece."""
        self.count += 1
        try:
            taken = self._output(chunk)
            if not isawaitable(taken):
                raise ContractError(f"the sink returned a {type(taken).__name__} and cannot be awaited: {_SINK}")
            await taken
        except Exception as error:
            self.failure = error
            raise


@dataclass(slots=True)
class Tally:
    """What all requests of one invocation have used, and what is to be said of them."""

    usage: TokenUsage = field(default_factory=TokenUsage)
    cost: float = 0.0
    warnings: dict[str, None] = field(default_factory=dict)

    def add(self, usage: TokenUsage, cost: float, *warnings: str) -> None:
        """Count what was used, and note what is to be said."""
        self.usage += usage
        self.cost += cost
        self.warn(*warnings)

    def warn(self, *warnings: str) -> None:
        """Note what is to be said, each once."""
        self.warnings.update(dict.fromkeys(warnings))


@dataclass(frozen=True, slots=True)
class Call:
    """A request, who pays for it, where its pieces go, and where what it used is noted."""

    request: ModelRequest
    payer: Scope
    delivery: Delivery | None
    tally: Tally

    @property
    def seen(self) -> int:
        """How many pieces the sink was handed so far."""
        return 0 if self.delivery is None else self.delivery.count


@dataclass(frozen=True, slots=True)
class Sender:
    """A model with all that it takes to send a request to it and to pay for it."""

    model: Model
    name: str
    retry: Retry
    prices: Prices | None
    clock: Clock | None
    timeout: float | None
    piece_timeout: float | None
    slots: Slots

    async def send(self, call: Call, why: str = "") -> ModelReply[Any]:
        """Return the answer; in a visit that runs again, that of before, which costs nothing a second time.

        A sink is handed that one, too, in pieces.
        """
        logged, tally = logged_request(call.payer, self.name, call.request), call.tally
        known = recalled_answer(logged)
        if known is not None:
            tally.add(known.usage, known.cost, *known.warnings)
            if call.delivery is not None:
                for piece in pieces_of(known.reply):
                    await call.delivery.hand(piece)
            return known.reply
        usage, cost = tally.usage, tally.cost
        tally.usage, tally.cost = TokenUsage(), 0.0
        try:
            reply = await self._sent(call, why)
            await keep_answer(logged, Answered(reply, tally.usage, tally.cost, tuple(tally.warnings)))
        finally:
            tally.usage, tally.cost = usage + tally.usage, cost + tally.cost
        return reply

    async def _sent(self, call: Call, why: str) -> ModelReply[Any]:
        """Return the answer. What fails for a while only is sent again, each time for a charge of its own.

        A stream of which the sink has seen a piece is not sent again, since the sink would see two answers.
        """
        if isinstance(self.prices, PublicPrices):
            await self.prices.load()
        clock, attempt, delivery = self._clock_of(call.payer), 1, call.delivery
        while True:
            seen = call.seen
            try:
                return await self._once(call, why, clock)
            except Exception as error:
                if (delivery is not None and delivery.failure is error) or not is_transient(error):
                    raise
                if call.seen > seen:
                    raise as_undelivered(error, call.seen - seen) from error
                if not self.retry.wants(error, attempt):
                    raise
                pause = pause_before_retry(error, self.retry, attempt)
            await (clock.sleep(pause) if pause > 0 else anyio.lowlevel.checkpoint())
            attempt += 1
            why = "retry"

    def _clock_of(self, payer: Scope) -> Clock:
        visit = None if self.clock is not None else inside(payer)
        return self.clock or (SystemClock() if visit is None else visit.host.clock)

    async def _once(self, call: Call, why: str, clock: Clock) -> ModelReply[Any]:
        patience = Patience(clock, self.timeout, self.piece_timeout)
        async with self.slots.one(), call.payer.request(self.name, why=why) as paid:
            if call.delivery is not None and getattr(self.model, "stream", None) is not None:
                return await self._streamed(call, call.delivery, paid, patience)
            reply = sound_reply(await patience.answer(lambda: self.model.complete(call.request)))
            self._pay(call, reply, paid)
            if call.delivery is not None:
                for piece in pieces_of(reply):
                    await call.delivery.hand(piece)
            return reply

    async def _streamed(self, call: Call, delivery: Delivery, paid: Paid, patience: Patience) -> ModelReply[Any]:
        """Return the answer that came piece by piece. One that broke off is paid for, too."""
        assembly = Assembly()
        try:
            async with _closing(sound_stream(cast(StreamingModel, self.model).stream(call.request))) as stream:
                tell = _teller(call.payer, paid)
                await patience.watched(lambda: self._pump(stream, delivery, assembly, patience, tell))
            if not assembly.is_whole:
                raise ModelRequestError("the stream of the answer broke off before its end", retryable=True)
        except BaseException as error:
            said = assembly.reply()
            if isinstance(error, ModelRequestError | ModelTimeout):
                error.text = error.text or said.text
            if assembly.count and not call.payer.is_closed:
                try:
                    self._pay(call, said, paid)
                except Exception as unpaid:  # takes the place of no cancellation, and is told beside it
                    error.add_note(f"what was used until then could not be paid: {unpaid}")
            raise
        self._pay(call, assembly.reply(), paid)
        return assembly.reply()

    async def _pump(
        self,
        stream: AsyncIterator[Chunk],
        delivery: Delivery,
        assembly: Assembly,
        patience: Patience,
        tell: Callable[[Chunk], None] | None,
    ) -> None:
        """Read the stream piece by piece; the next one is read when the sink has taken the last."""
        wait = patience.first  # before the first piece a model may think
        while True:
            try:
                chunk = await wait(stream.__anext__)
            except StopAsyncIteration:
                return
            wait = patience.piece
            assembly.add(sound_chunk(chunk))
            if tell is not None:
                tell(chunk)
            await delivery.hand(chunk)

    def _pay(self, call: Call, reply: ModelReply[Any], paid: Paid) -> None:
        """Add what a request used, as the model told it; estimated where it did not, or told what cannot be."""
        usage, cost = reply.usage, 0.0
        if not is_usage(usage):
            call.tally.warn("the model told a usage that cannot be, so it was estimated")
        if not is_usage(usage) or not usage.total:
            usage = estimated_usage(self.model, call.request, reply)
        try:
            cost = self._cost(reply, usage, call.tally)
        finally:
            paid.used(tokens=usage.total, cost=cost, estimated=usage.estimated)
            call.tally.add(usage, cost, *reply.warnings)

    def _cost(self, reply: ModelReply[Any], usage: TokenUsage, tally: Tally) -> float:
        told: Any = reply.cost
        if told and is_cost(told):
            return float(told)
        if told:
            tally.warn("the model told a cost that cannot be, so it was not counted")
        return self._price(reply, usage, tally)

    def _price(self, reply: ModelReply[Any], usage: TokenUsage, tally: Tally) -> float:
        if self.prices is None:
            return 0.0
        cost = sound_price(self.name, self.prices(self.name, usage))
        if cost is None and reply.model and reply.model != self.name:
            cost = sound_price(reply.model, self.prices(reply.model, usage))
        if cost is None:
            tally.warn(f"the price of {self.name!r} is not known, so its cost is counted as 0: give `prices=`")
        return cost or 0.0


def _teller(payer: Scope, paid: Paid) -> Callable[[Chunk], None] | None:
    """Return who tells those that follow the run of each piece; None outside of runs."""
    visit = inside(payer)
    if visit is None or not paid.number:
        return None

    def tell(chunk: Chunk) -> None:
        if chunk.text or chunk.reasoning:
            values = {"text": chunk.text, "reasoning": chunk.reasoning}
            visit.host.tell(visit.where, ModelChunk, request=paid.number, **values)

    return tell


@asynccontextmanager
async def _closing(stream: AsyncIterator[Chunk]) -> AsyncGenerator[AsyncIterator[Chunk]]:
    """Close a stream when it is left, after a cancellation too."""
    try:
        yield stream
    finally:
        if (close := getattr(stream, "aclose", None)) is not None:
            with anyio.move_on_after(_CLOSING, shield=True):
                await close()
