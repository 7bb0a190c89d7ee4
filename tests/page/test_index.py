"""The page of many runs: what it says of each, where it leads, what it lets a browser do."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from tests.page.looking import faults
from tests.page.runs import EVIL, hostile, looped, rich

from flowcore.render.page.index import Entry, runs_page

ROOT = Path(__file__).parents[2]
QUESTIONS = ("What does it cost to bring a book back 12 days late?", "When are you open on Saturday?")


def opened(browser: Browser, folder: Path, text: str, width: int = 1200) -> Page:
    file = folder / "runs.html"
    file.write_text(text, "utf-8")
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(file.as_uri())
    return page


def mixed() -> str:
    failed = rich().model_copy(update={"status": "failed", "failure": rich().visits[12].failure, "value": ""})
    return runs_page(
        "triage",
        [
            Entry("41", "Where is my order?", looped(3), "run-1.html"),
            Entry("42", "And now?", rich(), "run-2.html", said="We will write to you, soon."),
            Entry("43", "Hello?", failed, "run-3.html"),
            Entry("44", "x", None, reason="the question is empty"),
        ],
    )


@pytest.mark.behaviour("PAGE-9")
def test_each_run_has_a_line_that_leads_to_its_page(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, mixed())
    rows = [row.locator("td, th").all_inner_texts() for row in page.locator("tbody tr").all()]
    assert [row[0] for row in rows] == ["41", "42", "43", "44"]
    assert rows[1][1].split("\n\n") == ["And now?", "We will write to you, soon."]
    assert [row[2] for row in rows] == [
        "✓ completed",
        "↻ completed, took an error route",
        "✕ failed: Busy: 529: try again later",
        "✕ the question is empty",
    ]
    assert [row[3] for row in rows] == ["3", "2", "2", ""]
    assert page.locator("header li").all_inner_texts()[:3] == [
        "✓ 1 completed",
        "↻ 1 ended another way",
        "✕ 2 failed",
    ]
    assert page.locator("header li").last.inner_text() == "21,600 tokens"
    hrefs = [link.get_attribute("href") for link in page.locator("a").all()]
    assert hrefs == ["run-1.html", "run-2.html", "run-3.html"]
    page.close()


@pytest.mark.behaviour("PAGE-4", "PAGE-9")
def test_anyone_can_read_it(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, mixed())
    assert faults(page) == []
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 500, "height": 900})
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 500
    page.close()


@pytest.mark.behaviour("PAGE-6", "PAGE-9")
def test_whatever_runs_are_called_it_is_text(browser: Browser, tmp_path: Path) -> None:
    text = runs_page(EVIL, [Entry(EVIL, EVIL * 20, hostile(), "run-1.html"), Entry("2", EVIL, None, reason=EVIL)])
    page = opened(browser, tmp_path, text)
    assert page.locator("img, iframe, script, [onerror]").count() == 0
    assert "<img src=x onerror" in page.locator("td").first.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()


@pytest.mark.behaviour("PAGE-6", "PAGE-9")
def test_the_browser_lets_it_do_nothing() -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', mixed())
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in html.unescape(policy[1]).split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "script-src" not in rules
    assert re.findall(r"https?://", mixed()) == []


@pytest.mark.behaviour("PAGE-9")
def test_the_command_writes_it_beside_the_pages_it_names(browser: Browser, tmp_path: Path) -> None:
    lines = [json.dumps({"id": f"q{number}", "question": text}) for number, text in enumerate(QUESTIONS, 1)]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines), "utf-8")
    flowcore = Path(sys.executable).with_name("flowcore")
    target = ROOT / "examples" / "offline_service.py"
    subprocess.run(
        [flowcore, "run", target, "--questions", "questions.jsonl", "--out", "out"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    page = browser.new_page()
    page.goto((tmp_path / "out" / "runs.html").as_uri())
    page.get_by_role("link", name="q2").click()
    assert page.locator(".about bdi").last.inner_text() == QUESTIONS[1]
    assert page.locator("#place").inner_text() == "step 4 of 4"
    page.close()
