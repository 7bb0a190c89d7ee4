"""Extras: libraries that a toolset needs, and that are not always there."""

from __future__ import annotations

from importlib.util import find_spec

from ..errors import ToolError

__all__ = ["must_be_there"]


def must_be_there(module: str, extra: str, what: str) -> None:
    """Return if the module can be imported, without importing it. Raises `ToolError` with the remedy otherwise."""
    if find_spec(module) is None:
        raise ToolError(f'{what} need {module}, which is not there: pip install "flowcore[{extra}]"')
