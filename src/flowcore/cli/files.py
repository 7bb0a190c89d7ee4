"""Files: written whole or not at all. Standard output, where it stands for a file, gets the very same bytes."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from ..errors import TargetError

__all__ = ["OutputFolder", "write_file", "write_out"]


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file: beside its place first, then in one step into it. Raises `TargetError` where it cannot."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with _writing(path):
        try:
            beside.write_bytes(_encoded(content))
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)


def write_out(content: str | bytes) -> None:
    """Write to stdout what a file would get, whatever the terminal's own encoding is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(_encoded(content))
    sys.stdout.buffer.flush()


class OutputFolder:
    """A folder that gets all of its files when everything is done, and none when something goes wrong.

    The files named in `stale` are taken away at that moment, unless they were written: a folder tells of one
    command. Raises `TargetError` where it cannot be written, on entering already.
    """

    def __init__(self, path: Path, stale: tuple[str, ...]) -> None:
        self.path = path
        self._stale = stale
        self._made: list[Path] = []
        self._written: list[str] = []

    def __enter__(self) -> OutputFolder:
        with _writing(self.path):
            self._made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
            self.path.mkdir(parents=True, exist_ok=True)
            self._beside = Path(tempfile.mkdtemp(prefix=".flowcore-", dir=self.path))
        return self

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file, to be seen when everything is done."""
        with _writing(self.path / name):
            (self._beside / name).write_bytes(_encoded(content))
        self._written.append(name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._publish()
        finally:
            shutil.rmtree(self._beside, ignore_errors=True)
            if kind is not None:
                with suppress(OSError):  # somebody else may have put something there
                    for folder in self._made:
                        folder.rmdir()

    def _publish(self) -> None:
        with _writing(self.path):
            for name in self._written:
                os.replace(self._beside / name, self.path / name)
            for name in set(self._stale).difference(self._written):
                (self.path / name).unlink(missing_ok=True)


@contextmanager
def _writing(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise TargetError(f"{path}: cannot be written: {reason}; choose another place") from error


def _encoded(content: str | bytes) -> bytes:
    # Half of a surrogate pair can stand in a text, but in no file. Its escape is right in JSON too.
    return content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
