"""Renewal: whether a drawn file is still what its flow declares, and the command that renews it."""

from __future__ import annotations

import argparse
import difflib
import shlex
from collections.abc import Iterator
from pathlib import Path

from ..errors import TargetError
from ..render import visible
from .codes import DIFFERS, OK
from .files import write_out
from .words import complain

__all__ = ["check_file"]


def check_file(place: str, content: str, arguments: argparse.Namespace) -> int:
    """Hold a file against what would be written. Where they differ, show how, and name the remedy.

    Raises `TargetError` where the file is there and cannot be read.
    """
    found = _read(Path(place))
    if found == content:
        return OK
    old = [] if found is None else found.splitlines()
    names = ("/dev/null" if found is None else place, f"{place} (as declared)")
    lines = difflib.unified_diff(old, content.splitlines(), *names, lineterm="")
    write_out("".join(f"{visible(line)}\n" for line in lines))
    fault = "is missing" if found is None else "is stale"
    complain(f"{place} {fault}; `{shlex.join(_command(place, arguments))}` writes it")
    return DIFFERS


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "backslashreplace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TargetError(f"{path}: cannot be read: {error.strerror}; name another file") from error


def _command(place: str, arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the words of the command that writes a file, with the options that were given."""
    yield from ("flowcore", "render", arguments.target, "-o", place)
    for name, default in _DEFAULTS.items():
        value = getattr(arguments, name)
        if value != default:
            yield f"--{name}"
            if value is not True:
                yield str(value)


_DEFAULTS = {
    "format": None,
    "direction": "TB",
    "depth": None,
    "focus": None,
    "hops": None,
    "types": False,
    "theme": "auto",
    "legend": False,
    "compare": None,
}
