"""`python -m benchmarks.page`: what the page of a long run costs, made by Python and shown by a real browser."""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright
from pydantic import BaseModel

from flowcore import Budget, Complete, Continue, Flow, Step, node
from flowcore.recording import Recording, recording_of
from flowcore.render import run_page

SIZES = (100, 1_000, 10_000)
STEPS = ("ArrowLeft", "Home", "ArrowRight", "]", "]", "End", "[", "e", "ArrowLeft", "ArrowLeft")
_STEP = """async key => {
  const begun = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - begun;
}"""


class Count(BaseModel):
    left: int
    note: str = ""


@node(starts_round=True)
async def work(step: Step[Count]) -> Continue:
    step.state.left -= 1
    step.state.note = f"{step.state.left} are left of what was to be done"
    return Continue()


@node
async def look(step: Step[Count]) -> Continue[Literal["more", "again", "done"]]:
    more: Literal["more", "again"] = "again" if step.state.left % 7 == 0 else "more"  # few rounds fold
    return Continue(more if step.state.left > 0 else "done", why={"left": step.state.left})


@node
async def finish(step: Step[Count]) -> Complete[int]:
    return Complete(step.state.left)


counting = Flow("counting", work.to(look), look.to(more=work, again=work, done=finish), finish)


def run_of(visits: int) -> Recording:
    """Return a run of about so many visits."""
    rounds = visits // 2
    result = counting.run_sync(Count(left=rounds), budget=Budget(rounds=rounds), check=False)
    return recording_of(result.trace)


def shown(browser: Browser, file: Path) -> tuple[float, list[float], float, int]:
    """Return the milliseconds to the first frame, of each step and to the table, and the number of elements."""
    page: Page = browser.new_page(viewport={"width": 1400, "height": 900})
    begun = time.perf_counter()
    page.goto(file.as_uri())
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    first = (time.perf_counter() - begun) * 1000
    steps = [float(page.evaluate(_STEP, key)) for key in STEPS]
    elements = int(page.evaluate("document.querySelectorAll('*').length"))
    table = float(page.evaluate(_STEP, "t"))
    page.close()
    return first, steps, table, elements


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page", description=__doc__)
    parser.add_argument("--visits", type=int, nargs="+", default=SIZES, help="how long the runs are")
    sizes = parser.parse_args().visits
    runs = {size: run_of(size) for size in sizes}
    print("visits   page made   file size   first frame   step: median   slowest   to the table   elements")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for size, run in runs.items():
            begun = time.perf_counter()
            text = run_page(run)
            made = (time.perf_counter() - begun) * 1000
            file = Path(folder, f"{size}.html")
            file.write_text(text, "utf-8")
            first, steps, table, elements = min((shown(browser, file) for _ in range(3)), key=lambda told: told[0])
            print(
                f"{len(run.visits):>6}  {made:>7.0f} ms  {len(text.encode()) / 1e6:>6.2f} MB  {first:>8.0f} ms"
                f"  {statistics.median(steps):>9.0f} ms  {max(steps):>5.0f} ms  {table:>10.0f} ms  {elements:>9}"
            )
        browser.close()


if __name__ == "__main__":
    main()
