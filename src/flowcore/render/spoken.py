"""The picture in sentences, for who cannot see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .drawing import Drawing, DrawnEdge
from .looks import mark_words
from .words import shown

__all__ = ["spoken"]


def spoken(drawing: Drawing) -> str:
    """Return every route as a sentence, and what is said of nodes and composites besides."""
    return " ".join(f"{sentence}." for sentence in _sentences(drawing))


def _sentences(drawing: Drawing) -> Iterator[str]:
    names = {item.id: shown(item.path.removesuffix("#more")) for item in drawing.items()}
    badges = {node.id: node.label for node in drawing.nodes if node.kind in ("join", "cut")}
    marks = {id: mark_words(mark) for id, mark in drawing.marks.items()}
    for edge in drawing.edges:
        aside = f" - {marks[edge.id]}" if edge.id in marks else ""
        yield _sentence(edge, names, badges) + aside
    yield from (f"{names[frame.id]} runs {frame.note}" for frame in drawing.frames if frame.note)
    yield from (f"{names[node.id]} waits for a person" for node in drawing.nodes if node.waits)
    for node in drawing.nodes:
        if node.details:
            yield f"{names[node.id]}: {', '.join(map(shown, node.details))}"
    boxes = (item for item in drawing.items() if item.kind not in _DOTS)
    yield from (f"{names[item.id]}: {marks[item.id]}" for item in boxes if item.id in marks)


_DOTS = ("start", "end", "out", "join", "cut")


def _sentence(edge: DrawnEdge, names: Mapping[str, str], badges: Mapping[str, str]) -> str:
    source, target = names[edge.source], names[edge.target]
    words = shown(edge.label)
    if edge.kind == "start":
        flow = source.rstrip("/")
        return (f"{flow} starts with {target}" if flow else f"It starts with {target}") + _typed(words)
    if edge.kind == "finish":
        return f"Out of budget, {source.rstrip('/') or 'it'} goes on with {target}"
    if edge.kind == "end":
        return f"{source} may complete{_typed(words)}"
    if edge.kind == "join":
        return f"{source} joins {target.rstrip('/')} ({badges[edge.target]})"
    if edge.kind == "cut":
        number = badges.get(edge.source) or badges[edge.target]
        return f"At {source.rstrip('/') or 'the flow'} {number} are not shown"
    reasons = {"label": f" on {words}", "error": f" on error ({words})"}
    return f"{source} leads to {target}{reasons.get(edge.kind, f' {words}' if words else '')}"


def _typed(words: str) -> str:
    return f" ({words})" if words else ""
