"""Reports: a run as lines for a person, and as data for JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import groupby
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from ..errors import Failure
from ..render import visible
from ..result import RunResult
from ..trace import Trace
from ..visit import Visit

__all__ = ["answered_line", "blocked_line", "json_text", "path_lines", "result_data"]


def path_lines(trace: Trace) -> list[str]:
    """Return the path of a run, a line for each round: what was visited, a failed visit marked with `!`.

    What ran inside a composite stands in its place. What ran several times in a row, as items of an `each` do, is
    counted.
    """
    around = {_without_item(visit.path.rpartition("/")[0]) for visit in trace}
    visits = [visit for visit in trace if visit.path not in around]
    rounds = [(number, " > ".join(_words(run))) for number, run in groupby(visits, lambda visit: visit.round)]
    titles = [f"round {number}" if number else "before round 1" for number, _ in rounds]
    width = max(map(len, titles), default=0)
    return [f"  {title:<{width}}  {words}" for title, (_, words) in zip(titles, rounds, strict=True)]


def _words(visits: Iterable[Visit]) -> Iterator[str]:
    for word, same in groupby(map(_word, visits)):
        count = sum(1 for _ in same)
        yield word if count == 1 else f"{word} ({count} times)"


def _without_item(path: str) -> str:
    """Return the path of the `each` that ran an item, for that of the item; any other path as it is."""
    return path.rpartition("[")[0] if path.endswith("]") else path


def _word(visit: Visit) -> str:
    names = visible("/".join(part.rpartition("#")[0] for part in visit.path.split("/")))
    if visit.kind == "over_limit":
        return f"{names} (over limit)"
    return f"{names}!" if visit.failure is not None else names


def result_data(flow: str, result: RunResult[Any]) -> dict[str, Any]:
    """Return how a run ended, as data for JSON."""
    return {
        "flow": flow,
        "status": result.status,
        "value": _ready(result.value),
        "failure": _failure(result.failure),
        "exhausted": result.exhausted,
        "reason": result.reason,
        "stragglers": list(result.stragglers),
        "path": result.trace.path,
        "rounds": result.usage.rounds,
        "usage": asdict(result.usage),
    }


def answered_line(id: str, text: str) -> dict[str, Any]:
    """Return the line of a question, for an app that does not say how its lines look."""
    return {"id": id, "answers": [{"text": text, "citations": [], "status": "answered"}]}


def blocked_line(id: str, reason: str) -> dict[str, Any]:
    """Return the line of a question whose run gave no value."""
    answer = {"text": "", "citations": [], "status": "blocked", "reason": reason}
    return {"id": id, "answers": [answer]}


def json_text(data: Mapping[str, Any], indent: int | None = None) -> str:
    """Return data as JSON with a newline. Raises `ValueError` or `TypeError` for what JSON cannot say."""
    return json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False) + "\n"


def _failure(failure: Failure | None) -> dict[str, Any] | None:
    if failure is None:
        return None
    names = ("path", "type", "code", "message", "attempts")
    return {name: getattr(failure, name) for name in names}


def _ready(value: object) -> Any:
    """Return a value of a user as data for JSON; what JSON cannot say as its `repr`."""
    try:
        return _finite(to_jsonable_python(value, fallback=repr, bytes_mode="base64"))
    except (PydanticSerializationError, ValueError, RecursionError):
        return repr(value)


def _finite(data: Any) -> Any:
    if isinstance(data, float) and not math.isfinite(data):
        return str(data)
    if isinstance(data, dict):
        return {key: _finite(item) for key, item in data.items()}
    return [_finite(item) for item in data] if isinstance(data, list) else data
