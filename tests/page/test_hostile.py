"""A page of a run in which every text is an attack: nothing runs, nothing breaks, nothing leaves."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.page.looking import faults, looking, painted, place, press
from tests.page.runs import EVIL, hostile, rich, tooled

from flowcore.render import run_page


@pytest.mark.behaviour("PAGE-6")
@pytest.mark.parametrize("scripted", [True, False])
def test_texts_of_a_run_are_texts_and_nothing_else(browser: Browser, tmp_path: Path, scripted: bool) -> None:
    with looking(browser, tmp_path, hostile(), hostile(), java_script_enabled=scripted) as page:
        for keys in (("Home", "ArrowRight"), ("t",), ("c", "d"), ("t", "e")) if scripted else ((),):
            if scripted:
                press(page, *keys)
            assert page.locator("img, iframe, object, embed, [onerror], [onload], [onclick]").count() == 0
            assert page.locator("script").count() == 2
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if scripted:
            assert "<img src=x onerror" in page.locator("#route").inner_text()
            page.locator(".more").first.click()
            painted(page)
            assert faults(page) == []


@pytest.mark.behaviour("PAGE-6")
def test_what_tools_were_given_and_answered_is_text(browser: Browser, tmp_path: Path) -> None:
    run = tooled()
    evil = {"tool": EVIL, "arguments": EVIL, "text": EVIL * 40, "answer": EVIL, "by": EVIL, "status": "ok"}
    visits = [
        visit.model_copy(update={"tools": tuple(call.model_copy(update=evil) for call in visit.tools)})
        for visit in run.visits
    ]
    with looking(browser, tmp_path, run.model_copy(update={"visits": tuple(visits)}), link="#step=2") as page:
        first = page.locator("#calls li").first
        assert first.locator("b").text_content() == f"tool {EVIL}"
        assert first.locator(".value").first.text_content() == EVIL
        press(page, "t")
        assert page.locator("img, iframe, [onerror]").count() == 0
        assert page.locator("script").count() == 2


@pytest.mark.behaviour("PAGE-6")
def test_every_value_is_shown_as_it_was(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, hostile(), link="#step=1") as page:
        shown = page.locator("#route .others, #route .to + .soft").first.text_content()
        assert shown == f"label: {EVIL}"
        page.locator("#changes .more").first.click()
        assert "characters" in page.locator("#changes .changes li").nth(1).inner_text()


@pytest.mark.behaviour("PAGE-6")
def test_the_page_may_run_its_own_script_and_load_nothing(browser: Browser, tmp_path: Path) -> None:
    page_text = run_page(rich())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page_text)
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in html.unescape(policy[1]).split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "connect-src" not in rules
    assert re.fullmatch(r"'sha256-[\w+/]{43}='", rules["script-src"])
    assert re.fullmatch(r"'sha256-[\w+/]{43}='", rules["style-src"])
    file = tmp_path / "run.html"
    file.write_text(page_text, "utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    page.evaluate(
        "const bad = document.createElement('script');"
        " bad.textContent = 'window.stolen = 1'; document.body.append(bad)"
    )
    assert page.evaluate("window.stolen") is None
    assert page.evaluate("fetch('https://example.com').then(() => 'gone', error => error.name)") == "TypeError"
    page.close()


@pytest.mark.behaviour("PAGE-6")
def test_a_page_names_no_place_on_the_network() -> None:
    assert set(re.findall(r"https?://[^\s\"'<>\\)]+", run_page(rich()))) == {"http://www.w3.org/2000/svg"}


@pytest.mark.behaviour("PAGE-6")
def test_a_link_cannot_bring_a_script(browser: Browser, tmp_path: Path) -> None:
    link = '#step=<img src=x onerror=alert(1)>&theme="><script>alert(1)</script>&view=javascript:alert(1)&cmp=1'
    with looking(browser, tmp_path, rich(), link=link) as page:
        assert place(page) == "step 15 of 15"


@pytest.mark.behaviour("PAGE-6")
def test_a_page_works_in_a_frame_that_may_do_nothing_else(browser: Browser) -> None:
    page = browser.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text))
    source = html.escape(run_page(rich()))
    page.set_content(f'<iframe sandbox="allow-scripts" srcdoc="{source}" width="1000" height="700"></iframe>')
    frame = page.frame_locator("iframe")
    frame.locator("#back").click()
    expect(frame.locator("#place")).to_have_text("step 14 of 15")
    frame.locator('#graph [data-path="plan"]').click()
    expect(frame.locator("#step-title")).to_have_text("Step 3: plan")
    assert faults == []
    page.close()
