"""The model runner: sends requests to a model, pays for them from the scope around it, and reads the answers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload
from urllib.parse import urlsplit

from ..clock import Clock
from ..errors import ContractError
from ..messages import ModelReply, ModelRequest, ModelSettings, ToolSchema
from ..retry import Retry
from ..scope import Scope, current_scope
from ..types import is_a
from .exchange import Exchange, Reducer, Rules
from .features import features_of
from .measure import Measure, measured
from .model import EVERY_FEATURE, Feature, Model
from .output import form_of
from .prepared import Frame, Prepared, Said, as_messages
from .prices import Prices, PublicPrices
from .sending import Delivery, Sender, Sink, Tally
from .slots import Slots

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["ModelRunner"]

T = TypeVar("T")
_RETRY = Retry(attempts=3, wait=0.5, max_wait=30.0)


class ModelRunner:
    """Sends requests to a model. Whatever flow, sub-flow or plain code calls it, that one's budget pays.

    Raises `ValueError` for numbers out of range, and for what is no retry, no settings and no feature.
    """

    def __init__(
        self,
        model: str | Model,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        client: Any = None,
        features: Collection[Feature] | None = None,
        context_limit: int | None = None,
        retry: Retry | None = _RETRY,
        repairs: int = 1,
        settings: ModelSettings = ModelSettings(),  # noqa: B008 - frozen
        prices: Prices | None = None,
        reducer: Reducer | None = None,
        concurrency: int | None = None,
        timeout: float | None = 300.0,
        piece_timeout: float | None = 60.0,
        clock: Clock | None = None,
    ) -> None:
        """Make a runner.

        Args:
            model: The name of a model behind an OpenAI-compatible API, or anything that keeps to `Model`.
            base_url: Where the API of a named model is.
            api_key: The key of a named model. It is shown nowhere.
            client: The `httpx.AsyncClient` for a named model; one of its own if none is given.
            features: What the model takes beside messages, if it is not what the model itself says.
            context_limit: How many tokens a request and its answer may be; what is larger is not sent.
            retry: How often and after what pause a request that failed for a while only is sent again.
            repairs: How often a model may answer again whose answer is not of the type that was asked for.
            settings: How the model is to answer, where a call says nothing else.
            prices: A function of a model's name and the usage that returns the cost, if not the public prices.
            reducer: A function that shortens messages which the provider found too long. They are sent once more.
            concurrency: How many requests may be under way at once.
            timeout: How many seconds one request may take, beside what a sink takes.
            piece_timeout: How many seconds may pass between two pieces of a stream.
            clock: The clock for pauses and timeouts, in place of the run's.
        """
        _check(repairs, context_limit, concurrency, timeout, piece_timeout)
        _check_kinds(retry, settings)
        self._is_own = isinstance(model, str)
        self._model: Model = (
            _chat_model(model, base_url, api_key, client, timeout) if isinstance(model, str) else model
        )
        known = str(getattr(self._model, "name", ""))
        self._name = known or type(self._model).__name__
        self._host = urlsplit(str(getattr(self._model, "base_url", None) or "")).hostname or ""
        own: Collection[Feature] = getattr(self._model, "features", EVERY_FEATURE)
        self._features = frozenset(own) if features is None else features_of("ModelRunner", features)
        self._rules = Rules(context_limit, repairs, reducer)
        self._settings = settings
        self._sender = Sender(
            self._model,
            self._name,
            retry or Retry(attempts=1),
            prices or (PublicPrices(str(getattr(self._model, "base_url", None) or "")) if known else None),
            clock,
            timeout,
            piece_timeout,
            Slots(concurrency),
        )

    def __repr__(self) -> str:
        return f"<ModelRunner {self._name}{' at ' if self._host else ''}{self._host}>"

    @property
    def name(self) -> str:
        """What the model is known by."""
        return self._name

    @property
    def features(self) -> frozenset[Feature]:
        """What the model takes beside messages."""
        return self._features

    @property
    def context_limit(self) -> int | None:
        """How many tokens a request and its answer may be; None where that was not said."""
        return self._rules.limit

    @overload
    def prepare(
        self,
        *,
        instructions: str = "",
        output: None = None,
        tools: Sequence[ToolSchema] = (),
        settings: ModelSettings | None = None,
        messages: Said = (),
    ) -> Prepared[str]: ...
    @overload
    def prepare(
        self,
        *,
        instructions: str = "",
        output: type[T] | TypeAdapter[T],
        settings: ModelSettings | None = None,
        messages: Said = (),
    ) -> Prepared[T]: ...
    @overload
    def prepare(
        self,
        *,
        instructions: str = "",
        output: type[T] | TypeAdapter[T],
        tools: Sequence[ToolSchema],
        settings: ModelSettings | None = None,
        messages: Said = (),
    ) -> Prepared[T | None]: ...
    def prepare(
        self,
        *,
        instructions: str = "",
        output: Any = None,
        tools: Sequence[ToolSchema] = (),
        settings: ModelSettings | None = None,
        messages: Said = (),
    ) -> Prepared[Any]:
        """Return a snapshot of a request that lacks only its last messages, to be measured and then sent once.

        Costs nothing and reserves nothing. `instructions` become a system message in front, `messages` stand
        before those that are given to `measure` and `invoke`. Raises `ContractError` for what the model does not
        take.
        """
        frame = self._frame(instructions, output, tools, settings, messages).snapshot()
        return Prepared(frame, self, self._measure)

    @overload
    async def invoke(
        self,
        messages: Said,
        *,
        output: None = None,
        tools: Sequence[ToolSchema] = (),
        sink: Sink | None = None,
        settings: ModelSettings | None = None,
        reducer: Reducer | None = None,
        scope: Scope | None = None,
    ) -> ModelReply[str]: ...
    @overload
    async def invoke(
        self,
        messages: Said,
        *,
        output: type[T] | TypeAdapter[T],
        sink: Sink | None = None,
        settings: ModelSettings | None = None,
        reducer: Reducer | None = None,
        scope: Scope | None = None,
    ) -> ModelReply[T]: ...
    @overload
    async def invoke(
        self,
        messages: Said,
        *,
        output: type[T] | TypeAdapter[T],
        tools: Sequence[ToolSchema],
        sink: Sink | None = None,
        settings: ModelSettings | None = None,
        reducer: Reducer | None = None,
        scope: Scope | None = None,
    ) -> ModelReply[T | None]: ...
    @overload
    async def invoke(
        self,
        messages: Said = (),
        *,
        prepared: Prepared[T],
        sink: Sink | None = None,
        reducer: Reducer | None = None,
        scope: Scope | None = None,
    ) -> ModelReply[T]: ...
    async def invoke(
        self,
        messages: Said = (),
        *,
        output: Any = None,
        tools: Sequence[ToolSchema] = (),
        sink: Sink | None = None,
        prepared: Prepared[Any] | None = None,
        settings: ModelSettings | None = None,
        reducer: Reducer | None = None,
        scope: Scope | None = None,
    ) -> ModelReply[Any]:
        """Send the messages (a text is one user message) and return the reply, its `value` of the type `output`.

        Each request is charged before it is sent, repairs and those that are sent again too; tokens and cost are
        added when they are known. With a `sink` the answer comes piece by piece, and the sink is awaited for each.
        A `reducer` shortens these messages where the runner has none.

        Raises:
            BudgetExhausted: The scope has no request left.
            ContextOverflow: The request is larger than the model can read; over `context_limit` it was not sent.
            ModelRequestError: The request was refused or could not be sent, after its retries.
            ModelTimeout: No answer came in time.
            OutputInvalid: The answer is not of the type `output`, after its repairs.
            ContractError: A prepared request is used twice, or belongs to another runner.
            LookupError: There is no scope around, and none was given.
        """
        payer = scope if scope is not None else current_scope()
        said = as_messages(messages)
        if prepared is None:
            frame = self._frame("", output, tools, settings)
        elif output is not None or tools or settings is not None:
            raise ContractError("a prepared request has its output, tools and settings: give them to `prepare`")
        else:
            frame = prepared.used_by(self)
        tally = Tally()
        tally.warn(*frame.warnings)
        delivery = None if sink is None else Delivery(sink)
        rules = self._rules if reducer is None else self._rules.with_reducer(reducer)
        exchange = Exchange(self._sender, rules, frame, payer, delivery, tally)
        reply, value = await exchange.answer(said)
        return replace(reply, value=value, usage=tally.usage, cost=tally.cost, warnings=tuple(tally.warnings))

    async def aclose(self) -> None:
        """Close the connections of a model that was made from its name."""
        if self._is_own:
            await cast(Any, self._model).aclose()

    def _frame(
        self,
        instructions: str,
        output: Any,
        tools: Sequence[ToolSchema],
        settings: ModelSettings | None,
        before: Said = (),
    ) -> Frame:
        if settings is not None and not is_a(settings, ModelSettings):
            raise ContractError(f"the settings are a {type(settings).__name__}: give ModelSettings(...)")
        merged = self._settings if settings is None else settings.over(self._settings)
        return Frame.of(self._features, instructions, form_of(output), tools, merged, before)

    def _measure(self, request: ModelRequest, streaming: bool) -> Measure:
        return measured(self._model, request, self._rules.limit, streaming=streaming)


def _check(repairs: int, *limits: float | None) -> None:
    """Return if the numbers are in range. Raises `ValueError` for the first one that is not."""
    if repairs < 0:
        raise ValueError(f"ModelRunner(repairs={repairs}): give zero or more")
    for name, number in zip(("context_limit", "concurrency", "timeout", "piece_timeout"), limits, strict=True):
        if number is not None and not number > 0:
            raise ValueError(f"ModelRunner({name}={number}): give more than zero, or None")


def _check_kinds(retry: object, settings: object) -> None:
    if retry is not None and not is_a(retry, Retry):
        raise ValueError(f"ModelRunner(retry={retry!r}): give Retry(attempts=...), or None")
    if not is_a(settings, ModelSettings):
        raise ValueError(f"ModelRunner(settings={settings!r}): give ModelSettings(...)")


def _chat_model(name: str, base_url: str | None, api_key: str | None, client: Any, timeout: float | None) -> Model:
    from .chat import ChatModel  # noqa: PLC0415 - loaded only by who calls a model by HTTP

    if base_url is None:
        return ChatModel(name, api_key=api_key, client=client, timeout=timeout)
    return ChatModel(name, base_url=base_url, api_key=api_key, client=client, timeout=timeout)
