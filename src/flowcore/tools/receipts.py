"""Receipts: what is recorded of a call, so that a visit that runs again does not make it a second time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from ..errors import NotSerialisable, StoreError
from ..visit_host import CallStatus, Inside, LoggedCall
from .definition import Tool
from .policy import Proposal
from .result import Status, result_text

__all__ = ["UNKNOWN", "Ended", "arguments_text", "keep", "logged", "note", "recalled"]

_RESULTS: frozenset[Status] = frozenset(("ok", "failed", "invalid_output", "timeout"))
"""What came of a call without effects, if it came to an end."""
_GONE = "It was done before; what it returned then cannot be read any more."


class Ended(NamedTuple):
    """How a dispatched call ended. `is_signal` says that its error steers the run."""

    status: Status
    text: str
    value: Any = None
    error: BaseException | None = None
    is_signal: bool = False


UNKNOWN = Ended(
    "unknown", "It was interrupted, and nobody knows whether it was done. Do not repeat it before that is clear."
)


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Return arguments as JSON text."""
    return result_text(dict(arguments))


def logged(around: Inside | None, proposal: Proposal) -> LoggedCall | None:
    """Return a call that may be made, as the log of its visit has it; None outside of a run."""
    if around is None:
        return None
    host, where = around
    text = arguments_text(proposal.arguments)
    if not proposal.tool.effects:
        return host.log(where, "tool", proposal.tool.name, text)
    return host.log(where, "effect", proposal.tool.name, json.dumps(json.loads(text), sort_keys=True))


def recalled(call: LoggedCall | None, tool: Tool) -> Ended | None:
    """Return what came of a call before; None if that is not recorded, or cannot be read and may be repeated."""
    if call is None or not call.has_result:
        return None
    try:
        kept: Mapping[str, Any] = call.recall()
    except StoreError:
        return Ended("ok" if call.status == "done" else "unknown", _GONE) if tool.effects else None
    return Ended(kept["status"], kept["text"], kept.get("value"))


def note(call: LoggedCall | None, tool: Tool, ended: Ended) -> bool:
    """Note what came of a call; it is written with what comes next. Return whether there was something to note."""
    if call is None or not (tool.effects or (ended.status in _RESULTS and not ended.is_signal)):
        return False
    status = _status(ended)
    kept = {"status": ended.status, "text": ended.text}
    try:
        call.put(status, {**kept, "value": ended.value})
    except NotSerialisable:
        if not tool.effects:
            return False  # it is simply made again
        call.put(status, kept)
    return True


async def keep(call: LoggedCall | None, tool: Tool, ended: Ended) -> None:
    """Note what came of a call, and return when that is written."""
    if note(call, tool, ended):
        await cast(LoggedCall, call).written()


def _status(ended: Ended) -> CallStatus:
    if ended.status == "unknown":
        return "unknown"
    return "done" if ended.status == "ok" else "failed"
