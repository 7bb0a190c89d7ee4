"""The pydantic-ai model: any model of pydantic-ai, of whichever provider, as one of ours."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from ..errors import ContextOverflow, ModelRequestError, ModelTimeout
from ..messages import Attachment, Chunk, Message, ModelReply, ModelRequest, ModelSettings, TokenUsage, ToolCall
from .features import within
from .measure import estimated_usage
from .model import Feature

try:
    from pydantic_ai import exceptions
    from pydantic_ai import messages as said
    from pydantic_ai import models as theirs
    from pydantic_ai.direct import model_request, model_request_stream
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.settings import ModelSettings as Settings
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.usage import RequestUsage
except ImportError as error:
    raise ImportError('models of pydantic-ai need an extra: pip install "flowcore[pydantic-ai]"') from error

__all__ = ["PydanticAIModel"]

_FINISHES = {"tool_call": "tool_calls"}
_CALL = said.ToolCallPart


class PydanticAIModel:
    """A model of pydantic-ai, given as such or by name as in `openai:gpt-5`. It runs where pydantic-ai does."""

    def __init__(self, model: theirs.Model | str) -> None:
        self._model = model if isinstance(model, theirs.Model) else theirs.infer_model(model)
        self.features = _features(self._model)

    @property
    def name(self) -> str:
        """The name of the model, without that of its provider."""
        return self._model.model_name

    async def complete(self, request: ModelRequest) -> ModelReply[Any]:
        """Return the whole answer. Raises `ModelError` when there is none."""
        request, warnings = within(self.features, request)
        with _translated():
            response = await model_request(
                self._model,
                _messages(request.messages),
                model_settings=_settings(request.settings),
                model_request_parameters=_parameters(request),
            )
        reply = replace(_reply(response), warnings=tuple(warnings))
        return replace(reply, usage=self._usage(request, reply))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        """Yield the answer in pieces, the last one with usage and `finish_reason`. Closing it ends the request."""
        request, warnings = within(self.features, request)
        with _translated():
            async with model_request_stream(
                self._model,
                _messages(request.messages),
                model_settings=_settings(request.settings),
                model_request_parameters=_parameters(request),
            ) as response:
                calls: list[int] = []
                async for event in response:
                    for chunk in _chunks(event, calls):
                        yield chunk
                reply = _reply(response.get())
        yield Chunk(
            usage=self._usage(request, reply),
            finish_reason=reply.finish_reason,
            model=reply.model,
            id=reply.id,
            warnings=tuple(warnings),
        )

    def __repr__(self) -> str:
        return f"PydanticAIModel({self._model.model_id!r})"

    def _usage(self, request: ModelRequest, reply: ModelReply[Any]) -> TokenUsage:
        return reply.usage if reply.usage.total else estimated_usage(self, request, reply)


def _features(model: theirs.Model) -> frozenset[Feature]:
    profile = model.profile
    has: dict[Feature, bool] = {
        "tools": profile.get("supports_tools", True),
        "output_schema": profile.get("supports_json_schema_output", False),
        "reasoning_effort": profile.get("supports_thinking", False),
    }
    return frozenset(feature for feature, there in has.items() if there)


def _parameters(request: ModelRequest) -> theirs.ModelRequestParameters:
    tools = [
        ToolDefinition(
            name=tool.name, parameters_json_schema=dict(tool.parameters), description=tool.description or None
        )
        for tool in request.tools
    ]
    if request.output is None:
        return theirs.ModelRequestParameters(function_tools=tools)
    output = OutputObjectDefinition(json_schema=dict(request.output.schema), name=request.output.name)
    return theirs.ModelRequestParameters(function_tools=tools, output_mode="native", output_object=output)


def _settings(settings: ModelSettings) -> Settings:
    given: dict[str, Any] = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_tokens": settings.max_tokens,
        "stop_sequences": list(settings.stop) or None,
        "seed": settings.seed,
        "thinking": settings.reasoning_effort,
        "extra_body": dict(settings.extra) or None,
    }
    return cast(Settings, {name: value for name, value in given.items() if value is not None})


def _messages(messages: tuple[Message, ...]) -> list[said.ModelMessage]:
    """Return the conversation as turns: what is asked between two answers is one request."""
    turns: list[said.ModelMessage] = []
    asked: list[said.ModelRequestPart] = []
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    for message in messages:
        if message.role != "assistant":
            asked.append(_asked(message, names))
            continue
        if asked:
            turns.append(said.ModelRequest(parts=asked))
            asked = []
        turns.append(said.ModelResponse(parts=_answered(message)))
    if asked:
        turns.append(said.ModelRequest(parts=asked))
    return turns


def _asked(message: Message, names: dict[str, str]) -> said.ModelRequestPart:
    if message.role == "system":
        return said.SystemPromptPart(message.content)
    if message.role == "tool":
        name = names.get(message.tool_call_id, "")
        return said.ToolReturnPart(name, message.content, tool_call_id=message.tool_call_id)
    if not message.attachments:
        return said.UserPromptPart(message.content)
    text: list[said.UserContent] = [message.content] if message.content else []
    return said.UserPromptPart([*text, *map(_attached, message.attachments)])


def _attached(attachment: Attachment) -> said.UserContent:
    if attachment.data:
        return said.BinaryContent(attachment.data, media_type=attachment.media_type)
    match attachment.media_type.partition("/")[0]:
        case "image":
            return said.ImageUrl(attachment.url)
        case "audio":
            return said.AudioUrl(attachment.url)
        case "video":
            return said.VideoUrl(attachment.url)
        case _:
            return said.DocumentUrl(attachment.url)


def _answered(message: Message) -> list[said.ModelResponsePart]:
    text: list[said.ModelResponsePart] = [said.TextPart(message.content)] if message.content else []
    return text + [_CALL(call.name, call.arguments, tool_call_id=call.id) for call in message.tool_calls]


def _reply(response: said.ModelResponse) -> ModelReply[Any]:
    parts = response.parts
    calls = tuple(
        ToolCall(part.tool_call_id, part.tool_name, _arguments(part)) for part in parts if isinstance(part, _CALL)
    )
    files = [part.content for part in parts if isinstance(part, said.FilePart)]
    reason = response.finish_reason or ("tool_call" if calls else "stop")
    return ModelReply(
        "".join(part.content for part in parts if isinstance(part, said.TextPart)),
        usage=_tokens(response.usage),
        finish_reason=_FINISHES.get(reason, reason),
        tool_calls=calls,
        attachments=tuple(Attachment(one.media_type, one.data) for one in files),
        reasoning="".join(part.content for part in parts if isinstance(part, said.ThinkingPart)),
        model=response.model_name or "",
        id=response.provider_response_id or "",
    )


def _tokens(usage: RequestUsage) -> TokenUsage:
    reasoning = usage.details.get("reasoning_tokens", 0)
    return TokenUsage(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, reasoning)


def _arguments(part: said.ToolCallPart) -> str:
    """Return the arguments as JSON text: as the model wrote them, where it wrote text."""
    return part.args if isinstance(part.args, str) else json.dumps(part.args or {})


def _chunks(event: said.ModelResponseStreamEvent, calls: list[int]) -> Iterator[Chunk]:
    """Yield what an event of a stream adds. `calls` has the places of the parts that are tool calls."""
    if isinstance(event, said.PartStartEvent):
        yield from _started(event.part, event.index, calls)
    elif isinstance(event, said.PartDeltaEvent):
        yield from _added(event.delta, event.index, calls)
    elif (
        isinstance(event, said.PartEndEvent)
        and isinstance(event.part, _CALL)
        and not isinstance(event.part.args, str)
    ):
        yield Chunk(call=calls.index(event.index), arguments=_arguments(event.part))


def _started(part: said.ModelResponsePart, index: int, calls: list[int]) -> Iterator[Chunk]:
    if isinstance(part, said.TextPart) and part.content:
        yield Chunk(text=part.content)
    elif isinstance(part, said.ThinkingPart) and part.content:
        yield Chunk(reasoning=part.content)
    elif isinstance(part, _CALL):
        calls.append(index)
        arguments = part.args if isinstance(part.args, str) else ""
        yield Chunk(call=len(calls) - 1, call_id=part.tool_call_id, call_name=part.tool_name, arguments=arguments)


def _added(delta: said.ModelResponsePartDelta, index: int, calls: list[int]) -> Iterator[Chunk]:
    if isinstance(delta, said.TextPartDelta) and delta.content_delta:
        yield Chunk(text=delta.content_delta)
    elif isinstance(delta, said.ThinkingPartDelta) and delta.content_delta:
        yield Chunk(reasoning=delta.content_delta)
    elif isinstance(delta, said.ToolCallPartDelta) and isinstance(delta.args_delta, str):
        yield Chunk(call=calls.index(index), arguments=delta.args_delta)


@contextmanager
def _translated() -> Generator[None]:
    """Raise the errors of pydantic-ai as ours."""
    try:
        yield
    except exceptions.ModelContextWindowExceededError as error:
        raise ContextOverflow(str(error)) from error
    except (exceptions.ModelTimeoutError, exceptions.ModelRequestTimeout) as error:
        raise ModelTimeout(str(error), float(getattr(error, "timeout", 0.0))) from error
    except exceptions.ModelHTTPError as error:
        status = error.status_code
        raise ModelRequestError(
            str(error), status=status, retryable=status in (408, 409, 425, 429) or status >= 500,
            retry_after=error.retry_after,
        ) from error  # fmt: skip
    except exceptions.ModelAPIError as error:
        refused = isinstance(error, exceptions.ModelRequestRejectedError | exceptions.ModelQuotaExceededError)
        raise ModelRequestError(str(error), retryable=not refused, retry_after=error.retry_after) from error
    except exceptions.UnexpectedModelBehavior as error:
        raise ModelRequestError(str(error)) from error
