"""The reply of an HTTP API: read up to a size, and told with its status."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from ..errors import OutcomeUnknown, SignInNeeded, ToolError
from ..messages import Attachment
from ..models.secrets import Secrets
from ..tools import ToolOutput

if TYPE_CHECKING:
    import httpx

__all__ = ["HTTPReply", "output_of", "read_reply"]

_LARGEST = 10_000_000
"""Bytes of a body that are read."""
_LONGEST = 4_000
"""Characters that are told of the body of a refusal."""
_CLOSE_SECONDS = 2.0
_LEFT_OVER = 2**16
"""How many pieces are taken from a body that was closed, to bring it to its end."""
_GATEWAYS = frozenset((502, 504))
"""Statuses of a go-between that has lost the server: nobody knows how far it got."""
_SEEN = ("image/", "audio/")


@dataclass(frozen=True, slots=True)
class HTTPReply:
    """What an API answered: its status, its content type, and its body: data where it was JSON, text, or bytes."""

    status: int
    content_type: str
    body: Any


async def read_reply(response: httpx.Response) -> tuple[bytes, bool]:
    """Return the body, and whether it was too large to be read to its end."""
    parts = response.aiter_bytes()
    data = bytearray()
    try:
        while len(data) <= _LARGEST:
            try:
                data += await anext(parts)
            except StopAsyncIteration:
                return bytes(data), False
        return bytes(data[:_LARGEST]), True
    finally:
        with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
            await response.aclose()
            # The generators of the transport are brought to their end: trio warns of those left to the collector.
            # A stream of a test's own may have no end, and never wait. How closing fails changes no answer.
            with suppress(Exception):
                for _ in range(_LEFT_OVER):
                    await anext(parts)


def output_of(
    response: httpx.Response, body: bytes, cut: bool, place: str, secrets: Secrets, has_effects: bool
) -> ToolOutput:
    """Return what the model and the program get. Raises `ToolError` for an answer that is none."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    line = f"{response.status_code} {response.reason_phrase}".strip()
    if kind.startswith(_SEEN) and response.is_success and not cut:
        attachment = Attachment(kind, body)
        return ToolOutput(f"{line}: {kind}", HTTPReply(response.status_code, kind, body), (attachment,))
    value = _value(kind, body, secrets)
    text = "" if isinstance(value, bytes) else _scrubbed(body, secrets)
    if isinstance(value, bytes) and value:
        text = f"[{kind or 'data'} of {len(body):,} bytes]"
    if cut:
        text += f"\n[it has more than {_LARGEST:,} bytes, and was not read to its end]"
    if response.is_success:
        said = f"{line}\n{text}" if text else line
        return ToolOutput(said, HTTPReply(response.status_code, kind, value))
    raise _refusal(response, text.strip(), place, secrets, has_effects)


def _refusal(response: httpx.Response, text: str, place: str, secrets: Secrets, has_effects: bool) -> ToolError:
    status = response.status_code
    if status == 401:
        return SignInNeeded(place)
    if status in _GATEWAYS and has_effects:
        return OutcomeUnknown(f"{place} answered {status}")
    if response.has_redirect_location:
        leads = secrets.scrub(response.headers.get("location", ""))[:200].partition("?")[0]
        return ToolError(f"{place} answered {status}: it leads to {leads}, which was not followed")
    said = f": {text[:_LONGEST]}" if text else ""
    return ToolError(f"{place} answered {status} {response.reason_phrase}".rstrip() + said)


def _value(kind: str, body: bytes, secrets: Secrets) -> Any:
    text = _scrubbed(body, secrets)
    if "json" in kind:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    if (
        not kind
        or kind.startswith("text/")
        or "xml" in kind
        or kind.endswith(("javascript", "yaml", "urlencoded"))
    ):
        return text
    return body


def _scrubbed(body: bytes, secrets: Secrets) -> str:
    return secrets.scrub(body.decode("utf-8", "replace"))
