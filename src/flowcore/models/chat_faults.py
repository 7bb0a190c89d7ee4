"""The chat faults: what went wrong on the way to a model and back, as one clear error each."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..errors import ContextOverflow, ModelError, ModelRequestError, ModelTimeout
from ..wire import Fault, read_fault, retry_after
from .secrets import Secrets

__all__ = ["Place", "causes"]

_LONGEST = 500
"""How much of what a server says is told."""
_RETRYABLE = frozenset((408, 409, 425, 429))
_REMEDIES = {
    401: "check api_key",
    403: "the key may not use this model, or not from here",
    407: "a proxy asks for a sign-in; see HTTPS_PROXY",
    413: "send less",
    429: "too many requests, or the quota is used up",
}
_REFUSED = "nothing listens there: is the server started, and base_url right?"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request goes: the URL and the model. Makes the errors, each on one line and without the secrets."""

    url: str
    model: str
    secrets: Secrets

    def refused(self, status: int, headers: Mapping[str, str], body: bytes, now: float) -> ModelError:
        """Return the error for an answer that is none. `headers` have lower-case names, `now` is a Unix time."""
        kind = headers.get("content-type", "")
        fault = read_fault(body)
        if fault is not None and fault.overflow and status != 429:
            return self.overflow(fault)
        if 300 <= status < 400:
            return ModelRequestError(self._moved(status, headers.get("location", "")), status=status)
        said = self._clean(fault.message or fault.code) if fault is not None else self._glimpse(kind, body)
        remedy = self._unknown(fault) if status in (404, 405) else _REMEDIES.get(status, "")
        message = (
            f"{self.url} answered {status}" + (f": {said}" if said else "") + (f" ({remedy})" if remedy else "")
        )
        retryable = _is_passing(status)
        return ModelRequestError(
            message,
            status=status,
            retryable=retryable,
            retry_after=retry_after(headers, now) if retryable else None,
        )

    def said(self, fault: Fault | None) -> ModelError:
        """Return the error for a failure that was said with the status of a success."""
        if fault is not None and fault.overflow:
            return self.overflow(fault)
        what = self._clean(fault.message or fault.code) if fault is not None else "it does not say what"
        status = fault.status if fault is not None else None
        retryable = status is None or _is_passing(status)
        return ModelRequestError(f"{self.url} failed amid its answer: {what}", status=status, retryable=retryable)

    def overflow(self, fault: Fault) -> ContextOverflow:
        """Return the error for a request that is more than the model reads."""
        message = f"the request is more than {self.model} reads: {self._clean(fault.message or fault.code)}"
        return ContextOverflow(message, limit=fault.limit, needed=fault.needed)

    def foreign(self, status: int, kind: str, body: bytes) -> ModelRequestError:
        """Return the error for an answer in another form than that of chat completions."""
        what = kind.partition(";")[0].strip() or "no content type"
        hint = "." if "json" in what else "; does base_url end in /v1, as most servers want it?"
        seen = self._glimpse(kind, body)
        message = f"{self.url} answered with {self._clean(what)} instead of a chat completion{hint}"
        return ModelRequestError(message + (f" It begins: {seen}" if seen else " It is empty"), status=status)

    def encoded(self, encoding: str) -> ModelRequestError:
        """Return the error for an answer that is encoded."""
        return ModelRequestError(
            f"{self.url} encoded its answer ({self._clean(encoding)}), which was not asked for"
        )

    def cut(self, why: str) -> ModelRequestError:
        """Return the error for an answer that broke off."""
        return ModelRequestError(f"the answer of {self.url} was cut: {self._clean(why)}", retryable=True)

    def too_large(self, limit: int) -> ModelRequestError:
        """Return the error for an answer without an end."""
        message = f"the answer of {self.url} is larger than {limit:,} bytes; max_bytes of the model sets the limit"
        return ModelRequestError(message, status=200)

    def late(self, what: str, seconds: float) -> ModelTimeout:
        """Return the error for what did not come in time."""
        return ModelTimeout(f"{self.url}: {what} within {seconds:g} s", seconds)

    def unreachable(self, error: Exception) -> ModelRequestError:
        """Return the error for a request that got no answer."""
        found = list(causes(error))
        why, retryable = self._clean(str(error)) or type(error).__name__, True
        if any(isinstance(cause, socket.gaierror) for cause in found):
            why = "the name of the host is not known; check base_url and the network"
        elif tls := next((cause for cause in found if isinstance(cause, ssl.SSLError)), None):
            why, retryable = self._tls(tls), isinstance(tls, ssl.SSLEOFError)
        elif any(isinstance(cause, ConnectionRefusedError) for cause in found):
            why = _REFUSED
        return ModelRequestError(f"{self.url} cannot be reached: {why}", retryable=retryable)

    def closed(self) -> ModelRequestError:
        """Return the error for a client that somebody closed."""
        return ModelRequestError(f"{self.url} cannot be asked: the client was closed; keep it open until the end")

    def consumed(self) -> ModelRequestError:
        """Return the error for an answer that somebody else has read."""
        message = f"the answer of {self.url} was read before: a response with a stream of its own serves once"
        return ModelRequestError(f"{message}, and no hook of the client may take from it")

    def unset(self, why: str) -> ModelRequestError:
        """Return the error for an environment in which nothing can be asked."""
        message = f"{self.url} cannot be asked: {self._clean(why)} (see HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE)"
        return ModelRequestError(message)

    def _tls(self, error: ssl.SSLError) -> str:
        if isinstance(error, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted: {self._clean(error.verify_message)}"
        return f"no secure connection, {self._clean(str(error.reason or error))}; is it a server for http://?"

    def _unknown(self, fault: Fault | None) -> str:
        """Say which is not known: the model, or the address."""
        said = f"{fault.code} {fault.message}".lower() if fault is not None else ""
        if "model" in said:
            return f"the server does not know the model {self.model!r}; check its name"
        return "the server has no chat completions there; check base_url: does it end in /v1?"

    def _moved(self, status: int, location: str) -> str:
        target = self._clean(location.partition("?")[0]) or "elsewhere"
        return (
            f"{self.url} answered {status} and points to {target}; redirects are not followed: set base_url to it"
        )

    def _glimpse(self, kind: str, body: bytes) -> str:
        if "event-stream" in kind:  # is in pieces, and so may be a secret that stands in it
            return "a stream, which was not asked for"
        text = body[: 64 * _LONGEST].decode(errors="replace")
        if "html" in kind or text.lstrip()[:1] == "<":
            title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
            return f"a page, {self._clean(title[1])!r}" if title else "a page of HTML"
        return self._clean(text)

    def _clean(self, text: str) -> str:
        """Return the text on one line, short, printable and without secrets."""
        line = " ".join("".join(part if part.isprintable() else " " for part in self.secrets.scrub(text)).split())
        return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _is_passing(status: int) -> bool:
    """Return whether the same request may be answered a little later."""
    return status in _RETRYABLE or (status >= 500 and status not in (501, 505))


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and all that led to it."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [cause for cause in (one.__cause__, one.__context__) if cause is not None]
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions
