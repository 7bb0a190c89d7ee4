"""The names of tools: found although a model wrote them in another case, or with other signs between the words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection

from ..value_text import escaped

__all__ = ["find_name", "meant_name", "unknown_text"]

_BETWEEN = re.compile(r"[\s_.\-]+")
_MOST = 30


def find_name(name: str, known: Collection[str]) -> str | None:
    """Return the tool that a name means; None where there is none, or where it may mean several."""
    if name in known:
        return name
    wanted = _bare(name)
    meant = [each for each in known if _bare(each) == wanted]
    return meant[0] if len(meant) == 1 else None


def meant_name(name: str, usable: Collection[str], known: Collection[str]) -> str | None:
    """Return the tool that a name means: the one of this very name, else one that may be used, else any other."""
    return name if name in known else find_name(name, usable) or find_name(name, known)


def unknown_text(name: str, known: Collection[str]) -> str:
    """Return what a model is told of a tool that is not there."""
    shown = escaped(name[:100])
    if not known:
        return f"there is no tool {shown!r}: no tool can be called now"
    close = difflib.get_close_matches(name[:100], known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    listed = ", ".join(list(known)[:_MOST]) + (", ..." if len(known) > _MOST else "")
    return f"there is no tool {shown!r}.{hint} The tools are: {listed}"


def _bare(name: str) -> str:
    return _BETWEEN.sub("", name).casefold()
