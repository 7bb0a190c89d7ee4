"""The pairs: what a request brings along stands as calls with their results, as if the model had asked for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

from flowcore.messages import Message, ToolCall
from flowcore_agent.context.context import AgentContext

__all__ = ["READ_FILE", "READ_SKILL", "TIME", "call_pairs"]

READ_FILE = "read_context_file"
READ_SKILL = "read_skill"
TIME = "current_time"


def call_pairs(context: AgentContext) -> list[Message]:
    """Return a message with a call for each context file, the time and each chosen skill, then their results."""
    given = list(_given(context))
    if not given:
        return []
    calls = tuple(
        ToolCall(f"context-{number}", name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments, _) in enumerate(given, 1)
    )
    results = [
        Message("tool", text, tool_call_id=call.id) for call, (_, _, text) in zip(calls, given, strict=True)
    ]
    return [Message("assistant", "", calls), *results]


def _given(context: AgentContext) -> Iterator[tuple[str, dict[str, str], str]]:
    for file in context.files or ():
        yield READ_FILE, {"name": file.name}, file.text
    if context.now is not None:
        yield TIME, {}, _told(context.now)
    for skill in context.chosen_skills or ():
        yield READ_SKILL, {"name": skill.name}, skill.text


def _told(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="seconds") + moment.strftime(" (%A)")
