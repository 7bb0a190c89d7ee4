"""The tables: how rows go into the database and come out of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import partial
from sqlite3 import Connection
from typing import Any, NamedTuple, cast

from ..trigger import Trigger
from .rows import CallRow, EndRow, FrameRow, NoteRow, RequestRow, RunRow, Stored, VisitRow, Write
from .rules import Standing
from .schema import SHIFT

__all__ = [
    "INSERT_OWNED_VISIT",
    "Found",
    "find",
    "insert_end",
    "insert_run",
    "remove_runs",
    "run_rows",
    "select_record",
    "select_requests",
    "write_rows",
]


class Found(NamedTuple):
    """A run's key in the database, and how it stands."""

    key: int
    standing: Standing


def _columns(row: type[tuple[Any, ...]]) -> list[str]:
    return [f'"{name}"' for name in cast(Any, row)._fields]


def _into(table: str, *columns: str) -> str:
    return f"INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def _over(row: type[tuple[Any, ...]]) -> str:
    return ", ".join(f"{column} = excluded.{column}" for column in _columns(row))


_VISIT, _NOTE, _FRAME = (("position", *_columns(row)[1:]) for row in (VisitRow, NoteRow, FrameRow))
INSERT_OWNED_VISIT = (
    f"INSERT INTO visits ({', '.join(_VISIT)}) SELECT key * {SHIFT} + {', '.join('?' * len(_VISIT))} "
    "FROM runs WHERE id = ? AND owner = ? AND owner <> '' AND status IN ('running', 'paused')"
)
"""Writes a visit if its run is its owner's: one statement, so no transaction needs to be begun for it."""

_INSERT_VISIT = f"INSERT {_into('visits', *_VISIT)}"
_INSERT_NOTE = f"INSERT {_into('notes', *_NOTE)}"
_REPLACE_FRAME = f"INSERT OR REPLACE {_into('frames', *_FRAME)}"
_REPLACE_CALL = (
    f"INSERT {_into('calls', 'run', *_columns(CallRow))} ON CONFLICT (run, key) DO UPDATE SET {_over(CallRow)}"
)
_REPLACE_REQUEST = (
    f"INSERT {_into('requests', 'run', *_columns(RequestRow))} "
    f"ON CONFLICT (run, id) DO UPDATE SET {_over(RequestRow)} WHERE requests.status = 'pending'"
)
_INSERT_RUN = "INSERT INTO runs VALUES (NULL, " + ", ".join("?" * 21) + ")"
_INSERT_END = "INSERT INTO ends VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_STATUS = """CASE WHEN runs.status = 'running' AND EXISTS (
    SELECT 1 FROM requests WHERE requests.run = runs.key AND requests.status = 'pending'
) THEN 'waiting' ELSE runs.status END"""
_SELECT_RUNS = f"""
    SELECT runs.id, runs.flow, runs.signature, flows.declared, runs.state_type,
        runs.source, runs.user, runs.agent, runs.conversation, runs.parent,
        runs.budget, runs.began, runs.deadline, {_STATUS} AS told, runs.owner, runs.lease, runs.signal,
        runs.signal_by, runs.spent, runs.forked, runs.title,
        ends.ended, ends.value, ends.failure, ends.reason, ends.exhausted, ends.stragglers, ends.usage, ends.state
    FROM runs JOIN flows ON flows.key = runs.declared LEFT JOIN ends ON ends.run = runs.key """
_FOLLOWED = "UPDATE runs SET signal = '', signal_by = '' WHERE key = ? AND signal IN ('pause', 'resume')"


def find(connection: Connection, run_id: str) -> Found | None:
    """Return a run's key and how it stands, or None."""
    row = connection.execute(
        "SELECT key, id, status, owner, lease, signal, signal_by FROM runs WHERE id = ?", (run_id,)
    ).fetchone()
    return None if row is None else Found(row[0], Standing._make(row[1:]))


def insert_run(connection: Connection, run: RunRow) -> int:
    """Write a run, and return its key."""
    trigger = run.trigger
    head = (run.run_id, run.status, run.owner, run.lease, run.signal, run.signal_by, run.began, run.deadline)
    flow = (run.flow, run.signature, _flow_key(connection, run.declared), run.state_type)
    source = (trigger.kind, trigger.user, trigger.agent, trigger.conversation, trigger.parent)
    rest = (run.budget, run.spent, run.forked, run.title)
    cursor = connection.execute(_INSERT_RUN, (*head, *flow, *source, *rest))
    key = cast(int, cursor.lastrowid)
    if run.end is not None:
        insert_end(connection, key, run.end)
    return key


def _flow_key(connection: Connection, declared: str) -> int:
    """Return the key of a declared flow. Runs of one flow share it."""
    digest = hashlib.sha256(declared.encode()).digest()
    row = connection.execute("SELECT key FROM flows WHERE digest = ?", (digest,)).fetchone()
    if row is None:
        return cast(int, connection.execute("INSERT INTO flows VALUES (NULL, ?, ?)", (digest, declared)).lastrowid)
    return int(row[0])


