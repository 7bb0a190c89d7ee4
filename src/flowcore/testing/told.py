"""The text of a run, read again: its visits in the order of the text, with their routes and facts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = ["Step", "Told", "told"]

_ROUND = re.compile(r"before round 1|round \d+|finish, since \w+ ran out")
_ITEM = re.compile(r"\[\d+\]")
_FACT = re.compile(r"(error|retried after|call model|call tool|emit|artifact) ")
_NAMED = re.compile(r"(?P<name>(?:emit|artifact) .+?) = (?P<value>.*)")
_CHANGE = re.compile(r"\+ (?P<field>\w+) (?P<sign>\+?=) (?P<value>.*)")
_WAY = re.compile(r"-> (?P<target>.+?)(?:  \((?P<reason>.*)\))?")
_VALUES = re.compile(r"^(?:(?P<label>[^=]*?): )?(?P<values>[^\s=]+ = .*)$")
_NUMBER = re.compile(r"#\d+")


class Step(NamedTuple):
    """One visit as the text tells it: where it stands, in which round, how it was left, and what else is said."""

    place: str
    marks: str
    round: str
    way: str
    facts: Mapping[str, Sequence[str]]

    @property
    def shown(self) -> str:
        """The visit with its marks: what the path of a run consists of."""
        return f"{self.place}{self.marks}"

    @property
    def node(self) -> str:
        """The node that was visited, whichever visit it was."""
        return _NUMBER.sub("", self.place)


class Told(NamedTuple):
    """What a text tells: of the run as a whole, and of its visits."""

    head: Mapping[str, str]
    steps: Sequence[Step]


def told(text: str) -> Told:
    """Read the text of a run in whatever detail it was written. What is no such text has one fact a line."""
    reader = _Reader()
    for line in text.splitlines():
        if line:
            reader.read(line)
    return Told(reader.head, [step._replace(way=reader.ways.get(n, "")) for n, step in enumerate(reader.steps)])


class _Reader:
    """Reads line after line. How far a line stands in says what it belongs to."""

    def __init__(self) -> None:
        self.head: dict[str, str] = {}
        self.steps: list[Step] = []
        self.ways: dict[int, str] = {}
        self._facts: list[dict[str, list[str]]] = []
        self._around: list[tuple[int, str, int]] = []
        self._rounds: dict[int, str] = {}

    def read(self, line: str) -> None:
        words = line.lstrip(" ")
        depth = len(line) - len(words)
        if not depth and not _ROUND.fullmatch(words):
            name, _, rest = words.partition(" ")
            self.head[name] = rest
            return
        while self._around and self._around[-1][0] >= depth:
            self._around.pop()
        if _ROUND.fullmatch(words):
            self._rounds = {at: name for at, name in self._rounds.items() if at < depth}
            self._rounds[depth] = words
        elif words.startswith(("+ ", "-> ")) or _FACT.match(words):
            self._fact(words)
        else:
            self._visit(depth, words)

    def _visit(self, depth: int, words: str) -> None:
        name, space, marks = words.partition("  [")
        if _ITEM.fullmatch(name) and self._around:
            _, above, step = self._around[-1]
            self._around.append((depth, f"{above}{name}", step))
            return
        above = self._around[-1][1] if self._around else ""
        place = f"{above}/{name}" if above else name
        self._rounds = {at: round for at, round in self._rounds.items() if at < depth}
        round = self._rounds[max(self._rounds)] if self._rounds else ""
        self._around.append((depth, place, len(self.steps)))
        facts: dict[str, list[str]] = {}
        self._facts.append(facts)
        shown = " [" + marks if space else ""
        self.steps.append(Step(place, shown, round, "", facts))

    def _fact(self, words: str) -> None:
        if not self._around:
            return
        step = self._around[-1][2]
        facts = self._facts[step]
        if (change := _CHANGE.fullmatch(words)) is not None:
            facts.setdefault(f"state.{change['field']}", []).append(change["value"])
        elif (way := _WAY.fullmatch(words)) is not None:
            self._way(step, way["target"], way["reason"] or "")
        else:
            named, kind = _NAMED.fullmatch(words), _FACT.match(words)
            if named is not None:
                facts.setdefault(named["name"], []).append(named["value"])
            elif kind is not None:
                facts.setdefault(kind[1], []).append(words[kind.end() :])

    def _way(self, step: int, target: str, reason: str) -> None:
        values = _VALUES.fullmatch(reason)
        label = (values["label"] or "") if values is not None else reason
        self.ways[step] = f"{target} ({label})" if label else target
        if values is not None:
            self._facts[step].setdefault("why", []).append(values["values"])
