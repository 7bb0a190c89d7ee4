"""Recalled replies: what a model answered before its visit was interrupted is not asked for, nor paid, again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic_core import to_json

from ..errors import NotSerialisable, StoreError
from ..messages import ModelReply, ModelRequest, TokenUsage
from ..scope import Scope
from ..visit_host import LoggedCall, inside

__all__ = ["Answered", "keep_answer", "logged_request", "recalled_answer"]


class Answered(NamedTuple):
    """A reply, and what all requests for it have used."""

    reply: ModelReply[Any]
    usage: TokenUsage
    cost: float
    warnings: tuple[str, ...] = ()


def logged_request(payer: Scope, name: str, request: ModelRequest) -> LoggedCall | None:
    """Return a request that is about to be sent, as the log of its visit has it; None outside of a run."""
    visit = inside(payer)
    return None if visit is None else visit.host.log(visit.where, "model", name, lambda: _text(request))


def recalled_answer(call: LoggedCall | None) -> Answered | None:
    """Return what was answered before; None if nothing was, or nothing that can be read today."""
    if call is None or not call.has_result:
        return None
    try:
        reply, usage, cost, warnings = call.recall()
    except StoreError:
        return None
    return Answered(reply, usage, cost, warnings)


async def keep_answer(call: LoggedCall | None, answered: Answered) -> None:
    """Record an answer. One that cannot be written is asked for again."""
    if call is None:
        return
    reply: ModelReply[Any] = replace(answered.reply, value=None)
    try:
        await call.keep("done", (reply, *answered[1:]))
    except NotSerialisable:
        return


def _text(request: ModelRequest) -> str:
    """Return a request as text: equal ones give equal texts, in every process."""
    tools = [(tool.name, tool.description, _plain(tool.parameters)) for tool in request.tools]
    output = None if request.output is None else (request.output.name, _plain(request.output.schema))
    settings = request.settings
    asked = (request.messages, tools, output, replace(settings, extra=_plain(settings.extra)))
    return to_json(asked, bytes_mode="base64", fallback=repr).decode("utf-8")


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    return dict(value)
