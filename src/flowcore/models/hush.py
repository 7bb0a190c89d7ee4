"""The hush: what libraries log while a request is sent says no secret that a server says back."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from .secrets import Secrets

__all__ = ["hushed"]

_LOGGERS = (
    "httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy", "httpcore.socks"
)  # fmt: skip
"""Loggers of what was received: the words beside a status, and headers."""
_secrets: ContextVar[Secrets | None] = ContextVar("flowcore_hushed", default=None)


class _Hush(logging.Filter):
    """Takes secrets out of records; leaves all others as they are."""

    def filter(self, record: logging.LogRecord) -> bool:
        secrets = _secrets.get()
        if secrets is not None:
            said = record.getMessage()
            clean = secrets.scrub(said)
            if clean != said:
                record.msg, record.args = clean, ()
        return True


_hush = _Hush()


@contextmanager
def hushed(secrets: Secrets) -> Generator[None]:
    """Keep the secrets out of the logs of what goes on inside."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_hush)  # is there once, however often it is added
    token = _secrets.set(secrets)
    try:
        yield
    finally:
        _secrets.reset(token)
