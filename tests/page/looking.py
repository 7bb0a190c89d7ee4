"""Looking at pages: a page in the browser that notes everything which must not happen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page
from tests.web.chromium import web_file

from flowcore.recording import Recording
from flowcore.render import run_page


@contextmanager
def looking(
    browser: Browser,
    folder: Path,
    run: Recording,
    compare: Recording | None = None,
    link: str = "",
    **context: Any,
) -> Iterator[Page]:
    """Opens a page from a file of its own. At the end nothing was complained of, asked for or popped up."""
    file = folder / "run.html"
    file.write_text(run_page(run, compare), "utf-8")
    settings = {"viewport": {"width": 1400, "height": 900}, "color_scheme": "light", **context}
    opened = browser.new_context(**settings)
    page = opened.new_page()
    noted: list[str] = []
    page.on("console", lambda message: noted.append(message.text))
    page.on("pageerror", lambda error: noted.append(str(error)))
    page.on("dialog", lambda dialog: (noted.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: noted.append(request.url))
    page.goto(f"{file.as_uri()}{link}")
    try:
        yield page
    finally:
        opened.close()
    assert [note for note in noted if note.partition("#")[0] != file.as_uri()] == []


def painted(page: Page) -> None:
    """Waits until what was asked for is on the screen; a page without a script is there at once."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
    painted(page)


def place(page: Page) -> str:
    """Returns what the page says of the step it shows."""
    painted(page)
    return page.locator("#place").inner_text()


def title(page: Page) -> str:
    painted(page)
    return page.locator("#step-title").inner_text()


def faults(page: Page) -> list[str]:
    """Returns the serious and critical faults that axe finds."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(web_file("axe-core/axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{fault['id']}: {node['html']} {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
