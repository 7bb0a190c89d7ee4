"""Files: written whole or not at all. Standard output, where it stands for a file, gets the very same bytes."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType

from ..errors import TargetError
from .signals import too_late_to_end

__all__ = ["OutputFolder", "write_file", "write_out"]

_BESIDE = ".flowcore-"


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file: beside its place first, then in one step into it. Raises `TargetError` where it cannot.

    A link stays a link, and a file keeps its mode. What is no file, such as a pipe or a device, is written into.
    """
    with _writing(path):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.exists() and not path.is_file():
            path.write_bytes(_encoded(content))
            return
        place = Path(os.path.realpath(path))
        beside = place.with_name(f".{place.name}.{os.getpid()}")
        try:
            beside.write_bytes(_encoded(content))
            if place.exists():
                shutil.copymode(place, beside)
            os.replace(beside, place)
        finally:
            beside.unlink(missing_ok=True)


def write_out(content: str | bytes) -> None:
    """Write to stdout what a file would get, whatever the terminal's own encoding is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(_encoded(content))
    sys.stdout.buffer.flush()


class OutputFolder:
    """A folder that gets all of its files when everything is done, and none when something goes wrong.

    Of the files in `names`, and of those whose whole name fits `family`, those that were not written are taken
    away at that moment: a folder tells of one command. What a command that was killed has left behind goes too.
    Raises `TargetError` where the folder or one of the files cannot be written, on entering already.
    """

    def __init__(self, path: Path, names: tuple[str, ...], family: re.Pattern[str]) -> None:
        self.path = path
        self._names = names
        self._family = family
        self._made: list[Path] = []

    def __enter__(self) -> OutputFolder:
        with ExitStack() as leave:
            leave.callback(self._take_back)
            with _writing(self.path):
                self._made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
                self.path.mkdir(parents=True, exist_ok=True)
            self._check()
            with _writing(self.path):
                lock = _Lock(self.path)
                leave.callback(lock.release)
                self._beside = Path(tempfile.mkdtemp(prefix=_BESIDE, dir=self.path))
                leave.callback(shutil.rmtree, self._beside, ignore_errors=True)
                lock.share()
            self._leave = leave.pop_all()
        return self

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file, to be seen when everything is done."""
        with _writing(self.path / name):
            (self._beside / name).write_bytes(_encoded(content))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._leave:
            if kind is None:
                with too_late_to_end():
                    self._publish()

    def _all_names(self, *folders: Path) -> list[str]:
        found = {entry.name for folder in folders for entry in folder.iterdir()}
        return [*self._names, *sorted(name for name in found if self._family.fullmatch(name))]

    def _check(self) -> None:
        for name in self._all_names(self.path):
            if (self.path / name).is_dir():
                raise TargetError(
                    f"{self.path / name}: cannot be written: there is a folder of this name; move it away,"
                    " or choose another place"
                )

    def _publish(self) -> None:
        """Put every file in its place. If one cannot be, all are again as they were."""
        self._check()
        with _writing(self.path), ExitStack() as undo:
            for name in self._all_names(self.path, self._beside):
                place, old = self.path / name, self._beside / f"{name}.old"
                with _writing(place):
                    if place.exists() or place.is_symlink():
                        os.replace(place, old)
                        undo.callback(os.replace, old, place)
                    if (self._beside / name).exists():
                        os.replace(self._beside / name, place)
                        undo.callback(place.unlink)
            undo.pop_all()

    def _take_back(self) -> None:
        """Take away the folders that were made, but for those in which there is something."""
        for folder in self._made:
            with suppress(OSError):
                folder.rmdir()


class _Lock:
    """Who is at work in a folder. Whoever comes alone takes away what the dead have left there.

    The system drops the lock of a process that dies, however it does. Where folders cannot be locked, nothing is
    taken away.
    """

    def __init__(self, folder: Path) -> None:
        self._handle = os.open(folder, os.O_RDONLY)
        with suppress(OSError):
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for left in folder.glob(f"{_BESIDE}*"):
                shutil.rmtree(left, ignore_errors=True)

    def share(self) -> None:
        """Let others in, who leave alone what is there."""
        with suppress(OSError):
            fcntl.flock(self._handle, fcntl.LOCK_SH)

    def release(self) -> None:
        """Be gone."""
        os.close(self._handle)


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
