"""What others read in our texts is what was declared: Mermaid in a browser, Graphviz by both of its engines."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import files
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from playwright.sync_api import Browser, Page
from pydantic import BaseModel
from tests.web.chromium import missing, web_file

from flowcore import Complete, Continue, Flow, Step, node
from flowcore.recording import recording_of
from flowcore.render import LOOKS, Drawing, Mark, collapsed, draw, focused, render
from flowcore.render.page import run_page

from .pictures import Picture, Reader, declared, read_node, unescaped, unpadded
from .random_flows import HOSTILE, flows
from .test_formats import many_routes

_READ = """async texts => {
    mermaid.initialize({startOnLoad: false, maxTextSize: 10_000_000, maxEdges: 100_000});
    const found = [];
    for (const text of texts) {
        await mermaid.parse(text);
        const {db} = await mermaid.mermaidAPI.getDiagramFromText(text);
        found.push({
            vertices: [...db.getVertices().values()].map(
                ({id, text, type, classes}) => ({id, text, type, classes})),
            edges: db.getEdges().map(({start, end, text, stroke}) => ({start, end, text, stroke})),
            frames: db.getSubGraphs().map(({id, title, nodes}) => ({id, title, nodes})),
        });
    }
    return found;
}"""


@pytest.fixture(scope="module")
def sample() -> list[Any]:
    """Two hundred random flows, the same ones each time."""
    found: list[Any] = []

    @settings(
        max_examples=200,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(flow=flows())
    def collect(flow: Any) -> None:
        found.append(flow)

    collect()
    return found[:200]


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """A page that has Mermaid and nothing else, and no network."""
    page = browser.new_page()
    page.route("**/*", lambda route: route.abort())
    page.add_script_tag(path=web_file("mermaid/dist/mermaid.min.js"))
    yield page
    page.close()


def read_by_mermaid(page: Page, texts: Sequence[str]) -> list[Picture]:
    return [picture_of(found) for found in page.evaluate(_READ, list(texts))]


def picture_of(found: dict[str, Any]) -> Picture:
    reader = Reader()
    frames = {frame["id"]: frame for frame in found["frames"]}
    around = {id: frame["id"] for frame in frames.values() for id in frame["nodes"]}
    vertices = {item["id"]: item for item in found["vertices"] if item["id"] not in frames}
    for id in sorted({*frames, *vertices}, key=lambda id: int(id[1:])):  # a frame comes before what it holds
        above = reader.places[around[id]] if id in around else ()
        if id in frames:
            label, _, note = re.fullmatch(r"(.*?)( \((.*)\))?", frames[id]["title"], re.S).groups()  # type: ignore[union-attr]  # pyright: ignore[reportOptionalMemberAccess]
            path = reader.place(id, meant(label), above)
            reader.picture.frames[path, note or ""] += 1
        else:
            read_vertex(vertices[id], above, reader)
    for edge in found["edges"]:
        kind = {"dotted": "error", "thick": "over_limit"}.get(edge["stroke"], "label" if edge["text"] else "next")
        reader.edge(edge["start"], edge["end"], kind, meant(edge["text"]))
    return reader.picture


def read_vertex(vertex: dict[str, Any], above: tuple[str, ...], reader: Reader) -> None:
    kind, words = vertex["type"], vertex["text"]
    if kind in ("circle", "doublecircle"):
        start = "out" if "out_dot" in vertex["classes"] else "start"
        reader.dot(vertex["id"], "end" if kind == "doublecircle" else start, above)
    elif kind == "stadium":
        reader.join(vertex["id"], meant(words), above)
    else:
        assert kind in ("round", "subroutine")
        label, _, note = words.partition("<br>")
        assert note == ("starts round" if kind == "subroutine" else "")
        reader.picture.nodes[reader.place(vertex["id"], meant(label), above), bool(note)] += 1


def meant(text: str) -> str:
    """Returns what Mermaid shows for a text that it has read: it keeps signs by their numbers until then."""
    return re.sub(r"ﬂ°°(\d+)¶ß", lambda match: chr(int(match[1])), text)


@pytest.mark.behaviour("A125", "A127", "A129", "A133", "A137")
def test_mermaid_itself_reads_what_is_declared(sample: list[Any], page: Page) -> None:
    texts = [render(flow, "mermaid", "LR" if number % 2 else "TB") for number, flow in enumerate(sample)]
    read = read_by_mermaid(page, texts)
    assert len(read) == 200
    for flow, picture in zip(sample, read, strict=True):
        assert picture == declared(flow)


def programs() -> dict[str, Path | None]:
    dot = shutil.which("dot")
    wheel = [entry for entry in files("graphviz-pure") or [] if entry.name.startswith("graphviz-pure")]
    return {"dot": Path(dot) if dot else None, "wheel": Path(str(wheel[0].locate()))}


@pytest.mark.parametrize("engine", ["dot", "wheel"])
@pytest.mark.behaviour("A125", "A127", "A129", "A133", "A137")
def test_each_engine_reads_what_is_declared(sample: list[Any], engine: str) -> None:
    program = programs()[engine]
    if program is None:
        missing("dot", "install graphviz from your system's packages")
    text = "".join(render(flow, "dot", "LR" if number % 2 else "TB") for number, flow in enumerate(sample))
    run = subprocess.run([str(program), "-Tjson0"], input=text.encode(), capture_output=True, check=True)
    read = list(documents(run.stdout.decode()))
    assert len(read) == 200
    for flow, found in zip(sample, read, strict=True):
        assert picture_of_dot(found) == declared(flow)


def views_of(flow: Any, number: int) -> Drawing:
    """Returns a part of a flow, or more of it, with hostile marks on everything that is left."""
    whole = draw(flow, types=number % 4 == 0)
    items = [item for item in whole.items() if item.kind not in ("start", "end", "out", "join")]
    notes = [*HOSTILE, "two\nlines", ""]
    kinds = list(LOOKS)
    ids = [item.id for item in (*whole.items(), *whole.edges)]
    marks = {id: Mark(kinds[n % len(kinds)], notes[(n + number) % len(notes)]) for n, id in enumerate(ids)}
    marked = replace(whole, marks=marks)
    if number % 4 == 1:
        return collapsed(marked, 1)
    return focused(marked, items[number % len(items)].path, number % 3) if number % 4 == 2 else marked


@pytest.mark.behaviour("DRAW-1", "DRAW-3", "DRAW-4")
def test_views_with_hostile_marks_are_read_as_they_are_drawn(sample: list[Any], page: Page) -> None:
    drawings = [views_of(flow, number) for number, flow in enumerate(sample[::3])]
    read = page.evaluate(_READ, [render(drawing, "mermaid") for drawing in drawings])
    for drawing, found in zip(drawings, read, strict=True):
        frames = {frame.id for frame in drawing.frames}
        assert {frame["id"] for frame in found["frames"]} == frames
        assert {item["id"] for item in found["vertices"]} - frames == {node.id for node in drawing.nodes}
        ways = [drawing.anchors(edge) for edge in drawing.edges]
        assert [(edge["start"], edge["end"]) for edge in found["edges"]] == ways
    program = next(filter(None, programs().values()))
    text = "".join(render(drawing, "dot", legend=True) for drawing in drawings)
    run = subprocess.run([str(program), "-Tjson0"], input=text.encode(), capture_output=True, check=True)
    for drawing, found in zip(drawings, documents(run.stdout.decode()), strict=True):
        assert {id_of(item) for item in found.get("objects", ())} == {item.id for item in drawing.items()}
        assert {edge["id"] for edge in found.get("edges", ())} == {edge.id for edge in drawing.edges}


def documents(text: str) -> Iterator[dict[str, Any]]:
    at, decoder = 0, json.JSONDecoder(strict=False)
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        found, at = decoder.raw_decode(text, at)
        yield found


def picture_of_dot(found: dict[str, Any]) -> Picture:
    reader = Reader()
    objects = {item["_gvid"]: item for item in found["objects"]}
    around: dict[int, dict[str, Any]] = {}
    for item in sorted(objects.values(), key=lambda item: -len(item.get("nodes", ()))):  # outer frames first
        around |= dict.fromkeys([*item.get("nodes", ()), *item.get("subgraphs", ())], item)
    for item in sorted(objects.values(), key=number_of):
        above = reader.places[id_of(around[item["_gvid"]])] if item["_gvid"] in around else ()
        attributes = {key: unescaped(value) for key, value in item.items() if isinstance(value, str)}
        if item["name"].startswith("cluster_"):
            label, *notes = attributes["label"].split("\n")
            path = reader.place(id_of(item), unpadded(label), above)
            reader.picture.frames[path, notes[0] if notes else ""] += 1
        else:
            read_node(item["name"], {"label": "", "style": "", "shape": "", **attributes}, above, reader)
    for edge in found["edges"]:
        read_edge(edge, objects, reader)
    return reader.picture


def read_edge(edge: dict[str, Any], objects: Mapping[int, dict[str, Any]], reader: Reader) -> None:
    source = edge.get("ltail", objects[edge["tail"]]["name"]).removeprefix("cluster_")
    target = edge.get("lhead", objects[edge["head"]]["name"]).removeprefix("cluster_")
    if edge.get("dir") == "back":
        source, target = target, source
    kind = "next" if edge["class"] in ("start", "end", "finish", "join") else edge["class"]
    reader.edge(source, target, kind, unpadded(unescaped(edge.get("label", ""))[2:-2]))


def id_of(item: dict[str, Any]) -> str:
    name: str = item["name"]
    return name.removeprefix("cluster_")


def number_of(item: dict[str, Any]) -> int:
    return int(id_of(item)[1:])


class Paper(BaseModel):
    text: str = ""


@node
async def go(step: Step[Paper]) -> Continue[Literal["next"]]:
    return Continue("next")


@node
async def stop(step: Step[Paper]) -> Complete[str]:
    return Complete("")


SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["a-b", "a_b", "a b", 'a"b', "é", "end"]


@pytest.mark.behaviour("Z01")
def test_names_that_look_alike_to_a_format_are_six_nodes_in_each(page: Page) -> None:
    rows = [go.named(name) for name in NAMES[:-1]]
    last = stop.named("end")
    flow = Flow("alike", *(a.to(next=b) for a, b in zip(rows, [*rows[1:], last], strict=True)), last)
    expected = {f"{place} {name}" for place, name in enumerate(NAMES)}
    (by_mermaid,) = read_by_mermaid(page, [render(flow, "mermaid")])
    program = next(filter(None, programs().values()))
    run = subprocess.run(
        [str(program), "-Tjson0"], input=render(flow, "dot").encode(), capture_output=True, check=True
    )
    by_dot = picture_of_dot(json.loads(run.stdout))
    for picture in (by_mermaid, by_dot):
        assert {path[-1] for path, _ in picture.nodes} == expected
        assert sum(picture.nodes.values()) == 6
    root = ElementTree.fromstring(render(flow, "svg"))
    boxes = [group for group in root.iter(f"{SVG}g") if group.get("class", "").startswith("node")]
    assert [group.findtext(f"{SVG}text") for group in boxes] == NAMES
    assert len({group.get("id") for group in boxes}) == 6
    with ThreadPoolExecutor() as pool:  # the browser is driven by a loop of this thread
        result = pool.submit(flow.run_sync, Paper(), check=False).result()
    page.set_content(run_page(recording_of(result.trace)))
    drawn = page.locator("svg g.node[id]")
    assert [text.split("\n")[0] for text in drawn.locator("text:first-of-type").all_text_contents()] == NAMES


@pytest.mark.behaviour("A131")
def test_mermaid_draws_a_graph_of_200_nodes_within_its_own_limits(page: Page) -> None:
    """Drawn and not read alone: only then does Mermaid look at how long a text is."""
    text = render(many_routes(200), "mermaid")
    own_limits = """async text => {
        mermaid.initialize({startOnLoad: false, maxTextSize: 50_000, maxEdges: 500});
        const {maxTextSize, maxEdges} = mermaid.mermaidAPI.defaultConfig;
        return [maxTextSize, maxEdges, (await mermaid.render("drawn", text)).svg];
    }"""
    longest, most, svg = page.evaluate(own_limits, text)
    assert (longest, most) == (50_000, 500)
    groups = re.findall(r'<g class="node [^>]* id="drawn-flowchart-(n\d+)-|<path [^>]*id="drawn-L_', svg)
    drawn = [item.id for item in draw(many_routes(200)).nodes]
    assert [id for id in groups if id] == drawn
    assert len(groups) - len(drawn) == 2 * 199 + 2
