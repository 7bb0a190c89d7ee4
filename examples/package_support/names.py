"""Names: which package a question is about, installed or not, by the names that people call it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from .distributions import Installed, canonical

_TOKEN = re.compile(r"[A-Za-z][\w-]*(?:\.[A-Za-z_]\w*)*")
_DOTTED = re.compile(r"(?<![\w.-])[a-z][a-z0-9_]{2,}(?:\.[A-Za-z_]\w*)+")
_FILE = re.compile(
    r"\.(?:py|pyi|html?|txt|json|jsonl|md|rst|toml|ya?ml|cfg|ini|csv|xml|env|png|svg|jpe?g|log|sh|exe)$"
)
_ADJECTIVES = {
    "based",
    "compatible",
    "free",
    "like",
    "level",
    "native",
    "only",
    "related",
    "side",
    "specific",
    "style",
}
_SHORTEST, _CLOSE = 5, 0.85
_ORDINARY = 250  # a name that so many passages have is a word of the language too, such as "requests"
_KNOWN = 60
_ELSEWHERE = frozenset(Path(__file__).with_name("elsewhere.txt").read_text(encoding="utf-8").split())


@dataclass(frozen=True, slots=True)
class Names:
    """Every name of what is installed, and the names of what others here could use but that is not."""

    called: Mapping[str, str]
    absent: frozenset[str]

    def named_in(self, text: str) -> dict[str, str]:
        """The packages that a text names: the word by distribution, in the order of the text."""
        found: dict[str, str] = {}
        for token in _TOKEN.findall(text):
            for word in (token, token.split(".")[0]):
                if package := self.called.get(canonical(word)):
                    found.setdefault(package, word)
                    break
        return found

    def near(self, text: str, frequency: Callable[[str], int]) -> dict[str, str]:
        """As `named_in`, for misspelt names: strange words that are much like a name."""
        found: dict[str, str] = {}
        for token in _TOKEN.findall(text):
            if len(token) >= _SHORTEST and not frequency(token):
                for name in self._like(canonical(token)):
                    found.setdefault(self.called[name], token)
        return found

    def _like(self, token: str) -> list[str]:
        """The name that a strange word means: its letters in another order, or nearly the same ones."""
        swapped = [name for name in self.called if name[:1] == token[:1] and sorted(name) == sorted(token)]
        return swapped[:1] or get_close_matches(token, self.called, n=1, cutoff=_CLOSE)

    def absent_in(self, text: str, frequency: Callable[[str], int]) -> tuple[str, ...]:
        """The packages that a text names and that are not installed.

        `frequency` tells how many passages have a word: a name that many have is an everyday word too.
        """
        found = dict.fromkeys(self._absent(text, frequency))
        return tuple(found or dict.fromkeys(self._foreign(text, frequency)))

    def _absent(self, text: str, frequency: Callable[[str], int]) -> Iterator[str]:
        """Names that are known, and names of what is added to something installed."""
        for match in _TOKEN.finditer(text):
            top, dot, _ = match[0].partition(".")
            name = canonical(top)
            if name in self.called or _FILE.search(match[0]):
                continue
            opens = match.start() == 0 and text[match.end() : match.end() + 1] in (":", ",")
            meant = dot or opens or frequency(top) < _ORDINARY
            if _derived(name, self.called) or (name in self.absent and meant):
                yield top

    def _foreign(self, text: str, frequency: Callable[[str], int]) -> Iterator[str]:
        """What stands before the dot in the name of some code, and that hardly any text has."""
        for match in _DOTTED.finditer(text):
            top = match[0].split(".")[0]
            if canonical(top) not in self.called and not _FILE.search(match[0]) and frequency(top) < _KNOWN:
                yield top


def _derived(name: str, called: Mapping[str, str]) -> bool:
    """Whether a name is that of an add-on, such as pytest-django."""
    base, _, rest = name.partition("-")
    return base in called and bool(rest) and rest.split("-")[-1] not in _ADJECTIVES


def names_of(these: Sequence[Installed]) -> Names:
    """Distribution names come first, then import names, then what is left without a version digit or an affix.

    Absent is what they could use, and what `elsewhere.txt` has: packages that many people know.
    """
    called = {one.name: one.name for one in these}
    for one in these:
        for name in one.imports:
            if len(name) > 2:
                called.setdefault(canonical(name), one.name)
    for one in these:
        for short in (one.name.rstrip("0123456789"), re.sub(r"^python-|-python$", "", one.name)):
            if len(short) > 3:
                called.setdefault(short, one.name)
    wanted = {need for one in these for need in one.needs}
    return Names(called, frozenset((wanted | _ELSEWHERE) - called.keys()))
