"""What a flow declares and what a text draws, as two pictures that can be compared."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from flowcore import Flow
from flowcore.render import shown

# What is declared, read from the plan alone.


@dataclass
class Picture:
    """What every format must show: nodes, frames and joins by path, edges as source, target, kind and words."""

    nodes: Counter[Any] = field(default_factory=Counter)
    frames: Counter[Any] = field(default_factory=Counter)
    joins: Counter[Any] = field(default_factory=Counter)
    edges: Counter[Any] = field(default_factory=Counter)


def declared(flow: Flow[Any, Any, Any]) -> Picture:
    picture = Picture()
    describe(json.loads(flow.to_json()), flow.plan, (), picture)
    return picture


def describe(data: dict[str, Any], plan: Any, above: tuple[str, ...], picture: Picture) -> None:
    picture.edges[(*above, "start"), (*above, name_of(data["entry"], data)), "start", ""] += 1
    if data["finish"] is not None:
        target = (*above, name_of(data["finish"], data))
        picture.edges[(*above, "out"), target, "finish", "out of budget"] += 1
    for item in data["nodes"]:
        if plan.nodes[item["id"]].completes:
            picture.edges[(*above, name_of(item["id"], data)), (*above, "end"), "end", ""] += 1
    describe_level(data, plan, above, picture)


def describe_branches(item: dict[str, Any], plan: Any, above: tuple[str, ...], picture: Picture) -> None:
    data = item["branches"]
    for start in data["starts"]:
        picture.edges[(*above, "start"), (*above, name_of(start, data)), "start", ""] += 1
    for branch in data["nodes"]:
        picture.edges[(*above, name_of(branch["id"], data)), (*above, "join"), "join", ""] += 1
    count = len(data["starts"])
    picture.joins[above, item["join"] if isinstance(item["join"], str) else f"{item['join']} of {count}"] += 1
    describe_level(data, plan, above, picture)


def describe_level(data: dict[str, Any], plan: Any, above: tuple[str, ...], picture: Picture) -> None:
    for item in data["nodes"]:
        path, inner = (*above, name_of(item["id"], data)), plan.nodes[item["id"]].inner
        if item["kind"] == "parallel":
            picture.frames[path, "side by side"] += 1
            describe_branches(item, inner, path, picture)
        elif inner is not None:
            picture.frames[path, note_of(item) if item["kind"] == "each" else ""] += 1
            describe(item["flow"], inner, path, picture)
        else:
            picture.nodes[path, item["starts_round"]] += 1
    for route in data["routes"]:
        ends = (*above, name_of(route["from"], data)), (*above, name_of(route["to"], data))
        limit = next(item["max_visits"] for item in data["nodes"] if item["id"] == route["from"])
        picture.edges[*ends, route["kind"], shown(words_of(route, limit))] += 1


def note_of(item: dict[str, Any]) -> str:
    limit = "one" if item["limit"] == 1 else item["limit"]
    return f"for each, {limit} at a time" + ", failures collected" * (item["on_item_error"] == "collect")


def name_of(id: str, data: dict[str, Any]) -> str:
    """Names a node by its place in the rows and what can be read of it: what is read may look alike."""
    number = [item["id"] for item in data["nodes"]].index(id)
    return f"{number} {shown(id)}"


def words_of(route: dict[str, Any], limit: int | None) -> str:
    label: str = route["label"]
    if route["kind"] == "label":
        return label if label.strip() else repr(label)
    if route["kind"] == "error":
        exempt = f" but {route['except']}" if route["except"] else ""
        return (label or "any error") + exempt + (", by default" if route["default"] else "")
    if route["kind"] == "over_limit":
        return "over limit" if limit is None else f"over {limit} visit{'' if limit == 1 else 's'}"
    return ""


# What is drawn, read from the text alone.


@dataclass
class Reader:
    """Puts together what a parser finds: ids with their frames and labels, in the order of the text."""

    places: dict[str, tuple[str, ...]] = field(default_factory=dict)
    counts: Counter[tuple[str, ...]] = field(default_factory=Counter)
    dots: dict[str, str] = field(default_factory=dict)
    picture: Picture = field(default_factory=Picture)

    def place(self, id: str, label: str, above: tuple[str, ...]) -> tuple[str, ...]:
        assert id not in self.places
        self.places[id] = (*above, f"{self.counts[above]} {label}")
        self.counts[above] += 1
        return self.places[id]

    def dot(self, id: str, kind: str, above: tuple[str, ...]) -> None:
        self.places[id] = (*above, kind)
        self.dots[id] = kind

    def join(self, id: str, badge: str, above: tuple[str, ...]) -> None:
        self.dot(id, "join", above)
        self.picture.joins[above, badge] += 1

    def edge(self, source: str, target: str, kind: str, words: str) -> None:
        dots = self.dots.get(source), self.dots.get(target)
        if dots in (("end", "start"), ("join", "start")):  # a frame leads to itself
            ends = self.places[source][:-1], self.places[target][:-1]
        else:
            ends = self.places[source], self.places[target]
        if kind == "next" and ends[0] != ends[1]:
            kind = self.dots.get(source) or self.dots.get(target) or "next"
        if self.dots.get(source) == "out":
            kind = "finish"
        self.picture.edges[*ends, kind, words] += 1


def read_mermaid(text: str) -> Picture:
    reader = Reader()
    above: list[tuple[str, ...]] = [()]
    outs = re.findall(r"^  class (.*) out_dot$", text, re.M)
    outs = outs[0].split(",") if outs else []
    lines = iter(text.splitlines())
    assert re.fullmatch(r"flowchart (TB|LR)", next(lines))
    for line in map(str.strip, lines):
        if match := re.fullmatch(r'subgraph (n\d+)\["(.*?)(?: \((.*)\))?"\]', line):
            path = reader.place(match[1], plain(match[2]), above[-1])
            reader.picture.frames[path, match[3] or ""] += 1
            above.append(path)
        elif line == "end":
            above.pop()
        elif match := re.fullmatch(r'(n\d+)\(+" "\)+', line):
            kind = "end" if "(((" in line else "out" if match[1] in outs else "start"
            reader.dot(match[1], kind, above[-1])
        elif match := re.fullmatch(r'(n\d+)\(\["(.*)"\]\)', line):
            reader.join(match[1], plain(match[2]), above[-1])
        elif match := re.fullmatch(r'(n\d+)(\(|\[\[)"(.*?)(<br>starts round)?"(\)|\]\])', line):
            path = reader.place(match[1], plain(match[3]), above[-1])
            reader.picture.nodes[path, bool(match[4])] += 1
        elif match := re.fullmatch(r'(n\d+) (-->|-\.->|==>)(?:\|"(.*)"\|)? (n\d+)', line):
            kind = {"-.->": "error", "==>": "over_limit"}.get(match[2], "label" if match[3] else "next")
            reader.edge(match[1], match[4], kind, plain(match[3] or ""))
        else:
            assert re.match(r"classDef |class |linkStyle |direction ", line), line
    return reader.picture


def plain(text: str) -> str:
    assert re.fullmatch(r"(?:[\w ,|-]|#\d+;)*", text), text
    return re.sub(r"#(\d+);", lambda match: chr(int(match[1])), text)


TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|->|[{}\[\]=]|[\w.#-]+', re.S)


def read_dot(text: str) -> Picture:
    reader = Reader()
    tokens = TOKEN.findall(text)
    assert "".join(tokens) == re.sub(r'("(?:\\.|[^"\\])*")|\s', lambda match: match[1] or "", text)
    assert tokens[:2] == ["digraph", "{"]
    read_level(tokens, 2, (), reader)
    return reader.picture


IMPLIED = ("start", "end", "finish", "join")
"""Kinds of edges that are known by the dots at their ends."""


def read_level(tokens: list[str], at: int, above: tuple[str, ...], reader: Reader) -> int:
    while tokens[at] != "}":
        if tokens[at] == "subgraph":
            at = read_cluster(tokens, at + 1, above, reader)
            continue
        names = [tokens[at]]
        if tokens[at + 1] == "->":
            names.append(tokens[at + 2])
        attributes, at = read_attributes(tokens, at + 2 * len(names) - 1)
        if len(names) == 2:
            source = attributes.get("ltail", names[0]).removeprefix("cluster_")
            target = attributes.get("lhead", names[1]).removeprefix("cluster_")
            if attributes.get("dir") == "back":
                source, target = target, source
            words = attributes.get("label", "")
            assert not words or (words[:2], words[-2:]) == ("  ", "  ")
            kind = attributes["class"] if attributes["class"] not in IMPLIED else "next"
            reader.edge(source, target, kind, unpadded(words[2:-2]))
        elif names[0] not in ("graph", "node", "edge"):
            read_node(names[0], attributes, above, reader)
    return at + 1


def read_cluster(tokens: list[str], at: int, above: tuple[str, ...], reader: Reader) -> int:
    name = tokens[at]
    assert tokens[at + 1 : at + 3] == ["{", "graph"]
    attributes, _ = read_attributes(tokens, at + 3)
    label, *notes = attributes["label"].split("\n")
    path = reader.place(name.removeprefix("cluster_"), unpadded(label), above)
    assert notes[1:] == [""] * len(notes[1:])
    reader.picture.frames[path, notes[0] if notes else ""] += 1
    return read_level(tokens, at + 2, path, reader)


def read_node(name: str, attributes: dict[str, str], above: tuple[str, ...], reader: Reader) -> None:
    if attributes["label"] == "":
        looks = attributes["shape"], attributes["style"]
        dots = {("circle", "filled"): "start", ("circle", "dotted"): "out", ("doublecircle", "filled"): "end"}
        reader.dot(name, dots[looks], above)
        return
    if attributes.get("style") == "rounded,filled":
        reader.join(name, unpadded(attributes["label"]), above)
        return
    label, _, note = attributes["label"].partition("\n")
    assert (note == "starts round") == (attributes.get("peripheries") == "2")
    reader.picture.nodes[reader.place(name, unpadded(label), above), bool(note)] += 1


def read_attributes(tokens: list[str], at: int) -> tuple[dict[str, str], int]:
    if tokens[at] != "[":
        return {}, at
    end = tokens.index("]", at)
    pairs = tokens[at + 1 : end]
    assert pairs[1::3] == ["="] * (len(pairs) // 3)
    return dict(zip(pairs[::3], map(unquoted, pairs[2::3]), strict=True)), end + 1


def unquoted(token: str) -> str:
    return unescaped(token[1:-1] if token.startswith('"') else token)


def unescaped(text: str) -> str:
    meant = re.sub(r"\\(.)", lambda match: {"n": "\n", "l": "\n"}.get(match[1], match[1]), text)
    return meant.replace("&amp;", "&")


def unpadded(text: str) -> str:
    """Takes away the spaces that make room for wide characters, one for each."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    assert text.endswith(" " * wide)
    return text[: len(text) - wide]