def insert_end(connection: Connection, key: int, end: EndRow) -> None:
    """Write how a run ended."""
    texts = (end.value, end.failure, end.reason, end.exhausted, json.dumps(end.stragglers), end.usage, end.state)
    connection.execute(_INSERT_END, (key, end.ended, *texts))


def write_rows(connection: Connection, key: int, write: Write) -> None:
    """Write the rows of a run, and what changes of the run itself."""
    base = key * SHIFT
    many = connection.executemany
    if write.visits:
        many(_INSERT_VISIT, [(base + row[0], *row[1:]) for row in write.visits])
    if write.frames:
        many(_REPLACE_FRAME, [(base + row[0], *row[1:]) for row in write.frames])
    if write.notes:
        many(_INSERT_NOTE, [(base + row[0], *row[1:]) for row in write.notes])
    if write.calls:
        many(_REPLACE_CALL, [(key, *row) for row in write.calls])
    if write.requests:
        many(_REPLACE_REQUEST, [(key, *row) for row in write.requests])
    if write.status:
        connection.execute("UPDATE runs SET status = ? WHERE key = ?", (write.status, key))
        connection.execute(_FOLLOWED, (key,))
        followed = "UPDATE runs SET signal = '', signal_by = '' WHERE key = ? AND signal IN ('pause', 'resume')"
        connection.execute(followed, (key,))
    if write.spent:
        connection.execute("UPDATE runs SET spent = ? WHERE key = ?", (write.spent, key))


def run_rows(connection: Connection, rest: str, values: Iterable[Any]) -> list[RunRow]:
    """Return the runs that a WHERE clause, with what follows it, selects."""
    return [_run(row) for row in connection.execute(_SELECT_RUNS + rest, tuple(values))]


def _run(row: tuple[Any, ...]) -> RunRow:
    run_id, flow, signature, declared, state_type = row[:5]
    budget, began, deadline, status, owner, lease, signal, signal_by, spent, forked, title = row[10:21]
    end = None
    if row[21] is not None:
        ended, value, failure, reason, exhausted, stragglers, usage, state = row[21:]
        end = EndRow(status, ended, value, failure, reason, exhausted, tuple(json.loads(stragglers)), usage, state)
    return RunRow(
        run_id=run_id,
        flow=flow,
        signature=signature,
        declared=declared,
        state_type=state_type,
        trigger=Trigger(*row[5:10]),
        budget=budget,
        began=began,
        deadline=deadline,
        status=status,
        owner=owner,
        lease=lease,
        signal=signal,
        signal_by=signal_by,
        spent=spent,
        forked=forked,
        title=title,
        end=end,
    )


def select_requests(connection: Connection, key: int, rest: str, *values: object) -> list[RequestRow]:
    """Return requests of a run that fit what the rest of the clause says, with its order."""
    columns = ", ".join(_columns(RequestRow))
    rows = connection.execute(f"SELECT {columns} FROM requests WHERE run = ? {rest}", (key, *values))
    return list(map(RequestRow._make, rows))


def select_record(connection: Connection, key: int) -> Stored:
    """Return everything of a run. In a transaction, so that it is of one moment."""
    first, last = key * SHIFT, (key + 1) * SHIFT - 1

    def select(table: str, row: Any) -> Any:
        columns = ", ".join(_columns(row)[1:])
        query = (
            f"SELECT position - {first}, {columns} FROM {table} WHERE position BETWEEN ? AND ? ORDER BY position"
        )
        make = partial(tuple.__new__, row)  # `_make` counts the values of each row once more
        return list(map(make, connection.execute(query, (first, last))))

    calls = f"SELECT {', '.join(_columns(CallRow))} FROM calls WHERE run = ? ORDER BY position"
    return Stored(
        run=run_rows(connection, "WHERE runs.key = ?", (key,))[0],
        frames=select("frames", FrameRow),
        visits=select("visits", VisitRow),
        notes=select("notes", NoteRow),
        calls=list(map(CallRow._make, connection.execute(calls, (key,)))),
        requests=select_requests(connection, key, "ORDER BY opened, position"),
    )


def remove_runs(connection: Connection, keys: Iterable[int]) -> None:
    """Remove runs with everything that is written of them, and declared flows that no run has any more."""
    for key in keys:
        first, last = key * SHIFT, (key + 1) * SHIFT - 1
        for table in ("frames", "visits", "notes"):
            connection.execute(f"DELETE FROM {table} WHERE position BETWEEN ? AND ?", (first, last))
        for table in ("calls", "requests", "ends"):
            connection.execute(f"DELETE FROM {table} WHERE run = ?", (key,))
        (declared,) = connection.execute("SELECT declared FROM runs WHERE key = ?", (key,)).fetchone()
        connection.execute("DELETE FROM runs WHERE key = ?", (key,))
        connection.execute(
            "DELETE FROM flows WHERE key = ? AND NOT EXISTS (SELECT 1 FROM runs WHERE declared = flows.key)",
            (declared,),
        )
