"""The fault: what a server says when it does not answer, in the shapes that servers say it, and what it means."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

__all__ = ["Fault", "fault_of", "read_fault", "retry_after"]

_OVERFLOWS = {"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded"}
"""The codes by which servers say that a request is more than the model reads."""
_OVERFLOW = re.compile(
    r"maximum context length"
    r"|exceeds? the (?:available |model'?s )?(?:maximum )?context (?:size|window|length)"
    r"|exceeds? (?:the )?context[ _]?window"
    r"|larger than the (?:maximum |model'?s )?context (?:size|window|length)"
    r"|prompt is too long"
    r"|input is too long for (?:the )?requested model"
    r"|input token count .{0,40}exceeds the maximum"
    r"|reduce the length of the (?:messages|input|prompt)",
    re.IGNORECASE,
)
_LIMITS = (
    re.compile(r"(?:maximum )?context (?:length|size|window)(?: of| is|:)? \(?(\d{2,9})", re.IGNORECASE),
    re.compile(r"> (\d{2,9})(?: maximum)?", re.IGNORECASE),
    re.compile(r"maximum number of tokens allowed \(?(\d{2,9})", re.IGNORECASE),
)
_NEEDED = (
    re.compile(
        r"(?:requested|resulted in|contains at least|has) (?:about )?(\d{2,9}) (?:input )?tokens", re.IGNORECASE
    ),
    re.compile(r"(\d{2,9})(?: tokens)? > \d", re.IGNORECASE),
    re.compile(r"(?:token count|request) \((\d{2,9})", re.IGNORECASE),
)


@dataclass(frozen=True, slots=True)
class Fault:
    """What a server said. `overflow` says that the request is more than the model reads.

    `limit` and `needed` are tokens, where the server named them. `status` is an HTTP status that the body names,
    as it does where the real one was sent too early.
    """

    message: str = ""
    code: str = ""
    overflow: bool = False
    limit: int | None = None
    needed: int | None = None
    status: int | None = None


def read_fault(body: bytes) -> Fault | None:
    """Return the fault that the body says in JSON, None when it is of no known shape."""
    try:
        return fault_of(json.loads(body))
    except (ValueError, RecursionError):  # the latter of lists within lists within lists
        return None


def fault_of(said: Any) -> Fault | None:
    """Return the fault that the data says, None when it is of no known shape."""
    if isinstance(said, list) and said:
        said = said[0]
    if isinstance(said, str):
        return _fault(said, (), {}) if said else None
    if not isinstance(said, Mapping):
        return None
    inner = said.get("error") or said
    if isinstance(inner, str):
        return _fault(inner, (said.get("code"), said.get("type")), said)
    if not isinstance(inner, Mapping):
        return None
    message = next((inner[name] for name in ("message", "detail", "error") if inner.get(name)), None)
    codes = (inner.get("code"), inner.get("type"), inner.get("status"))
    if message is None and not any(isinstance(code, str) and code for code in codes):
        return None
    return _fault(_text(message), codes, inner)


def _fault(message: str, codes: tuple[Any, ...], said: Mapping[str, Any]) -> Fault:
    names = [code for code in codes if isinstance(code, str) and code]
    status = next((code for code in codes if type(code) is int and 400 <= code <= 599), None)
    overflow = any(name in _OVERFLOWS for name in names) or _OVERFLOW.search(message) is not None
    name = names[0] if names else ""
    if not overflow:
        return Fault(message, name, status=status)
    limit = _number(said.get("n_ctx")) or _first(_LIMITS, message)
    needed = _number(said.get("n_prompt_tokens")) or _first(_NEEDED, message)
    return Fault(message, name, True, limit, needed, status)


def _text(message: object) -> str:
    """Return the message as text; frameworks give a list of what is wrong."""
    if message is None or isinstance(message, str):
        return message or ""
    if isinstance(message, list) and message and all(isinstance(one, Mapping) and "msg" in one for one in message):
        return "; ".join(f"{_where(one.get('loc'))}: {one['msg']}".lstrip(": ") for one in message)
    return json.dumps(message, ensure_ascii=False, default=str)


def _where(place: object) -> str:
    if isinstance(place, list | tuple):
        return ".".join(map(str, place))
    return "" if place is None else str(place)


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _first(patterns: tuple[re.Pattern[str], ...], message: str) -> int | None:
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", message)
    found = (pattern.search(plain) for pattern in patterns)
    return next((int(match[1]) for match in found if match), None)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return after how many seconds to ask again, None where the headers do not say it.

    A date is held against the server's own `Date`, and against `now` (a Unix time) where it has none. The names
    of the headers are in lower case.
    """
    exact = _seconds(headers.get("retry-after-ms", ""))
    if exact is not None:
        return exact / 1000
    said = headers.get("retry-after", "")
    seconds = _seconds(said)
    if seconds is not None:
        return seconds
    moment = _moment(said)
    if moment is None:
        return None
    then = _moment(headers.get("date", ""))
    return max(0.0, moment - (now if then is None else then))


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _moment(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
