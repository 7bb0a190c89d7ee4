"""The layout engine: Graphviz's `dot` where there is one, else the program in the wheel of the `render` extra."""

from __future__ import annotations

import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from ..errors import RenderError

__all__ = ["find_engine", "run_engine"]

_WHEEL = "graphviz-pure"
_PATIENCE = 20.0
"""Seconds that a layout may take. Where it takes longer, nobody could read the picture either."""


def find_engine() -> Path:
    """Return the program that lays drawings out. Raises `RenderError` with the remedy where there is none."""
    if found := shutil.which("dot"):
        return Path(found)
    try:
        shipped = files(_WHEEL) or []
    except PackageNotFoundError:
        shipped = []
    # By the wheel's own list, so that it is found although the environment is not active.
    for entry in shipped:
        if entry.name in (_WHEEL, f"{_WHEEL}.exe"):
            return Path(str(entry.locate()))
    raise RenderError('no layout engine for SVG and PNG: install one with `pip install "flowcore[render]"`')


def run_engine(dot: str, *options: str, engine: Path | None = None) -> bytes:
    """Return what the engine, by default the one that is found, makes of a DOT text.

    Raises:
        RenderError: There is no engine, it refuses, or it takes too long.
    """
    engine = engine or find_engine()
    try:
        run = subprocess.run([engine, *options], input=dot.encode(), capture_output=True, timeout=_PATIENCE)
    except subprocess.TimeoutExpired as error:
        raise RenderError(
            f"this takes longer than {_PATIENCE:g} seconds to lay out: close its composites (--depth 1, depth=1),"
            " draw what is near one node (--focus NODE, focus=...), or write Mermaid or DOT"
        ) from error
    if run.returncode != 0:
        words = run.stderr.decode(errors="replace").strip().splitlines()
        raise RenderError(f"{engine} cannot lay this drawing out: {words[-1] if words else 'it says nothing'}")
    return run.stdout
