"""The command line: `flowcore check`, `flowcore render`, `flowcore run`."""

from .main import main

__all__ = ["main"]
