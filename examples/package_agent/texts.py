"""Texts: what the installed distributions say of themselves, as passages that can be found."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import PurePosixPath

from flowcore_knowledge import Passage

from .installed import Installed

__all__ = ["passages"]

_HEADING = re.compile(r"^(?:#+ (.+)|(.+)\n[=\-~^]{3,})$", re.M)
_ASIDE = {"tests", "test", "_vendor", "vendor", "node_modules", "site-packages"}
_WORDS, _LONGEST = 120, 1_500
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def passages(one: Installed) -> Iterator[Passage]:
    """Yield the summary of a distribution, the sections of its README, and its public docstrings."""
    if one.summary:
        yield Passage(source=one.name, where="Summary", title=one.name, text=one.summary)
    for heading, text in _sections(one.description):
        yield Passage(source=one.name, where=heading or "README", title=heading or one.name, text=text)
    for file in one.files:
        if file.endswith(".py") and not _ASIDE & set(PurePosixPath(file).parts[:-1]):
            yield from _documented(one, file)


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield each piece of a long description with the heading that it stands under."""
    pieces = ["", "", *_HEADING.split(text)]  # the headings of the two kinds, then the text below
    for marked, underlined, body in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        heading = (marked or underlined or "").strip(" #")
        yield from ((heading, piece) for piece in _packed(body))


def _packed(text: str) -> Iterator[str]:
    """Yield a text in pieces of whole paragraphs."""
    piece: list[str] = []
    for paragraph in filter(None, map(str.strip, re.split(r"\n\s*\n", text))):
        if piece and sum(len(each.split()) for each in [*piece, paragraph]) > _WORDS:
            yield "\n".join(piece)[:_LONGEST]
            piece = []
        piece.append(paragraph)
    if piece:
        yield "\n".join(piece)[:_LONGEST]


def _documented(one: Installed, file: str) -> Iterator[Passage]:
    try:
        source = (one.root / file).read_text("utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what others' code is warned of is not ours to report
            tree = ast.parse(source)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return  # a template, a file for another Python, or one that is gone
    parts = PurePosixPath(file).with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    for name, text in _docstrings(tree, module):
        title = ".".join(name.split(".")[-2:])
        yield Passage(source=one.name, where=name, title=title, text=text[:_LONGEST], context=one.name)


def _docstrings(node: ast.Module | ast.ClassDef, name: str) -> Iterator[tuple[str, str]]:
    if said := ast.get_docstring(node):
        yield name, said
    for child in node.body:
        if isinstance(child, ast.ClassDef) and not child.name.startswith("_"):
            yield from _docstrings(child, f"{name}.{child.name}")
        elif isinstance(child, _Function) and not child.name.startswith("_"):
            if said := ast.get_docstring(child):
                yield f"{name}.{child.name}", f"{child.name}({ast.unparse(child.args)})\n{said}"
