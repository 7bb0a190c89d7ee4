"""The page in a real browser: what it shows, every key, links, views, sizes and themes."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.page.looking import faults, looking, painted, place, press, title
from tests.page.runs import crowded, deep, finished, looped, rich, straight, tooled, troubled

TIMES = "\N{MULTIPLICATION SIGN}"


@pytest.mark.behaviour("PAGE-1")
def test_the_header_says_how_the_run_went(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, rich()) as page:
        chips = page.locator("#chips li").all_inner_texts()
        assert page.locator("h1").inner_text() == "triage"
        assert chips[0] == "completed, took an error route"
        assert chips[2:] == ["2 rounds of 3", "tokens 10,800 of 8,000"]
        assert page.locator(".chip.error").inner_text() == "tokens 10,800 of 8,000"
        assert page.locator(".about").inner_text().split("\n")[:2] == ["run 42", "Where is my order?"]


@pytest.mark.behaviour("PAGE-1")
def test_the_timeline_groups_visits_by_rounds(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, rich()) as page:
        names = page.locator(".row .name").all_inner_texts()
        assert names == [
            "Before round 1",
            "✓load",
            "✓classify",
            "Round 1",
            "✓plan",
            "✓research",
            "✓search_docs",
            "↻fetch_orders",
            "✓merge_facts",
            "Round 2",
            "✓plan",
            "✓research",
            "✓search_docs",
            "✓fetch_orders",
            "✓merge_facts",
            "✕draft",
            "✓fallback",
            "✓send",
        ]
        retried = page.locator(".row.retried")
        assert retried.locator(".bar > .bad").count() == 1
        assert page.locator(".bar > span:not(.bad)").count() == 3  # requests to the model


@pytest.mark.behaviour("PAGE-1", "A135")
def test_the_graph_shows_what_ran_up_to_the_step(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, rich()) as page:
        labels = {button.get_attribute("aria-label") for button in page.locator("#graph g[role=button]").all()}
        assert labels >= {
            "plan starts round, ran twice, ok",
            "fetch_orders in research, ran twice, tried again once, ok",
            "draft, ran once, failed",
            "ask_human, did not run",
            "judge in review, did not run",
        }
        assert badge(page, "plan") == f"{TIMES}2"
        assert badge(page, "research/fetch_orders") == "↻2"
        assert badge(page, "draft") == "✕"
        assert badge(page, "load") == "✓"
        taken = page.locator("#graph .edge.taken").count()
        press(page, "Home")
        assert page.locator("#graph .edge.taken").count() == 2 < taken  # into load, and out of it
        assert page.locator("#ran").inner_text() == "1 of 15 nodes ran"
        assert page.locator("#graph .current").get_attribute("data-path") == "load"


def badge(page: Page, path: str) -> str:
    return page.locator(f'#graph .badge[data-of="{path}"] text').text_content() or ""


@pytest.mark.behaviour("A135")
def test_a_flow_three_levels_deep_with_its_loop_first(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, deep()) as page:
        assert badge(page, "again") == f"{TIMES}2"
        assert badge(page, "middle/items/measure") == f"{TIMES}3"
        assert page.locator("#graph .edge:not(.taken)").count() == 0
        names = page.locator(".row.visit .name").all_inner_texts()
        assert names == ["✓again", "✓again", "✓middle", "✓items", *(f"✓measure[{n}]" for n in range(3)), "✓finish"]
        page.locator('.row.visit[data-place="3"]').click()
        painted(page)
        assert title(page) == "Step 4: items"
        assert badge(page, "middle") == badge(page, "middle/items") == "●"  # under way at this step


@pytest.mark.behaviour("PAGE-2")
def test_limits_dropped_items_and_finish_paths_are_told(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, troubled()) as page:
        names = page.locator(".row.visit .name").all_inner_texts()
        assert names[2:] == ["⊘count_down", "✕items", "◌second_fails[0]dropped", "✕second_fails[1]", "✓saved"]
        assert badge(page, "count_down") == f"{TIMES}3"
        page.locator("#slider").fill("5")
        assert "no longer needed" in (painted(page) or page.locator("#route").inner_text())
        page.locator("#slider").fill("3")
        painted(page)
        assert "the way out: over 2 visits" in page.locator("#route").inner_text()
    with looking(browser, tmp_path, finished()) as page:
        assert "The finish path began here, since rounds ran out." in page.locator("#route").inner_text()
        assert page.locator("#graph .edge.finish.taken").count() == 1
        assert page.locator(".chip.error").inner_text() == "3 rounds of 4"


@pytest.mark.behaviour("PAGE-2", "A139")
def test_a_step_says_what_it_changed_and_why_it_went_on_as_it_did(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, rich(), link="#step=7") as page:
        assert title(page) == "Step 7: merge_facts"
        route = [line for line in page.locator("#route").inner_text().split("\n") if line]
        assert route[:3] == ["Why this route", "to plan", "label: not enough"]
        assert page.locator("#route dl").inner_text().split() == ["facts", "1", "needed", "2"]
        assert page.locator("#route .others").inner_text() == "enough → draft"
        press(page, "ArrowLeft")
        assert "attempt 1 failed" in page.locator("#calls").inner_text()
        assert "ConnectionError" in page.locator("#calls .fault").inner_text()
        assert "artifact order.json" in page.locator("#calls").inner_text()
        assert page.locator("#changes .changes li").all_inner_texts() == [
            '+ orders[0] = {"id": "7731", "status": "shipped"}'
        ]


@pytest.mark.behaviour("PAGE-2")
def test_every_key(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, rich(), straight()) as page:
        assert place(page) == "step 7 of 15"  # where the two part
        press(page, "c")
        assert page.locator("#compare").get_attribute("aria-pressed") == "false"
        seen = []
        for key in [
            "Home",
            "ArrowRight",
            "ArrowRight",
            "ArrowLeft",
            "End",
            "[",
            "[",
            "[",
            "[",
            "]",
            "]",
            "]",
            "e",
            "e",
        ]:
            press(page, key)
            seen.append(int(place(page).split()[1]))
        assert seen == [1, 2, 3, 2, 15, 8, 3, 1, 1, 3, 8, 8, 13, 13]
        press(page, "c")
        assert page.locator("#compare").get_attribute("aria-pressed") == "true"
        assert place(page) == "step 7 of 15"
        press(page, "t")
        expect(page.locator("#table")).to_be_visible()
        expect(page.locator("#timeline")).to_be_hidden()
        press(page, "t", "d")
        assert page.locator("html").get_attribute("data-theme") == "dark"
        press(page, "d", "?")
        assert page.locator("html").get_attribute("data-theme") == "light"
        expect(page.locator("#help")).to_be_visible()
        press(page, "ArrowRight")  # belongs to the help
        press(page, "Escape")
        assert place(page) == "step 7 of 15"
        press(page, "?")
        page.locator("#help button").click()
        expect(page.locator("#help")).to_be_hidden()


@pytest.mark.behaviour("PAGE-2")
def test_replay_goes_through_all_steps_and_stops(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, straight()) as page:
        page.clock.install()
        press(page, " ")
        expect(page.locator("#replay")).to_have_text("Pause")
        expect(page.locator("#place")).to_have_text("step 1 of 12")
        page.clock.run_for(600)
        expect(page.locator("#place")).to_have_text("step 2 of 12")
        page.clock.run_for(60_000)
        expect(page.locator("#place")).to_have_text("step 12 of 12")
        expect(page.locator("#replay")).to_have_text("Replay")


@pytest.mark.behaviour("PAGE-2")
def test_a_node_pressed_again_goes_through_its_visits(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, rich()) as page:
        node = page.locator('#graph [data-path="plan"]')
        seen = []
        for _ in range(3):
            node.click()
            seen.append(place(page))
        assert seen == ["step 3 of 15", "step 8 of 15", "step 3 of 15"]
        node.focus()
        press(page, "Enter")
        assert place(page) == "step 8 of 15"
        press(page, " ")
        assert place(page) == "step 3 of 15"
        page.locator('#graph [data-path="research"]').click(position={"x": 20, "y": 14})
        assert title(page) == "Step 4: research"


@pytest.mark.behaviour("PAGE-2")
def test_the_slider_the_buttons_and_the_rows_go_to_a_step(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, rich()) as page:
        page.locator("#slider").fill("4")
        assert place(page) == "step 4 of 15"
        page.locator("#back").click()
        assert place(page) == "step 3 of 15"
        page.locator("#on").click()
        assert place(page) == "step 4 of 15"
        page.locator(".row.visit", has_text="classify").click()
        assert title(page) == "Step 2: classify"
        assert page.locator("#news").inner_text() == "Step 2 of 15: classify, ok, goes to plan, question"
        assert page.locator("#slider").get_attribute("aria-valuetext") == page.locator("#news").inner_text()


@pytest.mark.behaviour("PAGE-3")
def test_another_run_beside_it(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, rich(), straight(), "#step=7&cmp=1") as page:
        words = page.locator("#differs").inner_text()
        assert words == (
            "run 41 took another route after step 7: merge_facts to draft (enough: facts = 1, needed = 1)."
            " Thin bars are run 41."
        )
        assert page.locator(".theirs").count() == 9  # the visits that both made: draft too
        assert page.locator(".row", has_text="draft").locator(".took small").inner_text() != "new"
        assert page.locator(".row", has_text="fallback").locator(".took small").inner_text() == "new"
        assert page.locator("#graph .edge.other").count() == 5  # draft to review, through it, and on to send
        press(page, "c")
        assert page.locator(".theirs").count() == page.locator("#graph .edge.other").count() == 0


@pytest.mark.behaviour("PAGE-4")
def test_the_table_has_every_step(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, rich(), link="#view=table") as page:
        rows = page.locator("#cells tr")
        assert rows.count() == 15
        assert rows.nth(6).locator("td, th").all_inner_texts()[:4] == ["7", "1", "merge_facts", "✓ ok"]
        assert rows.nth(6).locator("td").nth(6).inner_text() == "not enough: facts = 1, needed = 2"
        assert rows.nth(12).locator("td").nth(2).inner_text() == "✕ failed: Busy: 529: try again later"
        rows.nth(1).locator("button").click()
        assert title(page) == "Step 2: classify"
        assert page.locator("#cells tr[aria-current] td").first.inner_text() == "2"


@pytest.mark.behaviour("PAGE-2")
def test_a_link_holds_the_step_and_the_view(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, rich(), straight(), "#step=10&cmp=1&theme=dark&view=table") as page:
        assert place(page) == "step 10 of 15"
        assert page.locator("html").get_attribute("data-theme") == "dark"
        expect(page.locator("#table")).to_be_visible()
        assert page.locator("#compare").get_attribute("aria-pressed") == "true"
        press(page, "ArrowRight", "t", "c")
        assert page.url.endswith("#step=11&cmp=0&theme=dark")
        page.evaluate("location.hash = 'step=2'")
        assert place(page) == "step 2 of 15"
        page.evaluate("location.hash = 'step=nonsense&cmp=&theme=pink&view='")
        assert place(page) == "step 2 of 15"


@pytest.mark.behaviour("PAGE-2")
def test_the_budget_is_shown_as_it_was_used_up(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, rich()) as page:
        assert page.locator("#dimension option").all_inner_texts() == ["Tokens left", "Rounds left"]
        assert page.locator("#left").inner_text() == "2,800 over"
        press(page, "Home")
        assert page.locator("#left").inner_text() == "8,000 of 8,000"
        page.locator("#dimension").select_option("Rounds")
        page.locator("#slider").fill("15")
        painted(page)
        assert page.locator("#left").inner_text() == "1 of 3"


@pytest.mark.behaviour("PAGE-4")
def test_nothing_keeps_anyone_out(browser: Browser, tmp_path: Path) -> None:
    def sticks_out(page: Page, width: int) -> bool:
        page.set_viewport_size({"width": width, "height": 900})
        painted(page)
        return bool(page.evaluate("document.documentElement.scrollWidth") != width)

    with looking(browser, tmp_path, rich(), straight(), "#step=14") as page:
        for keys in ((), ("c", "d"), ("t", "Home"), ("c", "d")):  # timeline, compared in dark, table, in light
            press(page, *keys)
            assert not sticks_out(page, 600)
            assert not sticks_out(page, 1400)
            assert faults(page) == []
        press(page, "t")
        assert not sticks_out(page, 600)
        assert faults(page) == []


@pytest.mark.behaviour("PAGE-4")
def test_it_follows_the_theme_forced_colours_and_reduced_motion(browser: Browser, tmp_path: Path) -> None:
    def background(page: Page) -> str:
        return str(page.evaluate("getComputedStyle(document.querySelector('header')).backgroundColor"))

    with looking(browser, tmp_path, rich(), color_scheme="dark", reduced_motion="reduce") as page:
        assert background(page) == "rgb(26, 32, 41)"
        assert page.locator("#theme").inner_text() == "Light"
        page.emulate_media(color_scheme="light")
        assert background(page) == "rgb(255, 255, 255)"
        page.emulate_media(forced_colors="active")
        assert faults(page) == []
        assert page.locator("#graph .node.ok > rect").first.evaluate("rect => getComputedStyle(rect).stroke") in (
            "rgb(0, 0, 0)",
            "canvastext",
        )


@pytest.mark.behaviour("PAGE-4")
def test_on_paper_stand_graph_timeline_table_and_details(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, rich()) as page:
        page.emulate_media(media="print")
        painted(page)
        for part in ("#graph", "#timeline", "#table", "#details"):
            expect(page.locator(part)).to_be_visible()
        expect(page.locator(".scrub")).to_be_hidden()
        assert page.locator("#cells tr").count() == 15
        assert page.pdf().startswith(b"%PDF")
        page.emulate_media(media="screen")
        painted(page)
        expect(page.locator("#table")).to_be_hidden()


@pytest.mark.behaviour("PAGE-4")
def test_without_a_script_graph_and_table_are_there(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, rich(), java_script_enabled=False) as page:
        assert page.locator("#chips li").first.inner_text() == "completed, took an error route"
        rows = page.locator("#table tbody tr:visible")
        assert rows.count() == 15
        assert rows.nth(12).locator("td, th").nth(3).inner_text() == "failed: Busy: 529: try again later"
        assert page.locator("#graph svg .node.failed").count() == 1
        assert page.locator("#graph svg .edge.taken").count() > 10
        for gone in ("#timeline", ".scrub", ".tools", "#details", "#data"):
            expect(page.locator(gone)).to_be_hidden()


@pytest.mark.behaviour("PAGE-5")
def test_equal_rounds_are_folded_and_can_be_unfolded(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, looped(100)) as page:
        fold = page.locator(".row.fold")
        assert fold.locator(".name").inner_text() == f"▸Rounds 2 to 99: same path, 98{TIMES}"
        page.locator("#slider").fill("100")
        painted(page)
        assert fold.locator(".name").inner_text() == f"▸Rounds 2 to 99: same path, 98{TIMES}, now in round 50"
        fold.click()
        painted(page)
        assert page.locator(".row.fold").count() == 0
        page.locator(".row.head[data-fold]").click()
        painted(page)
        assert page.locator(".row.fold").count() == 1


@pytest.mark.behaviour("PAGE-5")
def test_ten_thousand_visits_are_drawn_a_screen_at_a_time(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, looped(5000)) as page:
        assert (tmp_path / "run.html").stat().st_size < 5_000_000
        assert page.evaluate("document.querySelectorAll('*').length") < 1_000
        page.locator(".row.fold").click()
        press(page, "Home", "]", "]")
        assert page.evaluate("document.querySelectorAll('*').length") < 1_500
        press(page, "End")
        assert place(page) == "step 10,001 of 10,001"
        assert page.locator(".row.current").is_visible()
        press(page, "t")
        assert page.evaluate("document.querySelectorAll('*').length") < 6_000
        assert page.locator("#page-words").inner_text() == "Steps 10,001 to 10,001 of 10,001"
        page.locator("#pages button").first.click()
        painted(page)
        assert page.locator("#page-words").inner_text() == "Steps 9,801 to 10,000 of 10,001"


@pytest.mark.behaviour("PAGE-2")
def test_a_run_that_failed_is_opened_where_it_did(browser: Browser, tmp_path: Path) -> None:
    run = rich().model_copy(update={"status": "failed", "failure": rich().visits[12].failure})
    with looking(browser, tmp_path, run) as page:
        assert place(page) == "step 13 of 15"
        assert page.locator(".outcome").inner_text() == "failed: Busy: 529: try again later"


@pytest.mark.behaviour("PAGE-2")
def test_calls_of_tools_are_told_with_what_came_of_them(browser: Browser, tmp_path: Path) -> None:
    with looking(browser, tmp_path, tooled(), link="#step=2") as page:
        calls = page.locator("#calls li")
        shown = [call.inner_text().split("\n") for call in calls.all()]
        assert [lines[0] for lines in shown] == ["✓ tool find_book", "✓ tool copies_lent"]
        assert shown[0][-3:] == ["ok", '{"title":"Dune"}', "→ A12"]
        assert calls.first.locator(".took").inner_text().split()[1] in ("µs", "ms", "s")
        marks = page.locator(".row.visit .bar")
        assert [bar.locator("span").count() for bar in marks.all()] == [1, 2, 1, 1, 1]
        assert page.locator(".bar > .bad").count() == 1
        press(page, "t")
        cells = page.locator("#cells tr").nth(3).locator("td").last
        assert (
            cells.inner_text()
            == '✕ tool find_book: failed → {"title":"Solaris"} → It failed: KeyError: \'solaris\''
        )
    with looking(browser, tmp_path, tooled(), java_script_enabled=False) as page:
        cells = page.locator("#table tbody tr:visible").nth(1).locator("td").last
        assert cells.inner_text().split("\n") == [
            '✓ tool find_book: ok → {"title":"Dune"} → A12',
            '✓ tool copies_lent: ok → {"title":"Dune"} → 2',
        ]


@pytest.mark.behaviour("PAGE-1")
def test_items_stand_under_each_other_however_they_ran(browser: Browser, tmp_path: Path) -> None:
    run = crowded()
    began = [visit.branch for visit in sorted(run.visits, key=lambda visit: visit.seq)[1:]]
    assert began != [f"[{item}]" for item in range(40) for _ in range(2)]
    with looking(browser, tmp_path, run, viewport={"width": 1400, "height": 4000}) as page:
        names = page.locator(".row.visit .name").all_inner_texts()[1:]
        assert names == [f"✓{name}[{item}]" for item in range(len(names) // 2) for name in ("wait", "tell")]
        assert len(names) >= 60
        press(page, "Home", "ArrowRight", "ArrowRight")
        assert title(page) == "Step 3: wait"  # steps are told as they began
        assert page.locator(".row.current .name").inner_text() == "✓wait[1]"


@pytest.mark.behaviour("PAGE-2")
def test_the_graph_can_be_enlarged(browser: Browser, tmp_path: Path) -> None:
    def width(page: Page) -> float:
        return float(page.evaluate("document.querySelector('#view > svg').getBoundingClientRect().width"))

    with looking(browser, tmp_path, rich()) as page:
        fitted = width(page)
        press(page, "+")
        assert width(page) == pytest.approx(1.25 * fitted, abs=0.1)
        page.get_by_role("button", name="Smaller").click()
        assert width(page) == pytest.approx(fitted, abs=0.1)
        press(page, "+", "+", "0")
        assert width(page) == pytest.approx(fitted, abs=0.1)
