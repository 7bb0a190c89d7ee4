"""The stream: what a client is told of a run while it goes on, piece by piece, up to its end."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from typing import Any, Literal, cast, get_args

import anyio

from flowcore import Run, RunResult
from flowcore.errors import Failure
from flowcore.events import (
    ArtifactAdded,
    Custom,
    Event,
    ModelChunk,
    RunCancelledEvent,
    RunCompleted,
    RunFailedEvent,
    StatePatched,
    ToolDelta,
)
from flowcore.messages import Chunk
from flowcore.models import Sink
from flowcore_agent.delivery.clean import clean
from flowcore_agent.guardrails.gate import SAYING, taker_of
from flowcore_agent.reply import AgentReply
from flowcore_agent.sub_agents.events import SubAgentEvent

__all__ = ["STREAMS", "StreamKind", "StreamPiece", "Streamed", "piece_of"]

StreamKind = Literal[
    "content",
    "reasoning",
    "guardrail",
    "run",
    "step",
    "model",
    "tool",
    "sub_agent",
    "memory",
    "skills",
    "files",
    "context",
    "artifact",
    "policy",
    "request",
    "budget",
    "custom",
    "end",
]
"""What a piece tells of. Kinds may be added: a client ignores those it does not know."""


@dataclass(frozen=True, slots=True)
class StreamPiece:
    """A piece of a stream.

    `content` and `reasoning` have a `text`, and nothing else has. `name` is that of the event that a piece was
    made of, `path` its place in the run, `data` what it says. The last piece is `end`, and has the `result` of the
    run, however it ended.
    """

    kind: StreamKind
    text: str = ""
    name: str = ""
    path: str = ""
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    result: RunResult[AgentReply] | None = None


class Streamed:
    """The pieces of one run: a sink of its model and an observer of its events. `pieces` is the other end.

    The model waits until the client has taken a piece, so what it says stands in its order. Events come in theirs,
    and may come later than the text that follows them.
    """

    def __init__(self, beside: Sink | None) -> None:
        self._send, self.pieces = anyio.create_memory_object_stream[StreamPiece](0)
        self._beside = None if beside is None else taker_of(beside)
        self._said: list[str] = [""]
        self.run: Run[AgentReply] | None = None

    async def output(self, chunk: Chunk, /) -> None:
        """Take a piece of what the model says."""
        if self._beside is not None:
            await self._beside(chunk)
        if chunk.reasoning:
            await self._send.send(StreamPiece("reasoning", chunk.reasoning))
        if chunk.text:
            self._said[-1] += chunk.text
            await self._send.send(StreamPiece("content", chunk.text))
        if chunk.finish_reason:
            self._said.append("")

    @contextmanager
    def taking(self) -> Generator[None]:
        """Let a run that is started inside hand its pieces to this stream, by way of `STREAMS`."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    async def observe(self, event: Event) -> None:
        """Take an event. After the last one the stream ends."""
        try:
            if isinstance(event, RunCompleted | RunFailedEvent | RunCancelledEvent):
                await self._end()
            elif (piece := piece_of(event)) is not None:
                await self._send.send(piece)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):  # nobody listens any more
            return

    async def _end(self) -> None:
        assert self.run is not None  # it has ended
        result = await self.run.wait()
        text = result.value.text if isinstance(result.value, AgentReply) else ""
        if text and text not in map(clean, self._said):
            await self._send.send(StreamPiece("content", text))
        await self._send.send(StreamPiece("end", result=result))
        self._send.close()

    def close(self) -> None:
        """Let go of both ends."""
        self._send.close()
        self.pieces.close()


class _Streams:
    """The sink of all runs that are streamed: each has its own stream in its context."""

    async def output(self, chunk: Chunk, /) -> None:
        """Hand a piece to the stream of the run."""
        if (streamed := _current.get()) is not None:
            await streamed.output(chunk)


_current: ContextVar[Streamed | None] = ContextVar("flowcore_agent_streamed", default=None)
STREAMS = _Streams()


def piece_of(event: Event) -> StreamPiece | None:
    """Return an event as a piece of a stream; None for what a client is told otherwise, or not at all.

    No piece has a draft of the answer: that comes as content, when it has passed the guardrails.
    """
    if isinstance(event, ToolDelta) and isinstance(event.data, SubAgentEvent):
        return _of_sub_agent(event.data)
    if isinstance(event, ModelChunk | RunCompleted | RunFailedEvent | RunCancelledEvent):
        return None
    if isinstance(event, StatePatched):
        return StreamPiece("step", name=event.kind, path=event.path, data={"fields": list(event.patch)})
    if isinstance(event, Custom):
        told: Any = event.data
        data: dict[str, Any] = dict(cast(Mapping[str, Any], told)) if isinstance(told, Mapping) else {"data": told}
        return StreamPiece(_kind_of(event.name), name=event.name, path=event.path, data=data)
    data = {entry.name: _plain(getattr(event, entry.name)) for entry in fields(event) if entry.name not in _UNTOLD}
    if isinstance(event, ArtifactAdded):
        del data["data"]
    if data.get("tool") in SAYING:
        data.pop("arguments", None)
    return StreamPiece(_kind_of(event.kind), name=event.kind, path=event.path, data=data)


_UNTOLD = ("seq", "run_id", "path", "at")
_KINDS: Mapping[str, StreamKind] = {
    "round": "step",
    "node": "step",
    "route": "step",
    "call": "step",
    "tool.denied": "policy",
    "sign_in": "request",
}
"""The kind of events whose first word, or whole name, is not a kind itself."""


def _plain(value: Any) -> Any:
    """Return what an event says, a failure in words."""
    return {"code": value.code, "message": str(value)} if isinstance(value, Failure) else value


def _kind_of(name: str) -> StreamKind:
    first = name.partition(".")[0]
    found = _KINDS.get(name) or _KINDS.get(first) or first
    return cast(StreamKind, found) if found in get_args(StreamKind) else "custom"


def _of_sub_agent(told: SubAgentEvent) -> StreamPiece | None:
    inner = piece_of(told.event)
    if inner is None:
        return None
    data = {"task": told.task, "depth": told.depth, "kind": inner.kind, **inner.data}
    return StreamPiece("sub_agent", name=inner.name, path=inner.path, data=data)
