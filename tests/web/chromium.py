"""The browser that tests look at pages with: the system's Chromium, without a window and without a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

WEB = Path(__file__).parents[2] / ".venv" / "web" / "node_modules"
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def missing(what: str, remedy: str) -> None:
    """Skips the test; on a build server, where everything is to be there, fails it."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing: {remedy}")
    pytest.skip(f"{what} is missing: {remedy}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for the tests of one module, which must not be async: Playwright keeps a loop of its own there."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        missing("Chromium", "scripts/test installs it where it may; else install it from your system's packages")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=list(_QUIET))
        yield chromium
        chromium.close()


def web_file(path: str) -> Path:
    """Returns a file of the npm packages that tests load, such as `axe-core/axe.min.js`."""
    if not (WEB / path).is_file():
        missing(path, "scripts/test installs it with npm")
    return WEB / path
