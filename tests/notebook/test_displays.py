"""What a notebook shows of a flow and of a run: rich where it is trusted, text where it is not, never an error."""

from __future__ import annotations

import re
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser
from pydantic import BaseModel

from flowcore import Complete, Continue, Flow, RunResult, Step, each, node, parallel
from flowcore.errors import RenderError


class Ticket(BaseModel):
    text: str = ""
    tries: int = 0


@node
async def draft(step: Step[Ticket]) -> Continue:
    step.state.tries += 1
    step.state.text = "</script></iframe><script>parent.hacked = true</script>"
    return Continue()


@node
async def check(step: Step[Ticket]) -> Continue[Literal["good", "poor"]]:
    return Continue("good" if step.state.tries > 1 else "poor")


@node
async def deliver(step: Step[Ticket]) -> Complete[str]:
    return Complete(step.state.text)


triage = Flow("<triage>", draft.to(check), check.to(good=deliver, poor=draft), deliver)


@pytest.fixture(scope="module")
def result() -> RunResult[str]:
    return triage.run_sync(Ticket(), check=False)


def test_a_flow_is_shown_as_a_picture_and_as_its_routes() -> None:
    shown = triage._repr_mimebundle_()
    assert list(shown) == ["image/svg+xml", "image/png", "text/plain"]
    assert shown["text/plain"] == (
        "flow <triage>\n"
        "  draft  (starts round)\n    -> check\n"
        "  check\n    -> deliver  (good)\n    -> draft  (poor)\n"
        "  deliver\n    -> end"
    )
    assert bytes(shown["image/png"])[:4] == b"\x89PNG"  # type: ignore[arg-type]


def test_what_stands_inside_a_composite_comes_before_its_routes() -> None:
    @node
    async def look(step: Step[Ticket]) -> Continue:
        return Continue()

    def over(ticket: Ticket) -> list[Ticket]:
        return [ticket]

    def collect(ticket: Ticket, results: list[str]) -> Continue:
        return Continue()

    looking = parallel("looking", look.on_error(draft, OSError), look.named("again"), join=1)
    telling = each("telling", over=over, do=Flow("tell", deliver), collect=collect)
    flow = Flow("outer", looking.to(telling), telling.to(deliver).on_error(deliver), deliver)
    assert str(flow._repr_mimebundle_()["text/plain"]).splitlines() == [
        "flow outer",
        "  looking  (side by side, join 1 of 2)",
        "      look",
        "        -> draft  (error OSError)",
        "      again",
        "      draft",
        "    -> telling",
        "  telling  (for each, 4 at a time)",
        "      deliver  (starts round)",
        "        -> end",
        "    -> deliver",
        "    -> deliver  (any error)",
        "  deliver",
        "    -> end",
    ]


def test_a_run_is_shown_as_its_page_in_a_frame_of_its_own_and_as_its_path(result: RunResult[str]) -> None:
    shown = result._repr_mimebundle_()
    assert list(shown) == ["text/html", "image/svg+xml", "text/plain"]
    assert shown["text/plain"] == result.trace.to_text().rstrip()
    frame = '<iframe title="Run of &lt;triage&gt;" sandbox="allow-scripts" srcdoc="'
    assert str(shown["text/html"]).startswith(frame)


def test_two_pictures_in_one_document_share_no_id_and_no_style() -> None:
    first, second = (str(triage._repr_mimebundle_()["image/svg+xml"]) for _ in range(2))
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (first, second)]
    assert ids[0].isdisjoint(ids[1])
    assert len(ids[0]) == len(ids[1]) > 8
    for svg, own in zip((first, second), ids, strict=True):
        named = re.search(r'aria-labelledby="(\S+) (\S+)"', svg)
        assert named is not None
        assert set(named.groups()) < own


def test_what_cannot_be_drawn_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> str:
        raise RenderError('no layout engine for SVG and PNG: install one with `pip install "flowcore[render]"`')

    monkeypatch.setattr("flowcore.render.notebook.svg_text", refuse)
    monkeypatch.setattr("flowcore.render.notebook.render", refuse)
    shown = triage._repr_mimebundle_()
    assert list(shown) == ["text/plain"]
    reason = 'no layout engine for SVG and PNG: install one with `pip install "flowcore[render]"`'
    assert str(shown["text/plain"]).splitlines()[-2:] == [
        f"(image/svg+xml was left out: {reason})",
        f"(image/png was left out: {reason})",
    ]


def test_what_is_too_heavy_for_a_notebook_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowcore.render.notebook._LARGEST", 100)
    shown = triage._repr_mimebundle_()
    assert list(shown) == ["text/plain"]
    assert "characters are too many for a notebook)" in str(shown["text/plain"])


def test_in_a_browser_the_frame_works_and_touches_nothing_around(result: RunResult[str], browser: Browser) -> None:
    shown, page = result._repr_mimebundle_(), browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    other = triage._repr_mimebundle_()["image/svg+xml"]
    svg = '<svg id="mine" viewBox="0 0 9 9"><text y="9" style="fill: red">x</text></svg>'
    page.set_content(f"<body>{svg}{other}{shown['image/svg+xml']}{shown['text/html']}</body>")
    frame = page.frame_locator("iframe")
    frame.get_by_role("heading", name="<triage>").first.wait_for()
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("getComputedStyle(document.querySelector('#mine text')).textAnchor") == "start"
    assert errors == []
    page.close()
