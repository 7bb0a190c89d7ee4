"""Failures as JSON and back, with what a route needs to know of the exception: the names of its classes."""

from __future__ import annotations

import json
from typing import Any

from ..errors import BudgetExhausted, Failure, NodeTimeout, RunFailed

__all__ = ["dump_failure", "failure_data", "load_failure", "read_error", "read_failure"]

_FIELDS = ("path", "type", "code", "message", "attempts")
_DETAILS: dict[type[Exception], tuple[str, ...]] = {
    BudgetExhausted: ("dimension", "limit", "used", "path", "scope_path"),
    NodeTimeout: ("path", "seconds"),
}


def failure_data(failure: Failure) -> dict[str, Any]:
    """Return a failure as plain data."""
    data: dict[str, Any] = {name: getattr(failure, name) for name in _FIELDS}
    error = failure.exception
    if isinstance(error, RunFailed):
        data["kinds"] = list(error.kinds)
    elif error is not None:
        data["kinds"] = [f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__[:-1]]
    for kind, details in _DETAILS.items():
        if type(error) is kind:
            data["details"] = {name: getattr(error, name) for name in details}
    return data


def read_failure(data: dict[str, Any]) -> Failure:
    """Return the failure that `failure_data` made data of. Of exceptions only limits of ours are known again."""
    path, kind, code, message, attempts = (data[name] for name in _FIELDS)
    return Failure(path, kind, code, message, attempts, _limit(data))


def read_error(data: dict[str, Any]) -> Exception:
    """Return an error that takes the routes which the exception would have taken."""
    return _limit(data) or RunFailed(read_failure(data), tuple(data.get("kinds", ())))


def _limit(data: dict[str, Any]) -> Exception | None:
    details, kinds = data.get("details"), data.get("kinds", ())
    if details is None or not kinds:
        return None
    for kind in _DETAILS:
        if f"{kind.__module__}.{kind.__qualname__}" == kinds[0]:
            return kind(**details)
    return None


def dump_failure(failure: Failure | None) -> str:
    """Return a failure as JSON text; '' for none."""
    return "" if failure is None else json.dumps(failure_data(failure))


def load_failure(text: str) -> Failure | None:
    """Return the failure that a text of `dump_failure` holds."""
    return read_failure(json.loads(text)) if text else None
