"""A page that follows a run: what a server sends it, and when it follows."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import Browser, expect
from tests.page.looking import painted, place, press
from tests.page.runs import rich

from flowcore.recording import Recording, Spent, VisitData
from flowcore.render import run_page
from flowcore.render.page import head_json, visit_json


def part(run: Recording, count: int) -> Recording:
    """Returns a run as it was when so many visits had begun, the last of which goes on."""
    begun = [*run.visits[: count - 1], under_way(run.visits[count - 1])]
    return run.model_copy(update={"status": "running", "value": "", "visits": tuple(begun)})


def under_way(visit: VisitData) -> VisitData:
    nothing = {
        "kind": "running",
        "label": "",
        "target": "",
        "edge": -1,
        "ended": None,
        "changes": (),
        "failure": None,
        "spent": Spent(),
    }
    return visit.model_copy(update=nothing)


@contextmanager
def served(text: str, news: queue.Queue[str]) -> Iterator[str]:
    """Serves a page under a token, and beside it the stream of events that are put into `news`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            if not self.path.endswith("events"):
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(text.encode())
                return
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            while event := news.get():
                self.wfile.write(event.encode())
                self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/token/"
    finally:
        news.put("")
        server.shutdown()
        server.server_close()


def event(name: str, data: str) -> str:
    assert "\n" not in data
    return f"event: {name}\ndata: {data}\n\n"


@pytest.mark.behaviour("PAGE-7")
def test_a_live_page_follows_until_its_reader_looks_elsewhere(browser: Browser) -> None:
    run, news = rich(), queue.Queue[str]()
    with served(run_page(part(run, 3), live="events"), news) as address:
        page = browser.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text))
        page.goto(address)
        expect(page.locator("#link")).to_have_text("live")
        expect(page.locator(".outcome")).to_have_text("running")
        assert place(page) == "step 3 of 3"
        assert page.locator("#graph .node.running").get_attribute("data-path") == "plan"
        assert page.locator("#left").inner_text() == "3 of 3"
        news.put(event("visit", visit_json(run.visits[2])) + event("visit", visit_json(under_way(run.visits[3]))))
        expect(page.locator("#place")).to_have_text("step 4 of 4")
        expect(page.locator("#left")).to_have_text("2 of 3")  # the visit under way has not told yet
        press(page, "Home")
        expect(page.locator("#follow")).to_have_attribute("aria-pressed", "false")
        for visit in run.visits[3:]:
            news.put(event("visit", visit_json(visit)))
        expect(page.locator("#place")).to_have_text("step 1 of 15")
        page.locator("#follow").click()
        expect(page.locator("#place")).to_have_text("step 15 of 15")
        news.put(event("head", head_json(run.model_copy(update={"status": "running"}))))
        expect(page.locator("#chips li").last).to_have_text("tokens 10,800 of 8,000")
        news.put(event("end", head_json(run)))
        expect(page.locator(".outcome")).to_have_text("completed, took an error route")
        expect(page.locator("#link")).to_have_text("")
        painted(page)
        assert page.locator("#graph .running").count() == 0
        assert faults == []
        page.close()


@pytest.mark.behaviour("PAGE-7")
def test_a_live_page_is_there_before_the_first_step(browser: Browser) -> None:
    run, news = rich(), queue.Queue[str]()
    nothing = run.model_copy(update={"status": "running", "visits": ()})
    with served(run_page(nothing, live="events"), news) as address:
        page = browser.new_page()
        page.goto(address)
        expect(page.locator("#step-title")).to_have_text("Waiting for the first step")
        news.put(event("visit", visit_json(run.visits[0])))
        expect(page.locator("#step-title")).to_have_text("Step 1: load")
        page.close()
