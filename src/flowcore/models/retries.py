"""Retries: which failed requests are sent again, and after what pause."""

from __future__ import annotations

import random
import socket

from ..errors import ModelRequestError, ModelTimeout
from ..retry import Retry

__all__ = ["as_undelivered", "is_transient", "pause_before_retry"]

_TOO_MANY = 429
_SERVER = 500


def is_transient(error: Exception) -> bool:
    """Return whether the same request may be answered a little later.

    These are: too many requests (429), a fault of the server (5xx), a name that was not resolved, a connection
    that was refused, reset or cut, and an answer that came too late. Nothing else is, whoever says so.
    """
    if isinstance(error, ModelRequestError):
        status = error.status
        return error.retryable and (status is None or status == _TOO_MANY or status >= _SERVER)
    return isinstance(error, ModelTimeout | ConnectionError | socket.gaierror)


def pause_before_retry(error: Exception, retry: Retry, attempt: int) -> float:
    """Return the seconds to wait after attempt number `attempt` failed.

    The policy's pause, less a share of up to half of it that chance takes, so that many who failed at once do not
    come back at once. A server that said how long to wait is heeded up to the policy's `max_wait`.
    """
    pause = retry.pause(attempt) * (1 - random.random() / 2)
    asked = getattr(error, "retry_after", None) or 0.0
    return max(pause, min(float(asked), retry.max_wait))


def as_undelivered(error: Exception, count: int) -> Exception:
    """Return the error of a stream that broke after `count` pieces had been handed on, and is not sent again."""
    told = f"{str(error) or type(error).__name__}; {count} piece{'' if count == 1 else 's'} of the answer had been"
    told += " handed to the sink, so the request was not sent again"
    if isinstance(error, ModelTimeout):
        return ModelTimeout(told, error.seconds, text=error.text)
    return ModelRequestError(told, status=getattr(error, "status", None), text=getattr(error, "text", ""))
