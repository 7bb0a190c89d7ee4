"""Naming: which of the tools that somebody else offers are taken, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from ..errors import ContractError, ToolError
from ..value_text import escaped

__all__ = ["checked_settings", "must_have", "tool_name"]

_OTHER = re.compile(r"[^a-zA-Z0-9_-]+")
_MOST = 20


def tool_name(name: str, prefix: str = "") -> str:
    """Return a name that a model can be given: other letters become `_`, and what is too long is cut."""
    return (prefix + _OTHER.sub("_", name))[:64] or "_"


def must_have(named: Collection[str], there: Collection[str], what: str) -> None:
    """Return if all that is named is there. Raises `ToolError`, which lists what is."""
    if missing := sorted(set(named) - set(there)):
        listed = ", ".join(escaped(name[:80]) for name in sorted(there)[:_MOST])
        more = ", ..." if len(there) > _MOST else ""
        raise ToolError(f"{what} has no {', '.join(map(repr, missing))}: there are {listed or 'none'}{more}")


def checked_settings(where: str, name: str, timeout: float | None, timeouts: Mapping[str, float]) -> None:
    """Return if a toolset can be made with these. Raises `ContractError` otherwise."""
    if not name:
        raise ContractError(f"{where}(''): give the toolset a name")
    for of, seconds in {
        "timeout": timeout,
        **{f"timeouts[{key!r}]": value for key, value in timeouts.items()},
    }.items():
        if seconds is not None and not seconds > 0:
            raise ContractError(f"{where}({name!r}), {of}={seconds!r}: give seconds above zero")
