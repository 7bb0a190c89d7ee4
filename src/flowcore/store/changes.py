"""The changes: what each method of a store does to the database, inside a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from sqlite3 import Connection

from ..errors import RunConflict
from . import rules
from .rows import EndRow, RequestRow, RunRow, RunStatus, Signal, Write
from .tables import (
    INSERT_OWNED_VISIT,
    Found,
    find,
    insert_end,
    insert_run,
    remove_runs,
    run_rows,
    select_requests,
    write_rows,
)

__all__ = ["Changes"]

_TAKEN = (sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID, sqlite3.SQLITE_CONSTRAINT_UNIQUE)
_CHILDREN = """
    WITH RECURSIVE theirs (key, id) AS (
        SELECT key, id FROM runs WHERE key = ?
        UNION
        SELECT runs.key, runs.id FROM theirs JOIN runs ON runs.parent = theirs.id
        WHERE runs.parent <> '' AND runs.status IN ('running', 'paused')
    )
    SELECT key, id FROM theirs WHERE key <> ?"""


class Changes:
    """The changes of a store of this name. Each raises before or after it wrote; the caller rolls back."""

    def __init__(self, name: str) -> None:
        self._name = name

    def found(self, connection: Connection, run_id: str) -> Found:
        """Return a run. Raises `RunNotFound`."""
        found = find(connection, run_id)
        if found is None:
            raise rules.not_found(self._name, run_id)
        return found

    def create(self, connection: Connection, run: RunRow, write: Write) -> None:
        """Write a new run."""
        if find(connection, run.run_id) is not None:
            raise rules.exists_already(self._name, run.run_id)
        self._write(connection, insert_run(connection, run), write)

    def add_visit(self, write: Write, connection: Connection) -> None:
        """Write one visit: the usual case, in one statement."""
        try:
            cursor = connection.execute(INSERT_OWNED_VISIT, (*write.visits[0], write.run_id, write.owner))
        except sqlite3.IntegrityError as error:
            raise _conflict(write.run_id, error) from error
        if cursor.rowcount != 1:
            rules.check_owner(self.found(connection, write.run_id).standing, write.owner)
            raise RunConflict(f"run {write.run_id!r} was not {write.owner!r}'s when it was written")

    def add(self, write: Write, connection: Connection) -> None:
        """Write what a run did."""
        found = self.found(connection, write.run_id)
        rules.check_owner(found.standing, write.owner)
        self._write(connection, found.key, write)

    def _write(self, connection: Connection, key: int, write: Write) -> None:
        try:
            write_rows(connection, key, write)
        except sqlite3.IntegrityError as error:
            raise _conflict(write.run_id, error) from error

    def settle(
        self, connection: Connection, run_id: str, end: EndRow, write: Write | None, owner: str | None
    ) -> list[str]:
        """End an active run and those that it delegated. Return their ids; none if it had ended."""
        found = self.found(connection, run_id)
        if found.standing.status not in ("running", "paused"):
            return []
        if owner is None:
            rules.check_free(found.standing, "", end.ended)
        else:
            rules.check_owner(found.standing, owner)
        if write is not None:
            self._write(connection, found.key, write)
        children = connection.execute(_CHILDREN, (found.key, found.key)).fetchall()
        _end(connection, found.key, end)
        for key, _ in children:
            _end(connection, key, EndRow("cancelled", end.ended, reason="parent"))
        return [run_id, *(child for _, child in children)]

    def take(self, connection: Connection, run_id: str, owner: str, now: float, lease: float) -> RunRow:
        """Make somebody the owner of an active run."""
        found = self.found(connection, run_id)
        rules.check_free(found.standing, owner, now)
        connection.execute(
            "UPDATE runs SET owner = ?, lease = ?, signal = '', signal_by = '' WHERE key = ?",
            (owner, lease, found.key),
        )
        return run_rows(connection, "WHERE runs.key = ?", (found.key,))[0]

    def hold(self, connection: Connection, run_id: str, owner: str, then: str, lease: float) -> bool:
        """Set the lease, and the owner to `then`, if the run is active and the owner's. Return whether it is."""
        found = self.found(connection, run_id)
        try:
            rules.check_owner(found.standing, owner)
        except RunConflict:
            return False
        connection.execute("UPDATE runs SET owner = ?, lease = ? WHERE key = ?", (then, lease, found.key))
        return True

    def signal(self, connection: Connection, run_id: str, signal: Signal, by: str) -> Signal:
        """Put a signal to an active run, unless a stronger one stands."""
        found = self.found(connection, run_id)
        rules.check_active(found.standing)
        stands, stands_by = rules.stronger(found.standing, signal, by)
        connection.execute(
            "UPDATE runs SET signal = ?, signal_by = ? WHERE key = ?", (stands, stands_by, found.key)
        )
        return stands

    def answer(
        self, connection: Connection, run_id: str, request_id: str, answer: str, by: str, at: float
    ) -> RequestRow:
        """Answer a pending request."""
        found = self.found(connection, run_id)
        rules.check_active(found.standing)
        rows = select_requests(connection, found.key, "AND id = ?", request_id)
        request = rules.check_answer(run_id, request_id, rows[0] if rows else None, at)
        connection.execute(
            """UPDATE requests SET status = 'answered', answer = ?, "by" = ?, at = ? WHERE run = ? AND id = ?""",
            (answer, by, at, found.key, request_id),
        )
        return request._replace(status="answered", answer=answer, by=by, at=at)

    def delete(self, connection: Connection, run_id: str) -> None:
        """Remove an ended run."""
        found = self.found(connection, run_id)
        rules.check_ended(found.standing)
        remove_runs(connection, [found.key])

    def prune(self, connection: Connection, before: float, statuses: Sequence[RunStatus]) -> int:
        """Remove runs that ended before a time."""
        rows = connection.execute(
            "SELECT runs.key, runs.status FROM ends JOIN runs ON runs.key = ends.run WHERE ends.ended < ?",
            (before,),
        )
        keys = [key for key, status in rows.fetchall() if not statuses or status in statuses]
        remove_runs(connection, keys)
        return len(keys)


def _end(connection: Connection, key: int, end: EndRow) -> None:
    connection.execute("UPDATE calls SET status = 'unknown' WHERE run = ? AND status = 'dispatched'", (key,))
    connection.execute(
        "UPDATE requests SET status = 'withdrawn', at = ? WHERE run = ? AND status = 'pending'", (end.ended, key)
    )
    connection.execute("UPDATE runs SET status = ?, owner = '', lease = 0 WHERE key = ?", (end.status, key))
    insert_end(connection, key, end)


def _conflict(run_id: str, error: sqlite3.IntegrityError) -> Exception:
    return rules.seq_taken(run_id) if error.sqlite_errorcode in _TAKEN else error
