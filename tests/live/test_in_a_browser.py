"""A live page in a real browser: it follows a run of `flowcore watch` to its end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

Start = Callable[..., subprocess.Popen[str]]
FLOWCORE = str(Path(sys.executable).with_name("flowcore"))
GATED = """
from pathlib import Path
from typing import Literal

import anyio
from pydantic import BaseModel

from flowcore import App, Complete, Continue, Flow, Step, node, parallel


class Ask(BaseModel):
    text: str
    rounds: int = 0


@node(starts_round=True)
async def draft(step: Step[Ask]) -> Continue:
    while not Path(f"go-{step.visit}").exists():
        await anyio.sleep(0.01)
    step.state.rounds += 1
    return Continue()


@node
async def web(step: Step[Ask]) -> Continue:
    return Continue()


@node
async def docs(step: Step[Ask]) -> Complete[None]:
    return Complete(None)


@node
async def check(step: Step[Ask]) -> Continue[Literal["good", "poor"]]:
    return Continue("good" if step.state.rounds > 2 else "poor", why={"rounds": step.state.rounds})


@node
async def deliver(step: Step[Ask]) -> Complete[str]:
    return Complete(step.state.text)


read = Flow("read", docs).as_node("read", state=Ask)
look = parallel("look", web, read)
app = App(
    flows=[Flow("gated", draft.to(look), look.to(check), check.to(good=deliver, poor=draft), deliver)],
    state=lambda text: Ask(text=text),
)
"""


@contextmanager
def watching(browser: Browser, folder: Path, start: Start) -> Iterator[Page]:
    """Runs the command and opens its page. At the end nothing was complained of, and nobody else was asked."""
    (folder / "app.py").write_text(GATED)
    process = start([FLOWCORE, "watch", ".", "hello"], cwd=folder)
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    context = browser.new_context()
    page = context.new_page()
    noted: list[str] = []
    page.on("console", lambda message: noted.append(message.text))
    page.on("pageerror", lambda error: noted.append(str(error)))
    page.on("request", lambda request: noted.append(request.url))
    page.goto(url)
    try:
        yield page
    finally:
        context.close()
    assert set(noted) == {url, f"{url}events"}


def row(page: Page, path: str) -> Locator:
    return page.locator(f"[data-place][title='{path}']")


@pytest.mark.behaviour("LIVE-1")
def test_the_page_follows_a_run_to_its_end(browser: Browser, tmp_path: Path, start: Start) -> None:
    with watching(browser, tmp_path, start) as page:
        expect(row(page, "draft#1")).to_be_visible()
        expect(page.locator("#chips .outcome")).to_have_text("running")
        expect(page.locator("#link")).to_have_text("live")
        (tmp_path / "go-1").touch()
        expect(row(page, "draft#2")).to_be_visible()
        expect(row(page, "draft#3")).to_have_count(0)
        page.reload()  # another stream, from the beginning
        expect(row(page, "draft#2")).to_be_visible()
        expect(page.locator(".row .name", has_text="draft")).to_have_count(2)
        (tmp_path / "go-2").touch()
        (tmp_path / "go-3").touch()
        expect(row(page, "deliver#1")).to_be_visible()
        expect(page.locator("#chips .outcome")).to_have_text("completed")
        expect(page.locator("#news")).to_have_text("The run has ended: completed")
        followed = page.locator(".row .name").all_inner_texts()
        expect(page.locator("#slider")).to_have_attribute("max", "19")
        page.reload()  # now it is whole, and follows nothing
        expect(page.locator(".row .name")).to_have_text(followed)
