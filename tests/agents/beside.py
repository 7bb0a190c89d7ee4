"""Beside each other: in what two loops differ over one conversation, in a few words."""

from __future__ import annotations

from collections.abc import Sequence

from tests.agents.sides import Told

from flowcore.messages import Message

__all__ = ["SAME", "course", "differences"]

SAME = "the same"


def course(told: Told) -> str:
    """Return how a conversation went: how it ended, after how many requests, and what tools did."""
    requests = f"{len(told.requests)} request{'s' * (len(told.requests) != 1)}"
    ran = f", {len(told.ran)} run{'s' * (len(told.ran) != 1)}" if told.ran else ""
    return f"{told.end}: {requests}{ran}"


def differences(ours: Told, theirs: Told) -> list[str]:
    """Return in what they differ; nothing where they do not."""
    found: list[str] = []
    if course(ours) != course(theirs):
        found.append(course(theirs))
    elif ours.ran != theirs.ran:
        found.append("tools run otherwise")
    elif ours.text != theirs.text:
        found.append("another answer")
    for mine, other in zip(ours.requests, theirs.requests, strict=False):
        found += [each for each in _between(mine, other) if each not in found]
    if any(mine != other for mine, other in zip(ours.tools, theirs.tools, strict=False)):
        found.append("other tools are shown")
    return found


def _between(ours: Sequence[Message], theirs: Sequence[Message]) -> list[str]:
    """Return in what two requests differ."""
    if [each.role for each in ours] != [each.role for each in theirs]:
        return ["other messages"]
    found: list[str] = []
    for mine, other in zip(ours, theirs, strict=True):
        calls = list(zip(mine.tool_calls, other.tool_calls, strict=False))
        if [call.name for call in mine.tool_calls] != [call.name for call in other.tool_calls]:
            found.append("other calls")
        if mine.tool_call_id != other.tool_call_id or any(one.id != two.id for one, two in calls):
            found.append("another id")
        if any(one.arguments != two.arguments for one, two in calls):
            found.append("arguments are sent back otherwise")
        if mine.content != other.content:
            found.append("the result reads otherwise" if mine.role == "tool" else "other words")
    return found
