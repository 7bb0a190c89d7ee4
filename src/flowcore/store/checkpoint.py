"""The checkpoints: bring the log beside a database into it, in a thread, so that the log stays short."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import suppress

from ..errors import StoreError
from .file import StoreFile

__all__ = ["Checkpoints"]

_EVERY = 500
"""After so many writes the length of the log is looked at."""
_LONG = 4 << 20


class Checkpoints:
    """Counts writes, and makes a checkpoint when the log has grown."""

    def __init__(self, file: StoreFile) -> None:
        self._file = file
        self._count = 0
        self._thread: threading.Thread | None = None

    def count(self, writes: int) -> None:
        """Count writes that have happened. Hold the file's line for writing."""
        self._count += writes
        if self._count < _EVERY:
            return
        self._count = 0
        is_on = self._thread is not None and self._thread.is_alive()
        if not is_on and self._file.log_size() > _LONG:
            self._thread = threading.Thread(target=self._make, name="flowcore store checkpoint")
            with suppress(RuntimeError):  # the process is ending
                self._thread.start()

    def wait(self) -> None:
        """Return when no checkpoint is under way. Do not hold the line."""
        if self._thread is not None and self._thread.is_alive():
            self._thread.join()

    def _make(self) -> None:
        """Bring over what is there while others write; then the short rest, with writers kept out.

        Without the second step somebody would always have written meanwhile, and the log would never begin anew.
        """
        for line in (self._file.reading, self._file.writing):
            with suppress(StoreError, sqlite3.Error):
                line.patiently(lambda connection: connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall())
