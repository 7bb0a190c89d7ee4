"""Marks in every format: a sign or a line first, a colour second, and the note in words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from flowcore.render import LOOKS, Drawing, Mark, MarkKind, draw, render
from flowcore.render.colours import DARK, LIGHT, Palette

SVG = "{http://www.w3.org/2000/svg}"
NODE, ROUND, EDGE, ERROR = "n2", "n1", "e5", "e2"
"""Of the flow triage: check, draft, the route "good", and the error route of draft."""


def marked(flow: Any, **marks: Mark) -> Drawing:
    return replace(draw(flow), marks=marks)


def group_of(drawing: Drawing, id: str) -> ElementTree.Element:
    groups = ElementTree.fromstring(render(drawing, "svg")).iter(f"{SVG}g")
    (found,) = [group for group in groups if group.get("id") == id]
    return found


def words_of(group: ElementTree.Element) -> list[str | None]:
    return [text.text for text in group.findall(f"{SVG}text")]


def line_of(text: str, start: str) -> str:
    (found,) = [line.strip() for line in text.splitlines() if line.strip().startswith(start)]
    return found


@pytest.mark.parametrize(("kind", "sign"), [("added", "+"), ("removed", "-"), ("changed", "~")])
@pytest.mark.behaviour("DRAW-1")
def test_what_a_comparison_says_stands_as_a_sign_before_the_label(triage: Any, kind: MarkKind, sign: str) -> None:
    drawing = marked(triage, n2=Mark(kind), e5=Mark(kind))
    for id, label in ((NODE, "check"), (EDGE, "good")):
        group = group_of(drawing, id)
        assert words_of(group) == [f"{sign} {label}"]
        assert kind in group.get("class", "").split()
    dot = render(drawing, "dot")
    assert f'label="{sign} check"' in line_of(dot, "n2 [")
    assert f'label="  {sign} good  "' in line_of(dot, f'n2 -> n3 [label="  {sign} good')
    encoded = {"+": "#43;", "-": "#45;", "~": "#126;"}[sign]
    mermaid = render(drawing, "mermaid")
    assert f'n2("{encoded} check")' in mermaid
    assert f'n2 -->|"{encoded} good"| n3' in mermaid
    assert f"class n2 {kind}" in mermaid


@pytest.mark.behaviour("DRAW-1")
def test_a_note_stands_below_the_label_in_short_lines(triage: Any) -> None:
    drawing = marked(
        triage,
        n2=Mark("changed", "retries 1 to 3, timeout 20 s to 45 s, other errors"),
        e5=Mark("changed", "was fine"),
    )
    assert words_of(group_of(drawing, NODE)) == [
        "~ check",
        "retries 1 to 3, timeout 20 s to 45",
        "s, other errors",
    ]
    assert words_of(group_of(drawing, EDGE)) == ["~ good", "was fine"]
    assert "~ check\\nretries 1 to 3, timeout 20 s to 45\\ns, other errors" in render(drawing, "dot")
    assert 'n2("#126; check<br>retries 1 to 3, timeout 20 s to 45<br>s, other errors")' in render(
        drawing, "mermaid"
    )


def test_a_way_without_a_label_has_sign_and_note_in_one_line(triage: Any) -> None:
    drawing = marked(triage, e1=Mark("changed", "label good to fine"), e0=Mark("added"))
    assert words_of(group_of(drawing, "e1")) == ["~ label good to fine"]
    assert words_of(group_of(drawing, "e0")) == ["+"]


@pytest.mark.parametrize(
    ("kind", "sign", "word"), [("ok", "✓", "ok"), ("failed", "✕", "failed"), ("retried", "↻", "retried")]
)
@pytest.mark.behaviour("DRAW-1")
def test_how_a_node_went_stands_in_a_badge_and_as_a_word_where_engines_have_no_sign(
    triage: Any, kind: MarkKind, sign: str, word: str
) -> None:
    drawing = marked(triage, n1=Mark(kind), n2=Mark(kind, "12x"))
    group = group_of(drawing, ROUND)
    assert words_of(group) == ["draft", "starts round"]
    assert [text.text for text in group.iter(f"{SVG}text")][2:] == [sign]
    short = group_of(drawing, NODE)
    assert [text.text for text in short.iter(f"{SVG}text")] == ["check", f"{sign} 12x"]
    dot = render(drawing, "dot")
    assert f'"draft\\nstarts round\\n{word}"' in dot
    assert f'"check\\n{word}, 12x"' in dot
    assert dot.isascii() or sign not in dot
    assert f"#{ord(sign)}; draft<br>starts round<br>{word}" in render(drawing, "mermaid")


def test_a_note_that_says_the_word_says_it_once(triage: Any) -> None:
    assert '"check\\nran twice, ok"' in render(marked(triage, n2=Mark("ok", "ran twice, ok")), "dot")


@pytest.mark.behaviour("DRAW-1")
def test_a_taken_error_route_keeps_its_line_and_colour_and_gets_thick(triage: Any) -> None:
    drawing = marked(triage, e2=Mark("taken", "once"), e5=Mark("taken", "twice"))
    dot = render(drawing, "dot")
    error, plain = line_of(dot, 'n1 -> n4 [label="  ValueError'), line_of(dot, 'n2 -> n3 [label="  good')
    assert "style=dashed" in error
    assert f'color="{LIGHT.error}"' in error
    assert "penwidth=3" in error
    assert f'color="{LIGHT.taken}"' in plain
    assert "penwidth=3" in plain
    mermaid = render(drawing, "mermaid")
    assert f"linkStyle 2 stroke:{LIGHT.error},stroke-width:3px" in mermaid
    assert f"linkStyle 5 stroke:{LIGHT.taken},stroke-width:3px" in mermaid
    assert words_of(group_of(drawing, EDGE)) == ["good"]  # how often is told to who points at it
    assert group_of(drawing, EDGE).findtext(f"{SVG}title") == "taken (twice)"


def test_ways_of_another_run_are_dotted_and_what_is_removed_is_dashed(triage: Any) -> None:
    dot = render(marked(triage, e5=Mark("other"), e7=Mark("removed")), "dot")
    assert "style=dotted" in line_of(dot, 'n2 -> n3 [label="  good')
    assert "style=dashed" in line_of(dot, 'n1 -> n2 [label="  - poor')


def test_each_edge_has_one_style_in_mermaid_which_heeds_the_last(triage: Any) -> None:
    drawing = draw(triage)
    text = render(replace(drawing, marks={edge.id: Mark("added") for edge in drawing.edges}), "mermaid")
    numbers = [n for line in text.splitlines() if "linkStyle" in line for n in line.split()[1].split(",")]
    assert sorted(map(int, numbers)) == list(range(len(drawing.edges)))


@pytest.mark.behaviour("DRAW-1")
def test_marks_are_told_to_who_cannot_see_the_picture(triage: Any) -> None:
    drawing = marked(triage, n2=Mark("failed", "KeyError: no"), e5=Mark("taken", "once"))
    spoken = ElementTree.fromstring(render(drawing, "svg")).findtext(f"{SVG}desc") or ""
    assert "check: failed (KeyError: no)." in spoken
    assert "check leads to deliver on good - taken (once)." in spoken
    assert group_of(drawing, NODE).findtext(f"{SVG}title") == "check - failed (KeyError: no)"


@pytest.mark.parametrize("note", ["<b>&amp;</b>\"']]|\n\u202e", "x" * 10_000, "\\N \\G <i>", "```%%{init}%%"])
def test_a_hostile_note_is_text_in_every_format(composed: Any, note: str) -> None:
    drawing = draw(composed)
    kinds = list(LOOKS)
    items = [*drawing.items(), *drawing.edges]
    marks = {item.id: Mark(kinds[number % len(kinds)], note) for number, item in enumerate(items)}
    whole = replace(drawing, marks=marks)
    root = ElementTree.fromstring(render(whole, "svg"))
    assert not [tag for tag in root.iter() if tag.tag in (f"{SVG}b", f"{SVG}i")]
    assert render(whole, "png").startswith(b"\x89PNG")
    for line in render(whole, "mermaid").splitlines():
        assert "<b>" not in line
        assert "%%" not in line


def test_frames_and_joins_are_marked_too(composed: Any) -> None:
    drawing = draw(composed)
    (search,) = [frame for frame in drawing.frames if frame.path == "search"]
    whole = replace(drawing, marks={search.id: Mark("changed", "any to 2 of 3"), search.end: Mark("unused")})
    assert words_of(group_of(whole, search.id)) == ["~ search", "side by side", "any to 2 of 3"]
    assert group_of(whole, search.end).get("class") == "join unused"
    assert '"~ search\\lside by side\\lany to 2 of 3\\l"' in render(whole, "dot")


# The colours.


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.behaviour("DRAW-2")
def test_every_text_can_be_read_on_what_it_stands_on(palette: Palette) -> None:
    fills = [palette.panel, palette.ok_fill, palette.error_fill, palette.limit_fill]
    pairs = [(text, fill) for text in (palette.text, palette.soft_text) for fill in fills]
    pairs += [(getattr(palette, look.text), palette.panel) for look in LOOKS.values()]
    pairs += [(getattr(palette, look.role), palette.panel) for look in LOOKS.values() if look.badge]
    pairs += [(palette.panel, palette.line)]
    assert min(contrast(*pair) for pair in pairs) >= 4.5
    lines = [palette.line, palette.frame, palette.taken, palette.ok, palette.error, palette.limit]
    assert min(contrast(line, palette.panel) for line in lines) >= 3


def test_no_two_kinds_of_marks_on_one_thing_differ_by_colour_alone() -> None:
    nodes = [
        (LOOKS[kind].sign, LOOKS[kind].line, LOOKS[kind].width) for kind in LOOKS if kind not in ("taken", "other")
    ]
    edges = [LOOKS[kind] for kind in ("added", "removed", "changed", "taken", "other", "unused")]
    assert len(set(nodes)) == len(nodes)
    assert len({(look.sign, look.line, look.width) for look in edges}) == len(edges)


def test_the_theme_of_svg_is_the_readers_unless_it_is_fixed(triage: Any) -> None:
    auto, light, dark = (render(triage, "svg", theme=theme) for theme in ("auto", "light", "dark"))
    assert (DARK.panel in auto, LIGHT.panel in auto, "prefers-color-scheme" in auto) == (True, True, True)
    assert (DARK.panel in light, LIGHT.panel in light) == (False, True)
    assert (DARK.panel in dark, LIGHT.panel in dark) == (True, False)
    assert f'bgcolor="{DARK.panel}"' in render(triage, "dot", theme="dark")
    assert render(triage, "png", theme="dark") != render(triage, "png")
    assert DARK.error in render(triage, "mermaid", theme="dark")
    assert json.loads(render(triage, "json", theme="dark")) == json.loads(triage.to_json())


def test_the_note_of_a_frame_stands_in_its_one_line_in_mermaid(composed: Any) -> None:
    drawing = draw(composed)
    ids = {frame.path: frame.id for frame in drawing.frames}
    whole = replace(drawing, marks={ids["search"]: Mark("changed", "any to 2"), ids["write"]: Mark("ok")})
    lines = [line.strip() for line in render(whole, "mermaid").splitlines() if "subgraph" in line]
    assert lines == [
        'subgraph n1["#126; search (side by side; any to 2)"]',
        'subgraph n8["#10003; write (for each, 2 at a time, failures collected; ok)"]',
    ]
