"""The page of a flow diff in a real browser: what it shows, and that nothing in a flow can act there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page
from tests.page.looking import faults
from tests.page.runs import rich, straight
from tests.render.random_flows import HOSTILE, make_node

from flowcore import Complete, Continue, Flow
from flowcore.diff import diff_flows, diff_runs, render_diff
from flowcore.errors import RenderError
from flowcore.recording import FlowData

from .test_flows import Scored, data, fan, triage

ATTACKS = [
    "<script>window.hit = 1<|script>",
    '"><img src=x onerror="window.hit=1">',
    "{{ 7 * 7 }}{% raw %}",
    "<!--",
    "javascript:window.hit=1",
    "&lt;svg onload=window.hit=1&gt;",
    *(name for name in HOSTILE if len(name) < 100 and not set(name) & set("/#[]\t\0\x1b")),
]
ENDS = ["</title></desc></style></svg><script>window.hit = 1</script>", "]]><svg onload='window.hit=1'/>"]


@contextmanager
def opened(browser: Browser, folder: Path, content: str, suffix: str = "html", **context: Any) -> Iterator[Page]:
    """Opens a file. At the end nothing was asked for, complained of or popped up, and no script has run."""
    file = folder / f"diff.{suffix}"
    file.write_text(content, "utf-8")
    context = {"viewport": {"width": 1200, "height": 900}, "color_scheme": "light", **context}
    opening = browser.new_context(**context)
    page = opening.new_page()
    noted: list[str] = []
    page.on("console", lambda message: noted.append(message.text))
    page.on("pageerror", lambda error: noted.append(str(error)))
    page.on("dialog", lambda dialog: (noted.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: noted.append(request.url))
    page.goto(file.as_uri())
    try:
        yield page
        assert page.evaluate("window.hit") is None
    finally:
        opening.close()
    assert [note for note in noted if note != file.as_uri()] == []


def hostile(names: list[str], ends: str) -> FlowData:
    """Returns a flow of nodes of these names in a row; `ends` is its own name, its result and each label."""
    bare = [make_node(name, Continue[Literal[(ends,)]], False) for name in names]  # type: ignore[valid-type]
    last = make_node("last", Complete[str], False)
    rows = [node.to({ends: target}) for node, target in zip(bare, [*bare[1:], last], strict=True)]
    return data(Flow("flow", *rows, last)).model_copy(update={"name": ends, "results": (ends,)})


@pytest.mark.behaviour("DIFF-7")
@pytest.mark.parametrize("format", ["html", "svg"])
def test_whatever_a_flow_is_called_it_is_only_shown(browser: Browser, tmp_path: Path, format: str) -> None:
    old, new = hostile(ATTACKS[::2], ENDS[0]), hostile(ATTACKS[1::2], ENDS[1])
    with opened(browser, tmp_path, render_diff(diff_flows(old, new), format), format) as page:
        assert page.locator("script, img, iframe, a, form, [onload], [onerror]").count() == 0
        text = page.locator("svg").text_content() or ""
        assert "- <script>window.hit = 1<|script>" in text
        assert '+ "><img src=x onerror="window.hit=1">' in text


def test_the_page_lists_each_change_in_order_and_says_which_break(browser: Browser, tmp_path: Path) -> None:
    diff = diff_flows(data(triage()), data(triage(Scored, retry=None, timeout=2)))
    with opened(browser, tmp_path, render_diff(diff, "html")) as page:
        assert page.locator("h1").inner_text() == "triage"
        assert page.locator("header p").all_inner_texts() == ["3 changes", "1 may keep stored runs from going on"]
        rows = [row.split("\t") for row in page.locator("tbody tr").all_inner_texts()]
        assert [row[0] for row in rows] == ["~ changed"] * 3
        assert [row[1].strip() for row in rows] == ["the flow", "the flow", "draft"]
        assert page.locator("td .breaks").all_inner_texts() == [
            "! breaks stored runs: a stored state has no value for it; only a default can help"
        ]
        assert page.locator("svg .changed text").first.text_content() == "~ draft"


def test_the_page_of_equal_flows_says_so(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, tmp_path, render_diff(diff_flows(data(triage()), data(triage())), "html")) as page:
        assert page.locator("header p").first.inner_text() == "no difference"
        assert page.locator("table").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200])
def test_the_page_can_be_read_in_both_themes_and_on_a_narrow_screen(
    browser: Browser, tmp_path: Path, scheme: str, width: int
) -> None:
    content = render_diff(diff_flows(fan("a", "b", "c"), fan("a", "d", "e", "f", join="any")), "html")
    settings = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
    with opened(browser, tmp_path, content, **settings) as page:
        panel = page.evaluate("getComputedStyle(document.querySelector('section')).backgroundColor")
        assert panel == {"light": "rgb(255, 255, 255)", "dark": "rgb(26, 32, 41)"}[scheme]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert faults(page) == []


def test_without_a_layout_engine_the_page_lists_the_changes_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("flowcore.render.engine.files", lambda name: None)
    diff = diff_flows(data(triage()), data(triage(timeout=2)))
    page = render_diff(diff, "html")
    assert "timeout none to 2 s" in page
    assert "no layout engine" in page
    with pytest.raises(RenderError, match="no layout engine"):
        render_diff(diff, "svg")


def test_the_page_of_two_runs_compares_them(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "runs.html"
    file.write_text(render_diff(diff_runs(straight(), rich()), "html"), "utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.locator("#compare").inner_text().startswith("Compare with run ")
    assert page.locator("#compare").get_attribute("aria-pressed") == "true"
    page.close()


def test_an_unknown_format_names_those_that_there_are() -> None:
    with pytest.raises(RenderError, match="unknown format 'pdf': choose one of text, svg, mermaid, html"):
        render_diff(diff_flows(data(triage()), data(triage())), "pdf")
