"""Prose: a docstring or a long description, taken apart into blocks of clean text."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import dedent

from .markup import clean


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item or code block.

    `name` is set where it documents one thing, such as a parameter; `section` is the path of the headings above.
    """

    text: str
    section: str = ""
    name: str = ""
    code: bool = False


_ATX = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
_UNDERLINE = re.compile(r"^([=\-~^*+#\"'`])\1{2,}\s*$")
_RULE = re.compile(r"^\s*([-*_=])\1{2,}\s*$")
_GOOGLE = re.compile(r"^(\*\*)?([A-Z][\w ]{2,30}):(\*\*)?$")
_DIRECTIVE = re.compile(r"^\.\. ([\w:-]+)::\s*(.*)$")
_ITEM = re.compile(r"^(?:[*+-]|\d+[.)])\s+")
_FIELD = re.compile(
    r"^:(param|parameter|arg|argument|key|keyword|raises?|except|exception|returns?|rtype|ivar|var|yields?)"
    r"\s*([^:]*):\s*(.*)$"
)
_NAMES = r"\*{0,2}[A-Za-z_][\w.]*(?:\s*,\s*\*{0,2}\w+)*"
_ENTRY = re.compile(
    rf"^(?:[*-]\s+)?[`*]{{0,2}}({_NAMES})[`*]{{0,2}}(?:\s*\(([^)]*)\))?\s*(?::|\u2013|--?\s)\s*(\S.*)$"
)
_NUMPY = re.compile(rf"^({_NAMES})(?:\s*:\s*(.*))?$")
_TERM = re.compile(r"^`{1,2}[\w.]+`{1,2}$")
_ENTRIES = {
    "args", "arguments", "attributes", "exceptions", "keyword args", "keyword arguments", "options",
    "other parameters", "parameters", "params", "raises", "returns", "warns", "yields",
}  # fmt: skip
_SECTIONS = _ENTRIES | {"example", "examples", "note", "notes"}
_SHOWN = {
    "admonition", "attention", "caution", "describe", "hint", "important", "note", "option", "rubric", "seealso",
    "tip", "topic", "warning",
}  # fmt: skip
_NAMED = {"attribute", "class", "confval", "data", "exception", "fixture", "function", "method"}
_BELOW = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
_CODE = {"code", "code-block", "sourcecode"}
_VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
}


def blocks(text: str) -> list[Block]:
    """The blocks of a docstring (reST, Google, numpy or Markdown style) in their order."""
    return list(_Reader(inspect.cleandoc(text).expandtabs().splitlines()).read("", False))


