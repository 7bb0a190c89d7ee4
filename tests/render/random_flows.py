"""Random flows with hostile names, for tests that hold a drawing against what is declared."""

from __future__ import annotations

from typing import Any, Literal

from hypothesis import strategies as st
from pydantic import BaseModel

from flowcore import Complete, Continue, Flow, Node, Step, each, node, parallel

HOSTILE = [
    *("a-b", "a_b", "a b", 'a"b', "a\\b", "\\N", "\\", 'a\\"b', "é", "漢字", "שלום", "a\u202eb", "a\u200bb", "😀"),
    *("end", "graph", "class", "click", "subgraph", "default", "style", "node", "edge", "digraph", "strict"),
    *("n0", "n1", "cluster_n1", "pkg:node", "<b>", "<script>alert(1)</script>", "a&amp;b", "&lt;", "#quot;"),
    *("%%", "%%{init: {}}%%", "`md`", "**bold**", "__init__", "1. one", "- one", "a|b", "->", "-->", "{", "}"),
    *(";", "'", "$$x$$", "fa:fa-car", "ﬂ°°35¶ß", "starts round", "over limit", "x" * 10_000, "\x1b[31mred"),
]
ids = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=8)).filter(
    lambda text: text.strip() and text.splitlines() == [text] and not set("/#[]\t\0") & set(text)
)
labels = st.one_of(st.sampled_from([*HOSTILE, "", " ", "two\nlines"]), st.text(max_size=8))
ERRORS = [ValueError, KeyError, TimeoutError, OSError]


class Paper(BaseModel):
    text: str = ""


# A flow that is sound by construction: each node leads to the next one, and only what pays leads back.


def make_node(id: str, returns: Any, starts_round: bool) -> Node[Paper, object, Any, Any]:
    async def function(step: Any) -> Any: ...

    function.__annotations__ = {"step": Step[Paper], "return": returns}
    made: Node[Paper, object, Any, Any] = node(id=id, starts_round=starts_round)(function)
    return made


@st.composite
def flows(draw: st.DrawFn, depth: int = 2) -> Flow[Paper, object, Any]:
    names = draw(st.lists(ids, min_size=1, max_size=4, unique=True))
    last = len(names) - 1
    bare: list[Node[Paper, object, Any, Any]] = []
    plans: list[tuple[bool, list[str]]] = []
    for index, name in enumerate(names):
        pays = draw(st.booleans())
        if depth and index < last and draw(st.booleans()):
            bare.append(draw(composites(name, depth - 1)))
            plans.append((False, []))
            continue
        words = draw(st.lists(labels, max_size=3, unique=True)) if index < last else []
        returns: Any = Continue[Literal[tuple(words)]] if words else Continue
        if index == last:
            returns = Complete[str]
        elif draw(st.booleans()):
            returns = returns | Complete[str]
        bare.append(make_node(name, returns, pays))
        plans.append((pays, words))
    default, finish = (bare[last] if draw(st.booleans()) else None for _ in range(2))
    if finish is not None:
        plans[last] = (False, [])  # no way leads back from the finish path
    rows = [draw(rows_of(bare, index, *plans[index])) for index in range(len(bare))]
    return Flow(draw(ids), *rows, on_error=default, finish=finish)


def pages(paper: Paper) -> list[Paper]:
    return [paper]


def bind(paper: Paper, results: list[Any]) -> Continue: ...


@st.composite
def composites(draw: st.DrawFn, name: str, depth: int) -> Any:
    kind = draw(st.sampled_from(["subflow", "each", "parallel"]))
    if kind == "subflow":
        return draw(flows(depth=depth)).as_node(name, state=Paper)
    if kind == "each":
        error: Any = draw(st.sampled_from(["fail", "collect"]))
        limit = draw(st.integers(1, 12))
        do = draw(flows(depth=depth))
        return each(name, over=pages, do=do, collect=bind, limit=limit, on_item_error=error)
    names = draw(st.lists(ids, min_size=3, max_size=8, unique=True))
    branches = [draw(branch_of(names, depth)) for _ in range(draw(st.integers(1, 3)))]
    join: Any = draw(st.one_of(st.sampled_from(["all", "any"]), st.integers(1, len(branches))))
    return parallel(name, *branches, join=join)


@st.composite
def branch_of(draw: st.DrawFn, names: list[str], depth: int) -> Any:
    """A branch of the first name, with error routes as long as there are more than two names to spare."""
    name = names.pop(0)
    inside = depth and draw(st.integers(0, 2)) == 0
    branch = draw(composites(name, depth - 1)) if inside else make_node(name, Continue, draw(st.booleans()))
    for kinds in draw(st.lists(st.lists(st.sampled_from(ERRORS), max_size=2, unique=True), max_size=2)):
        if len(names) > 2:
            branch = branch.on_error(draw(branch_of(names, 0)), *kinds)
    return branch


@st.composite
def rows_of(draw: st.DrawFn, bare: list[Any], index: int, pays: bool, words: list[str]) -> Any:
    row, last = bare[index], len(bare) - 1
    forward = st.integers(min(index + 1, last), last)
    anywhere = st.integers(0, last) if pays else forward
    if words:
        targets = [index + 1, *(draw(anywhere) for _ in words[1:])]
        row = row.to({word: bare[target] for word, target in zip(words, targets, strict=True)})
    elif index < last:
        row = row.to(bare[index + 1])
    if index < last or pays:
        for kinds in draw(st.lists(st.lists(st.sampled_from(ERRORS), max_size=2, unique=True), max_size=2)):
            target = bare[draw(anywhere)] if not kinds or draw(st.booleans()) else None
            row = row.on_error(target, *kinds)
    if index < last and draw(st.booleans()):
        visits = draw(st.one_of(st.none(), st.integers(0, 3)))
        row = row.over_limit(bare[draw(forward)]).using(max_visits=visits)
    return row
