"""The result of a call: what came of it, for the program and for the model. There is one for every call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic_core import PydanticSerializationError, to_json

from ..messages import Attachment, ToolCall
from .json_text import sendable

__all__ = ["Status", "ToolOutput", "ToolResult", "compacted", "result_text"]

Status = Literal[
    "ok",
    "invalid_arguments",
    "unknown_tool",
    "denied",
    "timeout",
    "failed",
    "invalid_output",
    "skipped",
    "not_executed",
    "cancelled",
    "unknown",
]
"""What came of a call; the page of tools says what each means."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool returns if a model is to read something else than the program gets, or to see pictures."""

    text: str
    value: Any = None
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of a call. `text` is what the model is told, `value` what the tool returned where it is `ok`.

    `handler_ran` says that the tool began, so that something outside may have changed, whatever the status.
    `must_end` says that the model goes round in circles: the loop should let it answer without tools.
    `tool` is the name of the tool that was meant: a model may write it otherwise.
    """

    call: ToolCall
    status: Status
    text: str
    value: Any = field(default=None, repr=False)
    handler_ran: bool = False
    must_end: bool = False
    tool: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether the tool did what was asked."""
        return self.status == "ok"

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The pictures and files that the tool returned."""
        return self.value.attachments if isinstance(self.value, ToolOutput) else ()


def result_text(value: Any) -> str:
    """Return a value as a model reads it: a text as it is, all else as JSON."""
    if isinstance(value, ToolOutput):
        value = value.text
    if isinstance(value, str):
        return sendable(value)
    try:
        return to_json(value, bytes_mode="base64", inf_nan_mode="strings", fallback=_shown).decode("utf-8")
    except (PydanticSerializationError, ValueError, RecursionError):
        return _shown(value)


def compacted(text: str, most: int) -> str:
    """Return a text, or of one above `most` characters its head and tail, and how much is missing."""
    if len(text) <= most:
        return text
    head = most * 2 // 3
    tail = most - head
    left = len(text) - most
    return f"{text[:head]}\n[... {left:,} of {len(text):,} characters left out ...]\n{text[len(text) - tail :]}"


def _shown(value: object) -> str:
    try:
        return str(value)
    except Exception:  # what a tool returned is reported even if it cannot be shown
        return f"a {type(value).__name__}"