class _Reader:
    """Walks over the lines once; indentation says what belongs to what."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.at = 0
        self.over: list[tuple[int, str]] = []  # the headings above, with their levels
        self.marks: list[str] = []  # reST underlines, in the order in which they were met

    def read(self, section: str, entries: bool) -> Iterator[Block]:
        while self.at < len(self.lines):
            line = self.lines[self.at].rstrip()
            if not line.strip() or _RULE.match(line):
                self.at += 1
            elif (heading := self._heading(line)) is not None:
                section, entries = heading
            else:
                yield from self._code(line, section) or self._marked(line, section, entries)

    def _code(self, line: str, section: str) -> list[Block]:
        bare = line.lstrip()
        if bare.startswith(("```", "~~~")):
            return [Block(self._fence(), section, code=True)]
        if bare.startswith(">>>"):
            return [Block(self._paragraph(), section, code=True)]
        if line.startswith("  ") and self._before().endswith("::"):
            return [Block(self._deeper(1), section, code=True)]
        return []

    def _marked(self, line: str, section: str, entries: bool) -> Iterator[Block]:
        bare = line.strip()
        if match := _DIRECTIVE.match(line):
            yield from self._directive(match[1].split(":")[-1], match[2], section)
        elif line.startswith((".. ", "!!! ", "??? ")) or line == "..":
            yield from self._aside(line, section)
        elif match := _FIELD.match(line):
            yield from self._field(match[1], match[2].strip(), match[3], section)
        elif (entries or _TERM.match(line)) and (entry := self._entry(line)):
            yield from self._named(entry[0], entry[1], section)
        elif bare.startswith("|") and bare.endswith("|") and bare.count("|") > 2:
            yield from self._table(section)
        elif line.startswith("  ") and not _ITEM.match(bare):
            yield from _Reader(self._deeper(1).splitlines()).read(section, entries)
        else:
            yield from self._plain(section)

    # What starts a section.

    def _heading(self, line: str) -> tuple[str, bool] | None:
        """The path of the heading that starts here, if one does, and whether entries follow; moves past it."""
        if match := _ATX.match(line):
            return self._under(1, len(match[1]), match[2])
        below = self.lines[self.at + 1].strip() if self.at + 1 < len(self.lines) else ""
        if _UNDERLINE.match(below) and len(below) >= min(len(line.strip()), 3) and len(line) < 90:
            if not line.startswith("|"):
                if below[0] not in self.marks:
                    self.marks.append(below[0])
                return self._under(2, self.marks.index(below[0]) + 1, line)
        match = _GOOGLE.match(line)
        if match and match[2].lower() in _SECTIONS:
            self.at += 1
            return match[2], match[2].lower() in _ENTRIES
        return None

    def _under(self, lines: int, level: int, written: str) -> tuple[str, bool]:
        """A heading with those above it; the title of the whole text is left out."""
        self.at += lines
        name = clean(written.strip())
        self.over = [*(above for above in self.over if above[0] < level), (level, name)]
        path = [above for depth, above in self.over if depth > 1 or len(self.over) == 1]
        return _BELOW.join(path), name.lower() in _ENTRIES

    # What documents one thing by its name.

    def _entry(self, line: str) -> tuple[str, str] | None:
        """The name and the first words of an entry, in Google or numpy style."""
        bare = line.strip()
        below = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""
        deeper = bool(below.strip()) and _indent(below) > _indent(line)
        if deeper and " : " in line and (match := _NUMPY.match(bare)):
            return match[1], f"({match[2]})"
        if match := _ENTRY.match(bare):
            return match[1], f"({match[2]}) {match[3]}" if match[2] else match[3]
        if deeper and (match := _NUMPY.match(bare.strip("`"))):
            return match[1], f"({match[2]})" if match[2] else ""
        return None

    def _field(self, kind: str, name: str, first: str, section: str) -> Iterator[Block]:
        """`:param int size=5: …` is an entry for `size`."""
        if kind.startswith(("param", "arg", "key")):
            name = name.split(" ")[-1]
        name, _, default = name.partition("=")
        first = f"(default {default.strip('`')}) {first}" if default else first
        yield from self._named(name or kind, first, section or kind)

    def _named(self, name: str, first: str, section: str) -> Iterator[Block]:
        line = self.lines[self.at]
        self.at += 1
        if _ITEM.match(line):
            first = "\n".join([first, *self._continued()])
        body = f"{first}\n{self._deeper(_indent(line))}".strip("\n")
        yield from _joined(name, body, section)

    def _continued(self) -> Iterator[str]:
        """The lines of a list item that its writer did not indent."""
        while self.at < len(self.lines) and self.lines[self.at].strip():
            if _ITEM.match(self.lines[self.at]):
                break
            yield self.lines[self.at].strip()
            self.at += 1

    # What is set apart.

    def _directive(self, kind: str, argument: str, section: str) -> Iterator[Block]:
        self.at += 1
        body = self._deeper(0)
        if kind in _NAMED:
            yield from _joined(argument.split("(")[0].strip(), body, section)
        elif kind in _VERSIONS:
            yield Block(clean(f"{_VERSIONS[kind]} {argument} {body}"), section)
        elif kind in _SHOWN:
            yield from _Reader([argument, *body.splitlines()]).read(section, False)
        elif kind in _CODE and body:
            yield Block(body, section, code=True)

    def _aside(self, line: str, section: str) -> Iterator[Block]:
        """Markdown admonitions are read; reST comments and link targets are not."""
        self.at += 1
        body = self._deeper(0)
        if not line.startswith(".."):
            yield from _Reader(body.splitlines()).read(section, False)

    def _table(self, section: str) -> Iterator[Block]:
        """The rows of a Markdown table: the first cell names what the others say."""
        rows: list[list[str]] = []
        while self.at < len(self.lines) and self.lines[self.at].strip().startswith("|"):
            cells = re.split(r"(?<!\\)\|", self.lines[self.at].strip().strip("|"))
            rows.append([clean(cell) for cell in cells])
            self.at += 1
        heads, *body = rows
        for first, *others in body:
            pairs = zip(heads[1:], others, strict=False)
            said = [f"{head}: {cell}" for head, cell in pairs if cell.strip("-: ")]
            if said:
                yield Block("; ".join(said), section, first)

    def _plain(self, section: str) -> Iterator[Block]:
        text = self._paragraph()
        pieces = _items(text) if _ITEM.match(text.lstrip()) else [text]
        yield from (Block(said, section) for piece in pieces if (said := clean(piece)))

    # Lines.

    def _paragraph(self) -> str:
        taken = [self.lines[self.at]]
        self.at += 1
        while self.at < len(self.lines) and self.lines[self.at].strip():
            line = self.lines[self.at]
            if _FIELD.match(line) or _DIRECTIVE.match(line) or _GOOGLE.match(line):
                break
            if line.lstrip().startswith("```"):
                break
            taken.append(line)
            self.at += 1
        return "\n".join(taken)

    def _fence(self) -> str:
        mark = self.lines[self.at].lstrip()[:3]
        self.at += 1
        taken: list[str] = []
        while self.at < len(self.lines) and not self.lines[self.at].lstrip().startswith(mark):
            taken.append(self.lines[self.at])
            self.at += 1
        self.at += 1
        return dedent("\n".join(taken)).strip("\n")

    def _deeper(self, depth: int) -> str:
        """The lines from here that stand deeper than `depth`, as a text of their own."""
        taken: list[str] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and _indent(line) <= depth:
                break
            taken.append(line)
            self.at += 1
        return dedent("\n".join(taken)).strip("\n")

    def _before(self) -> str:
        return next((line.rstrip() for line in reversed(self.lines[: self.at]) if line.strip()), "")


def _joined(name: str, body: str, section: str) -> Iterator[Block]:
    inner = _Reader(body.splitlines()).read(section, False)
    text = "\n".join(block.text for block in inner if not block.code)
    if text.strip():
        yield Block(text, section, name.strip("`*: "))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _items(text: str) -> Iterator[str]:
    item: list[str] = []
    for line in text.splitlines():
        if _ITEM.match(line.lstrip()) and item:
            yield " ".join(item)
            item = []
        item.append(_ITEM.sub("", line.strip()))
    yield " ".join(item)
