"""The folder: texts in files beneath one folder, and nothing outside of it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import anyio.to_thread

from flowcore import ContractError

__all__ = ["FileFolder", "read_inside"]

_LARGEST = 1_000_000


class FileFolder:
    """The files that a request may name, by their paths in a folder. It keeps to `Files`.

    Nothing outside of the folder is read, whichever way a name or a link leads there. Raises `ContractError` for
    what is no folder.
    """

    def __init__(self, path: str | PathLike[str], *, largest: int = _LARGEST) -> None:
        self.path = Path(path)
        self._largest = largest
        if not self.path.is_dir():
            raise ContractError(f"FileFolder({str(self.path)!r}): there is no such folder")

    def __repr__(self) -> str:
        return f"FileFolder({str(self.path)!r})"

    async def read(self, name: str, /) -> str:
        """Return the text of a file.

        Raises `LookupError` for one that is not in the folder, `ValueError` for one that is too large or no text.
        """
        return await anyio.to_thread.run_sync(read_inside, self.path, name, self._largest)


def read_inside(folder: Path, name: str, largest: int = _LARGEST) -> str:
    """Return the text of a file in a folder. Raises what `FileFolder.read` raises."""
    missing = LookupError(f"there is no file {name!r}")
    try:
        path = (folder / name).resolve()
        is_there = path.is_relative_to(folder.resolve()) and path.is_file()
        size = path.stat().st_size if is_there else 0
    except (OSError, ValueError, RuntimeError):  # a name that no file can have, or links in a circle
        raise missing from None
    if not is_there:
        raise missing
    if size > largest:
        raise ValueError(f"file {name!r} has {size:,} bytes, and {largest:,} is the most")
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"file {name!r} is no text in UTF-8") from None
    except OSError as error:
        raise LookupError(f"file {name!r} cannot be read: {error.strerror}") from None
