"""What the tests of live pages share with those of the command line."""

from __future__ import annotations

from tests.cli.conftest import call, clean_modules, here

__all__ = ["call", "clean_modules", "here"]
