"""Histories for tests of context nodes, and flows with one such node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from tests.core.runs import ends

from flowcore import Flow, Log
from flowcore.events import ContextCompacted, Event
from flowcore.messages import Message, ToolCall

SYSTEM = Message("system", "You help.")


@dataclass
class Chat:
    messages: Log[Message] = field(default_factory=lambda: Log[Message]())
    kept: list[Message] = field(default_factory=list)


def user(text: str) -> Message:
    return Message("user", text)


def said(text: str) -> Message:
    return Message("assistant", text)


def called(number: int, *sizes: int) -> list[Message]:
    """Returns a reply with a call for each size, and a result of that size for each call."""
    ids = [f"c{number}.{place}" for place in range(len(sizes))]
    calls = tuple(ToolCall(id, "look_up", "{}") for id in ids)
    results = [Message("tool", "r" * size, tool_call_id=id) for id, size in zip(ids, sizes, strict=True)]
    return [Message("assistant", "", calls), *results]


def flow_of(node: Any, state: type = Chat) -> Flow[Any, Any, Any]:
    """Returns a flow of one node that completes with the state."""
    end = ends(state, lambda step: step.state)
    return Flow("flow", node.to(end), end)


async def events_of(flow: Flow[Any, Any, Any], state: Any, **options: Any) -> tuple[Any, list[ContextCompacted]]:
    """Returns the result of a run, and what it told of its context."""
    async with flow.start(state, **options) as run:
        events: list[Event] = [event async for event in run.events()]
        result = await run.wait()
    return result, [event for event in events if isinstance(event, ContextCompacted)]


def histories() -> st.SearchStrategy[list[Message]]:
    """Any history: system messages in front or none, then messages and calls with their results."""
    texts = st.text(max_size=40)
    units = st.one_of(
        texts.map(lambda text: [user(text)]),
        texts.map(lambda text: [said(text)]),
        st.tuples(st.integers(0, 9_999), st.lists(st.integers(0, 60), min_size=1, max_size=3)).map(
            lambda given: called(given[0], *given[1])
        ),
    )
    leading = st.lists(texts.map(lambda text: Message("system", text)), max_size=2)
    bodies = st.lists(units, max_size=8)
    return st.tuples(leading, bodies).map(lambda parts: parts[0] + [one for unit in parts[1] for one in unit])


def is_whole(messages: list[Message]) -> bool:
    """Whether each result follows its call and each call has its results."""
    open_ids: list[str] = []
    for message in messages:
        if message.role == "tool":
            if message.tool_call_id not in open_ids:
                return False
            open_ids.remove(message.tool_call_id)
        elif open_ids:
            return False
        open_ids += [call.id for call in message.tool_calls]
    return not open_ids
