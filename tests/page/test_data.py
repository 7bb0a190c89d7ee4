"""What a page is made from: the data of a run, its header, its table, a comparison, the marks of a drawing."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from importlib.resources import files
from typing import Any

import pytest
from tests.context.histories import Chat, called, flow_of, user
from tests.page.runs import (
    Counter,
    deep,
    finished,
    hostile,
    loop_flow,
    looped,
    recorded,
    rich,
    straight,
    troubled,
)

from flowcore import Budget, Log
from flowcore.context import prune_tool_results
from flowcore.errors import RenderError
from flowcore.recording import (
    Change,
    Fault,
    ModelCall,
    Recording,
    ToolCallData,
    dump_runs,
    load_runs,
    recording_of,
)
from flowcore.render import Mark, draw, run_marks, run_page
from flowcore.render.colours import DARK, LIGHT, Palette
from flowcore.render.packing import packed_script, packed_style
from flowcore.render.page import head_json, picture, visit_json
from flowcore.render.page.comparing import compare_runs
from flowcore.render.page.entries import entries
from flowcore.render.page.header import chips, outcome, seconds_words
from flowcore.render.page.table import MOST_ROWS, table_rows


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found is not None
    return json.loads(found[1])


@pytest.mark.behaviour("PAGE-8")
def test_the_marks_of_a_run_are_what_it_did() -> None:
    run = rich()
    drawing = draw(run.flow)
    marks = run_marks(run, drawing, straight())
    nodes = {node.path: marks[node.id] for node in drawing.nodes if node.kind == "node"}
    assert {path: mark.kind for path, mark in nodes.items()} == {
        "load": "ok",
        "classify": "ok",
        "ask_human": "unused",
        "plan": "ok",
        "research/search_docs": "ok",
        "research/fetch_orders": "retried",
        "merge_facts": "ok",
        "draft": "failed",
        "review/judge": "unused",
        "review/revise": "unused",
        "review/accept": "unused",
        "fallback": "ok",
        "send": "ok",
    }
    assert nodes["plan"].note == "ran twice, ok"
    assert nodes["research/fetch_orders"].note == "ran twice, tried again once, ok at last"
    paths = {item.id: item.path for item in drawing.frames} | {item.id: item.path for item in drawing.nodes}
    ways = {
        (paths[edge.source], edge.kind, edge.label, paths[edge.target]): marks[edge.id]
        for edge in drawing.edges
        if edge.id in marks
    }
    assert ways[("merge_facts", "label", "not enough", "plan")].kind == "taken"
    assert ways[("merge_facts", "label", "enough", "draft")].note == "once"
    assert ways[("draft", "error", "Busy", "fallback")].kind == "taken"
    assert ways[("research/search_docs", "join", "", "research/")].note == "twice"
    assert ways[("review/judge", "label", "good", "review/accept")].kind == "other"
    assert ("classify", "label", "refund", "ask_human") not in ways


def by_path(run: Recording) -> dict[str, Mark]:
    drawing = draw(run.flow)
    marks = run_marks(run, drawing)
    nodes = {node.path: marks[node.id] for node in drawing.nodes if node.kind == "node"}
    edges = {edge.kind: marks[edge.id] for edge in drawing.edges if edge.id in marks}
    return nodes | {frame.path: marks[frame.id] for frame in drawing.frames} | edges


@pytest.mark.behaviour("PAGE-8")
def test_limits_finish_paths_and_dropped_items_are_marked() -> None:
    marks = by_path(troubled())
    assert marks["count_down"] == Mark("ok", "ran 3 times, over limit")
    assert marks["over_limit"] == Mark("taken", "once")
    assert marks["items"] == Mark("failed", "ran once, failed")
    assert marks["items/second_fails"] == Mark("failed", "ran twice, failed")
    assert (marks["saved"].kind, marks["settle"].kind, marks["error"].kind) == ("ok", "unused", "taken")
    assert outcome(finished()).words == "completed by its finish path, since rounds ran out"
    assert by_path(finished())["finish"] == Mark("taken", "once")


@pytest.mark.behaviour("PAGE-8")
def test_each_visit_took_one_way_out_and_each_walk_one_way_in() -> None:
    for run in (rich(), straight(), deep(), looped(3)):
        drawing = draw(run.flow)
        marks = run_marks(run, drawing)
        taken = [edge for edge in drawing.edges if marks.get(edge.id) is not None]
        times = {"once": 1, "twice": 2}
        count = sum(times.get(marks[edge.id].note) or int(marks[edge.id].note.split()[0]) for edge in taken)
        starts = sum(edge.kind == "start" for edge in taken)
        assert count >= len(run.visits) + starts


def test_a_run_from_a_file_makes_the_same_page() -> None:
    (read,) = load_runs(dump_runs([rich()]))
    assert run_page(read) == run_page(rich())


@pytest.mark.behaviour("PAGE-1")
def test_outcomes_in_words() -> None:
    def words(**changes: object) -> str:
        return outcome(looped(3).model_copy(update=changes)).words

    assert words() == "completed"
    assert outcome(rich()).words == "completed, took an error route"
    assert words(status="cancelled", reason="user") == "cancelled: user"
    assert words(status="running") == "running"
    assert words(status="failed", exhausted="tool_calls") == "ran out of tool calls"
    assert words(status="failed", failure=rich().visits[-3].failure) == "failed: Busy: 529: try again later"
    stopped = recorded(loop_flow(), Counter(left=9), budget=Budget(rounds=3))
    assert outcome(stopped) == ("error", "ran out of rounds")
    assert [chip for chip in chips(stopped) if chip.tone] == [("error", "3 rounds of 3")]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 µs"), (0.0005, "500 µs"), (0.0012, "1.2 ms"), (0.25, "250 ms"), (1.5, "1.50 s"), (125, "2 min 5 s")],
)
def test_times_are_told_in_the_unit_that_suits(seconds: float, words: str) -> None:
    assert seconds_words(seconds) == words


@pytest.mark.behaviour("PAGE-3")
def test_where_two_runs_part() -> None:
    drawing = draw(rich().flow)
    there = compare_runs(rich(), straight(), drawing)
    assert (there.apart, there.words) == (
        6,
        "run 41 took another route after step 7: merge_facts to draft (enough: facts = 1, needed = 1)",
    )
    back = compare_runs(straight(), rich(), drawing)
    assert (
        back.words
        == "run 42 took another route after step 7: merge_facts to plan (not enough: facts = 1, needed = 2)"
    )
    same = compare_runs(rich(), rich().model_copy(update={"name": "again"}), drawing)
    assert (same.apart, same.words, same.edges) == (-1, "run again took the same path", ())
    longer = compare_runs(looped(2), looped(3), draw(looped(2).flow))
    assert longer.apart == 3
    assert None not in longer.times[:4]


@pytest.mark.behaviour("PAGE-3")
def test_runs_of_two_versions_of_a_flow_are_compared_where_they_agree() -> None:
    other = straight()
    flow = other.flow.model_copy(update={"nodes": other.flow.nodes[::-1]})  # other ids in its drawing
    changed = other.model_copy(update={"signature": "another", "flow": flow})
    drawing = draw(rich().flow)
    assert compare_runs(rich(), changed, drawing).edges == compare_runs(rich(), other, drawing).edges != ()


@pytest.mark.behaviour("PAGE-5")
def test_long_values_are_cut_where_a_page_would_get_too_large() -> None:
    run = looped(400)
    value = "é" * 4_000
    change = Change(kind="changed", place="note", was=value, now="")
    visits = tuple(
        visit.model_copy(update={"changes": (change.model_copy(update={"now": f"{place} {value}"}),)})
        for place, visit in enumerate(run.visits)
    )
    page = run_page(run.model_copy(update={"visits": visits}))
    assert len(page) < 5_000_000
    assert "(4002 characters, " in page
    texts = data_of(page)["texts"]
    assert max(map(len, texts)) < 500


@pytest.mark.behaviour("PAGE-6")
def test_data_stands_safely_in_its_element() -> None:
    page = run_page(hostile())
    inner = page.split('id="data">')[1].split("</script>")[0]
    assert not re.search(r"[<>&\u2028\u2029]|[^\x00-\x7f]", inner)
    assert any("\u2028" in text for text in data_of(page)["texts"])
    for visit in hostile().visits:
        assert not re.search(r"[<>&\n]", visit_json(visit))
    page.encode()  # no half of a surrogate pair


def test_a_visit_is_sent_as_it_stands_in_the_page() -> None:
    page = data_of(run_page(rich()))

    def told(value: Any) -> Any:
        return page["texts"][value] if isinstance(value, int) else value

    for row, visit in zip(page["visits"], rich().visits, strict=True):
        sent = json.loads(visit_json(visit))
        assert [told(row[0]), told(row[5]), told(row[7])] == [sent[0], sent[5], sent[7]]
        assert row[1:5] == sent[1:5]
    assert json.loads(head_json(rich()))["outcome"] == ["warn", "completed, took an error route", "↻"]


@pytest.mark.behaviour("PAGE-4")
def test_the_plain_table_of_a_long_run_says_what_it_leaves_out() -> None:
    assert len(list(table_rows(looped(1500)))) == MOST_ROWS == 2_000
    assert "The first 2,000 steps; 1,001 more are in the trace file." in run_page(looped(1500))
    assert "more are in the trace file" not in run_page(rich())


@pytest.mark.behaviour("PAGE-1")
def test_without_a_layout_engine_a_page_has_all_but_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*args: object) -> object:
        raise RenderError('no layout engine: install one with `pip install "flowcore[render]"`')

    monkeypatch.setattr(picture, "lay_out", none)
    page = run_page(rich())
    assert "The graph is not drawn: no layout engine" in page
    assert "pip install &#34;flowcore[render]&#34;" in page
    assert "<svg xmlns" not in page
    assert 'id="timeline"' in page


def test_nothing_of_a_page_is_loaded_before_one_is_made() -> None:
    code = "import sys, flowcore.render; print('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.behaviour("PAGE-4")
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_every_colour_can_be_read_on_what_it_stands_on(palette: Palette) -> None:
    for name in ("text", "soft_text", "taken", "ok", "error", "limit"):
        assert contrast(getattr(palette, name), palette.panel) >= 4.5, name
    for name in ("ok", "error", "limit"):
        fill = getattr(palette, f"{name}_fill")
        assert contrast(palette.text, fill) >= 7, name
        assert contrast(getattr(palette, name), fill) >= 3, name
    for name in ("ok", "limit"):
        assert contrast(getattr(palette, name), getattr(palette, f"{name}_fill")) >= 4.5, name
    for name in ("line", "frame"):
        assert contrast(getattr(palette, name), palette.panel) >= 3, name


def test_the_page_itself_is_small() -> None:
    found = re.search(r"<style>(.*?)</style>.*<script type=\"module\">(.*?)</script>", run_page(rich()), re.S)
    assert found is not None
    style, script = (part.encode() for part in found.groups())
    assert len(style) + len(script) < 40_000
    assert len(gzip.compress(style + script)) < 14_000


def test_a_page_carries_its_sources_but_for_space_and_comments() -> None:
    assert packed_script("// A comment.\n\n  let a = 1; // kept\n    go(a);\n") == "let a = 1; // kept\ngo(a);"
    assert packed_style("/* Tones. */\n.a {\n  color: red;\n  &:is(.b, .c) > i { top: 0; }\n}\n") == (
        ".a{color:red;&:is(.b,.c)>i{top:0;}}"
    )
    for file in files("flowcore.render.page").iterdir():
        if not file.name.endswith((".js", ".css")):
            continue
        text = file.read_text("utf-8")
        packed = packed_script(text) if file.name.endswith(".js") else packed_style(text)
        lines = [line for line in text.splitlines() if not line.strip().startswith(("//", "/*"))]
        assert "".join(packed.split()) == "".join("".join(lines).split())


def test_what_happened_in_a_visit_has_one_form() -> None:
    fault = Fault(type="Busy", message="later")
    run = looped(1)
    visit = run.visits[0].model_copy(
        update={
            "retried": ((0.1, fault),),
            "calls": (
                ModelCall(model="m", why="retry", started=0.4, ended=0.5, tokens=1200, cost=0.01, estimated=True),
                ModelCall(model="m", started=0.3),
            ),
            "tools": (
                ToolCallData(
                    id="1",
                    tool="look",
                    arguments="{}",
                    status="ok",
                    text="A12",
                    proposed=0.2,
                    started=0.6,
                    ended=0.7,
                ),
                ToolCallData(
                    id="2",
                    tool="pay",
                    arguments="{}",
                    status="denied",
                    text="no",
                    proposed=0.2,
                    ended=0.2,
                    answer="deny",
                    by="ann",
                ),
            ),
            "started": 0.0,
        }
    )
    assert [tuple(entry) for entry in entries(visit)] == [
        ("↻", "attempt", "1 failed", 0.0, 0.1, "", (), fault),
        ("✕", "tool", "pay", 0.2, 0.2, "denied, deny by ann", ("{}", "no"), None),
        ("●", "model", "m", 0.3, None, "", (), None),
        ("✓", "model", "m", 0.4, 0.5, "retry, about 1,200 tokens, cost 0.01", (), None),
        ("✓", "tool", "look", 0.6, 0.7, "ok", ("{}", "A12"), None),
    ]


def test_a_run_with_a_smaller_context_has_a_page() -> None:
    flow = flow_of(prune_tool_results(Chat, longest=100))
    messages = Log([user("Go."), *called(1, 400), *called(2, 400)])
    run = recording_of(flow.run_sync(Chat(messages), check=False).trace)
    (visit, _) = run.visits
    (entry,) = entries(visit)
    assert tuple(entry)[:3] == ("◇", "context", "context.compacted")
    assert entry.texts[0].startswith("prune_tool_results messages: 5 → 5 messages")
    assert "context.compacted" in run_page(run)
