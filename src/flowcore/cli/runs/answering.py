"""`flowcore runs answer`: the answer of a person to what a stored run asks."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from ...control import control
from ...errors import ContractError, RunConflict, TargetError
from ...render import shown
from ...store import RequestRow, RunRow, RunStore
from ..codes import OK
from ..stores import find_run, with_store
from .options import add_by, add_run, add_source, check_by, named_store
from .told import is_walked, moment

__all__ = ["add_arguments", "execute"]

_WORDS = {"yes": True, "no": False, "true": True, "false": False}
_CONSENT = ("tool", "approve")
_FOUND = {True: {"done": True}, False: {"done": False}}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this action takes."""
    add_run(parser)
    parser.add_argument(
        "values",
        metavar="[REQUEST] VALUE",
        nargs="+",
        help="the request by its id (`flowcore runs show` tells it), none if only one waits; then yes, no, JSON,"
        " or the text that is asked for",
    )
    add_source(parser)
    parser.add_argument("--reason", metavar="TEXT", default="", help="why, for a yes or a no")
    add_by(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Answer the request, once."""
    values: list[str] = arguments.values
    if len(values) > 2:
        raise TargetError("answer wants [REQUEST] VALUE; put a VALUE of several words in quotes")

    async def work(store: RunStore) -> str:
        run = await find_run(store, arguments.run)
        check_by(run, arguments.by)
        requests = await store.requests(run.run_id, pending=False)
        row = _meant(run, requests, values[0] if len(values) == 2 else None)
        value = _value(row, values[-1], arguments.reason)
        try:
            await control(store, run.run_id, by=arguments.by).answer(row.id, value)
        except ContractError as error:
            raise TargetError(f"run {run.run_id}: {error}") from error
        told = f"run {run.run_id}: {shown(row.path)} is answered"
        now = await store.run(run.run_id)
        return told if is_walked(now) else f"{told}; go on with `flowcore runs resume TARGET {run.run_id}`"

    print(with_store(named_store(arguments), work))
    return OK


def _meant(run: RunRow, requests: Sequence[RequestRow], request_id: str | None) -> RequestRow:
    """Return the request of an id, or the only one that waits."""
    pending = [row for row in requests if row.status == "pending"]
    offer = "; ".join(f"{row.id} ({row.kind} at {row.path}: {_question(row)})" for row in pending)
    if request_id is None:
        if len(pending) == 1:
            return pending[0]
        if pending:
            raise TargetError(f"run {run.run_id}: {len(pending)} requests wait, name one: {offer}")
        raise RunConflict(f"run {run.run_id}: no request waits{_last_answer(requests)}")
    named = [row for row in requests if row.id == request_id]
    named = named or [row for row in requests if row.id.startswith(request_id)]
    if len(named) != 1:
        waiting = f"these wait: {offer}" if pending else f"no request waits{_last_answer(requests)}"
        raise TargetError(f"run {run.run_id}: there is no request {shown(request_id)}; {waiting}")
    if named[0].status != "pending":
        raise RunConflict(f"run {run.run_id}: the request {named[0].id} is closed{_last_answer(named)}")
    return named[0]


def _last_answer(requests: Sequence[RequestRow]) -> str:
    if not requests:
        return ", and none ever did"
    last = max(requests, key=lambda row: row.at)
    by = f" by {last.by}" if last.by else ""
    return f": {last.id} was {last.status}{by} at {moment(last.at)}"


def _question(row: RequestRow) -> str:
    data = json.loads(row.data)
    return shown(data["question"] or data["tool"])


def _fields(form: str) -> str:
    """Return what a form wants, in words: `size (string), pieces (integer, if you like)`."""
    schema = json.loads(form)
    needed = schema.get("required", [])
    fields = [
        f"{name} ({field.get('type', 'see its class')}{'' if name in needed else ', if you like'})"
        for name, field in schema.get("properties", {}).items()
    ]
    return shown(", ".join(fields) or form)


def _value(row: RequestRow, text: str, reason: str) -> Any:
    """Return what was typed as the answer to a request."""
    word = _WORDS.get(text.strip().lower())
    if row.kind in _CONSENT and word is not None:
        return {"approved": word, "reason": reason} if reason else word
    if row.kind == "verify" and word is not None:
        return {**_FOUND[word], "reason": reason}
    if reason:
        raise TargetError("--reason goes with yes or no; put it into the JSON of the answer")
    form = json.loads(row.data).get("form") or "{}"
    if row.kind == "ask" and json.loads(form).get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        wanted = "yes, no or JSON" if row.kind != "ask" else f"JSON that fits the form: {_fields(form)}"
        raise TargetError(f"{shown(text)}: this is no answer to {row.path}; give {wanted}") from error
