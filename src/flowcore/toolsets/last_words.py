"""Last words: the end of what a process said on its error output, kept for whoever asks why it ended."""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Self, TextIO

__all__ = ["LastWords"]

_KEPT = 2_000
_PATIENCE = 0.2


class LastWords:
    """A file for a process to write into, of which the last characters are kept. Enter it to start the process."""

    def __init__(self) -> None:
        self._kept = b""
        self._source, sink = os.pipe()
        self.file: TextIO = os.fdopen(sink, "w")
        self._reader = threading.Thread(target=self._read, name="flowcore last words", daemon=True)

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()

    def started(self) -> None:
        """Leave the file to the process alone, so that it ends with it."""
        self.file.close()

    def text(self) -> str:
        """Return the last line of what was said, once the process has ended."""
        self.file.close()
        self._reader.join(_PATIENCE)
        lines = self._kept.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _read(self) -> None:
        with os.fdopen(self._source, "rb", buffering=0) as source:
            while said := source.read(65536):
                self._kept = (self._kept + said)[-_KEPT:]
