"""Markup: what reST, Markdown and HTML put around words, taken away."""

from __future__ import annotations

import re
from html import unescape

_MARKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"<!--.*?-->", re.S), " "),
    (re.compile(r"</?[a-zA-Z][^<>]{0,300}>"), " "),
    (re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])"), " "),
    (re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])+)\](?:\([^)\s]*\)|\[[^\]]*\])"), r"\1"),
    (re.compile(r":[\w:+-]+:`(?:[^`<]*<)?[~!]?([^`>]+)>?`"), r"\1"),
    (re.compile(r"`([^`<]+?)\s*<[^`>]+>`_{1,2}"), r"\1"),
    (re.compile(r"\|~?@?([\w.]+(?: [\w.]+)*)\|"), r"\1"),
    (re.compile(r"`+[~!]?([^`]+)`+_{0,2}"), r"\1"),
    (re.compile(r"(?<![\w*])\*{1,3}(?=\S)([^*\n]+?)(?<=\S)\*{1,3}(?![\w*])"), r"\1"),
    (re.compile(r"^\[[^\]]+\]: \S+( |$)", re.M), " "),
    (re.compile(r"\b([A-Z][A-Za-z0-9]+)_(?=[\s,.)]|$)"), r"\1"),
    (re.compile(r"::(?=\s|$)"), ":"),
    (re.compile(r"\\([_*`|<>])"), r"\1"),
    (re.compile(r"\s+"), " "),
)


_MARKED = re.compile(r"[<>`*|\[\]\\_&]|::|:\w+:")


def clean(text: str) -> str:
    """A text in one line, with its words and without its marks."""
    if not _MARKED.search(text):
        return " ".join(text.split())
    for pattern, to in _MARKS:
        text = pattern.sub(to, text)
    return unescape(text).strip()
