"""Harvest: the passages of one distribution, from its long description and its docstrings."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate, groupby
from pathlib import PurePosixPath

from flowcore_knowledge import Passage

from .distributions import Installed
from .docstrings import Documented, documented
from .prose import Block, blocks

VERSION = "5"
"""Part of the index's fingerprint: raise it when a harvest gives other passages than before."""

_LABELS = {"Returns", "Yields", "Raises", "Warns"}
_WORDS = 110
_LONGEST = 1200
_LINES_OF_CODE = 24
_SENTENCE, _OPENING = 6, 400
_SIGNATURE = 800
_CREDIT = re.compile(r"\bby @[\w\[\]-]+ in |^#\d+\b")  # a line of a change log names a change, explains nothing


def harvest(one: Installed) -> Iterator[Passage]:
    """Every passage of a distribution, each text once: twins such as sync and async methods say the same."""
    seen: set[tuple[str, str]] = set()
    for passage in (*_summed_up(one), *_described(one), *_documented(one)):
        key = (passage.title.rsplit(".", 1)[-1], passage.text)
        if key not in seen:
            seen.add(key)
            yield passage


def _summed_up(one: Installed) -> Iterator[Passage]:
    """What the distribution is: the summary of its metadata, and the first sentences of its long description."""
    told = (block.text for block in blocks(one.description) if not block.code and not block.name)
    opening = next((text for text in told if len(text.split()) >= _SENTENCE and text.endswith((".", "!"))), "")
    told_already = one.summary and opening.startswith(one.summary)
    if text := "\n".join(filter(None, ("" if told_already else one.summary, opening[:_OPENING]))):
        title = f"{one.name}: summary"
        yield Passage(source=one.name, where="Summary", title=title, text=text, context=f"{one.name} metadata")


def _described(one: Installed) -> Iterator[Passage]:
    """The sections of the long description."""
    for section, group in groupby(blocks(one.description), key=lambda block: block.section):
        where, context = section or one.name, f"{one.name} readme"
        told = list(group)
        for text in _packed(block for block in told if not block.name and not _CREDIT.search(block.text)):
            yield Passage(source=one.name, where=where, title=where, text=text, context=context)
        for block in told:
            if block.name:
                title = f"{where}: {block.name}"
                yield Passage(source=one.name, where=where, title=title, text=block.text, context=context)


def _documented(one: Installed) -> Iterator[Passage]:
    for file in one.files:
        try:
            source = (one.root / file).read_text(encoding="utf-8")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what others' code is warned of is not ours to report
                things = list(documented(source, _module(file)))
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue  # a template, a file for another Python, or one that is gone: it documents nothing here
        for thing in things:
            yield from _passages(one.name, thing)


def _module(file: str) -> str:
    parts = PurePosixPath(file).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _passages(source: str, thing: Documented) -> Iterator[Passage]:
    parsed = blocks(thing.doc)
    title, context = _title(thing), f"{thing.name} {thing.kind} {' '.join(thing.arguments)}"
    told = [_labelled(block) for block in parsed if not block.name and thing.doc != thing.name.split(".")[-1]]
    for text in _packed([*_signature(thing), *told]):
        yield Passage(source=source, where=thing.name, title=title, text=text, context=context)
    summary = next((block.text for block in parsed if not block.code and not block.name), "")[:300]
    said = {name: _plain(note) for name, note in thing.notes.items()}
    said |= {block.name: block.text for block in parsed if block.name}
    for name, text in said.items():
        shown = thing.arguments.get(name, name)
        for piece in _cut(text):
            yield Passage(
                source=source,
                where=thing.name,
                title=f"{title}: {shown}",
                text=piece,
                context=f"{context} {summary}",
            )


def _signature(thing: Documented) -> list[Block]:
    if not thing.arguments or thing.kind == "attribute":
        return []
    shown = list(thing.arguments.values())
    fitting = sum(size <= _SIGNATURE for size in accumulate(map(len, shown)))
    return [Block(f"{thing.name.rpartition('.')[2]}({', '.join(shown[:fitting])})")]


def _labelled(block: Block) -> Block:
    """What a thing returns says so, since its heading is not shown."""
    return replace(block, text=f"{block.section}: {block.text}") if block.section in _LABELS else block


def _title(thing: Documented) -> str:
    """The parts of the name that a reader calls it by."""
    parts = thing.name.split(".")
    if thing.kind == "module":
        return thing.name
    return ".".join(parts[-2:] if thing.kind in ("method", "attribute") else parts[-1:])


def _plain(note: str) -> str:
    return " ".join(block.text for block in blocks(note) if not block.code)


def _packed(group: Iterable[Block]) -> Iterator[str]:
    """Blocks joined to texts of about a hundred words, a line each; code stands indented."""
    lines: list[str] = []
    words = 0
    for block in group:
        line = block.text
        if block.code:
            line = "\n".join(f"    {row}" for row in line.splitlines()[:_LINES_OF_CODE])
        size = len(line.split())
        if lines and words + size > _WORDS and not block.code:
            yield "\n".join(lines)[:_LONGEST]
            lines, words = [], 0
        lines.append(line)
        words += size
    if lines:
        yield "\n".join(lines)[:_LONGEST]


def _cut(text: str) -> Iterator[str]:
    """A long text in pieces of whole sentences."""
    piece: list[str] = []
    words = 0
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        size = len(sentence.split())
        if piece and words + size > _WORDS:
            yield " ".join(piece)[:_LONGEST]
            piece, words = [], 0
        piece.append(sentence)
        words += size
    if piece:
        yield " ".join(piece)[:_LONGEST]
