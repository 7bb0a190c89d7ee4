"""`python -m tests.page.pictures`: makes the pictures of the page in docs/pictures from runs of the main job."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from tests.page.looking import painted
from tests.page.runs import rich, straight

from flowcore.recording import Recording, read_runs
from flowcore.render import run_page

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
QUESTION = "What happens to idle keep-alive connections in httpx by default?"


def main_job(folder: str) -> Recording:
    """Returns a run of the main job, made by the command that a person types."""
    flowcore = Path(sys.executable).with_name("flowcore")
    subprocess.run([flowcore, "run", "examples/package_support", QUESTION, "--out", folder], cwd=ROOT, check=True)
    return read_runs(Path(folder, "trace.json"))[0]


def take(browser: Browser, page_text: str, name: str, link: str, width: int = 1280, height: int = 860) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "run.html")
        file.write_text(page_text, "utf-8")
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
        page.goto(f"{file.as_uri()}{link}")
        painted(page)
        page.screenshot(path=PICTURES / f"{name}.png")
        page.close()


def main() -> None:
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=["--no-sandbox"]
        )
        job = run_page(main_job(folder))
        take(browser, job, "run-page", "#step=6")
        take(browser, job, "run-page-table", "#step=4&view=table&theme=dark")
        take(browser, run_page(rich(), straight()), "run-page-compare", "#step=13&cmp=1")
        browser.close()
    for file in sorted(PICTURES.glob("run-page*.png")):
        sys.stdout.write(f"{file.relative_to(ROOT)}  {file.stat().st_size / 1000:.0f} KB\n")


if __name__ == "__main__":
    main()
