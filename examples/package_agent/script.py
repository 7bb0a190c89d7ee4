"""Script: stands for a model. It knows a few kinds of question, and answers them from what the tools return."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from flowcore.messages import Chunk, Message, ModelReply, ModelRequest, ToolCall
from flowcore.testing import ScriptedModel

from .installed import canonical

__all__ = ["QUESTIONS", "Script"]

QUESTIONS = (
    "Which installed packages need anyio?",
    "What does httpx need?",
    "What is the most needed package?",
    "How does starlette use anyio?",
    "Show me httpx.get",
    "How long do idle keep-alive connections stay open in httpx?",
)
"""A question of each kind."""

Said = ModelReply[Any] | str
Play = Callable[[re.Match[str], Sequence[Sequence[str]]], Said]
_DEPENDS = "needs?|requires?|depends? on"
_NAME = r"[\w.-]*\w"
_PLACE = re.compile(r"^([\w.]+):(\d+): (.*)$", re.M)

_MORE = re.compile(r"^and \d+ more$", re.M)


class NoResult(Exception):
    """A tool returned something else than the script can read, such as a refusal."""


class Script:
    """A model that thinks nothing: what it says follows from the request alone, so that any run can be resumed."""

    name = "script"

    async def complete(self, request: ModelRequest) -> ModelReply[Any]:
        """Return what the play for the question says, given the results so far."""
        return await self._said(request).complete(request)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Yield the same, word by word."""
        async for chunk in self._said(request).stream(request):
            yield chunk

    def _said(self, request: ModelRequest) -> ScriptedModel:
        question = next(message.content for message in request.messages if message.role == "user")
        try:
            return ScriptedModel([_play(question, _results(request.messages))])
        except NoResult as error:
            return ScriptedModel([f"I could not find that out. A tool said: {error}"])


@dataclass(frozen=True, slots=True)
class Rows:
    """What a query returned."""

    rows: list[list[Any]]
    more: bool

    @classmethod
    def of(cls, text: str) -> Rows:
        """Read the result of a query. Raises `NoResult`."""
        try:
            said = json.loads(text)
            return cls(said["rows"], said["more"])
        except (ValueError, KeyError, TypeError):
            raise NoResult(text) from None


def _play(question: str, results: Sequence[Sequence[str]]) -> Said:
    for pattern, play in _PLAYS:
        if (found := pattern.search(question)) is not None:
            return play(found, results)
    raise AssertionError("the last pattern fits everything")


def _results(messages: Sequence[Message]) -> list[list[str]]:
    """Return the results of each turn."""
    turns: list[list[str]] = []
    for message in messages:
        if message.role == "assistant":
            turns.append([])
        elif message.role == "tool":
            turns[-1].append(message.content)
    return turns


def _calls(turn: int, *wanted: tuple[str, dict[str, Any]], text: str = "") -> ModelReply[str]:
    made = (ToolCall(f"{turn}.{n}", name, json.dumps(given)) for n, (name, given) in enumerate(wanted, 1))
    return ModelReply(text, tool_calls=tuple(made))


def _query(sql: str, **parameters: str) -> tuple[str, dict[str, Any]]:
    return "packages_query", {"sql": sql, "parameters": parameters}


_VERSION = "SELECT version, summary FROM distribution WHERE name = :name"


def _who_needs(found: re.Match[str], results: Sequence[Sequence[str]]) -> Said:
    name = canonical(found["name"])
    if not results:
        sql = "SELECT distribution, version, extra, condition FROM need WHERE name = :name ORDER BY distribution"
        return _calls(1, _query(sql, name=name), _query(_VERSION, name=name), text="I ask the inventory.")
    needing, known = [Rows.of(text) for text in results[0]]
    here = f"{name} {known.rows[0][0]}" if known.rows else f"{name} (not installed)"
    always = [row for row in needing.rows if not row[2]]
    extras = [row for row in needing.rows if row[2]]
    count = _counted(len({row[0] for row in always}), "installed package")
    lines = [f"By their metadata, {here} is needed by {count}:", *_listed(map(_need, always))]
    if extras:
        lines += ["", "For an extra alone:", *_listed(map(_need, extras))]
    return "\n".join([*lines, *(["and more"] if needing.more else [])])


def _need(row: Sequence[Any]) -> str:
    distribution, version, extra, condition = row
    who = f"{distribution}[{extra}]" if extra else f"{distribution}"
    return f"{who} {version}".strip() + (f", where {condition}" if condition and not extra else "")


def _what_it_needs(found: re.Match[str], results: Sequence[Sequence[str]]) -> Said:
    name = canonical(found["name"])
    if not results:
        sql = (
            "SELECT need.name, need.version, condition, distribution.version FROM need"
            " LEFT JOIN distribution ON distribution.name = need.name"
            " WHERE need.distribution = :name AND extra = '' ORDER BY need.name"
        )
        return _calls(1, _query(sql, name=name), _query(_VERSION, name=name))
    needs, known = [Rows.of(text) for text in results[0]]
    if not known.rows:
        return f"{name} is not installed."
    lines = [
        f"{need} {wanted}".strip()
        + (f", where {condition}" if condition else "")
        + (f" (installed: {version})" if version else " (not installed)")
        for need, wanted, condition, version in needs.rows
    ]
    return "\n".join([f"{name} {known.rows[0][0]} declares {_counted(len(lines), 'need')}:", *_listed(lines)])


def _most_needed(found: re.Match[str], results: Sequence[Sequence[str]]) -> Said:
    if not results:
        return _calls(
            1,
            _query(
                "SELECT name, count(DISTINCT distribution) AS times FROM need WHERE extra = ''"
                " AND name IN (SELECT name FROM distribution) GROUP BY name ORDER BY times DESC, name LIMIT 5"
            ),
        )
    top = Rows.of(results[0][0]).rows
    lines = [f"{name}: needed by {_counted(times, 'package')}" for name, times in top]
    return "\n".join(["The most needed of the installed packages:", *_listed(lines)])


def _how_used(found: re.Match[str], results: Sequence[Sequence[str]]) -> Said:
    user, used = canonical(found["name"]), canonical(found["other"])
    work = [f"find the modules of {user} and {used}", f"find where {user} imports {used}", "read the first place"]
    modules = "SELECT name FROM module WHERE distribution = :name ORDER BY name <> :likely, name"
    if not results:
        wanted = [_query(modules, name=name, likely=name.replace("-", "_")) for name in (user, used)]
        return _calls(1, _todo(work, 0), *wanted, text="I look for the imports.")
    mine, theirs = (_module(Rows.of(text), name) for text, name in zip(results[0][1:], (user, used), strict=True))
    if len(results) == 1:
        looked = [("find_in_source", {"package": mine, "text": f"{word} {theirs}"}) for word in ("import", "from")]
        return _calls(2, _todo(work, 1), *looked)
    places = [
        found.groups() for text in results[1][1:] for found in _PLACE.finditer(text) if _imports(found, theirs)
    ]
    if not places:
        if refusal := next((text for text in results[1][1:] if text.startswith(("It failed", "Not run"))), ""):
            raise NoResult(refusal)
        return f"No module of {mine} imports {theirs}, as far as its source says."
    module, line = places[0][:2]
    if len(results) == 2:
        start = max(1, int(line) - 2)
        return _calls(3, _todo(work, 2), ("read_source", {"name": module, "start": start, "lines": 6}))
    names = list(dict.fromkeys(str(place) for place, _, _ in places))
    least = "at least " if any(_MORE.search(text) for text in results[1][1:]) else ""
    return "\n".join(
        [
            f"{least}{_counted(len(names), 'module')} of {mine} with lines that import {theirs}:",
            *_listed([f"{place}, line {line}: {text}" for place, line, text in places]),
            "",
            "The first of them reads:",
            results[2][1],
        ]
    )


def _show(found: re.Match[str], results: Sequence[Sequence[str]]) -> Said:
    if not results:
        return _calls(1, ("read_source", {"name": found["name"]}))
    return results[0][0] if _is_source(results[0][0]) else _refused(results[0][0])


def _search(found: re.Match[str], results: Sequence[Sequence[str]]) -> Said:
    if not results:
        return _calls(1, ("search_texts", {"query": found[0]}), text="I search the texts.")
    texts = re.split(r"\n\n(?=\[\d+\])", results[0][0])
    if not texts[0].startswith("[1]"):
        return _refused(results[0][0]) if not texts[0].startswith("Nothing") else "The texts have nothing on it."
    said = "I am a script and do not think; with --model a model reads this. These texts fit the question best:"
    return "\n\n".join([said, *texts[:2]])


_PLAYS: tuple[tuple[re.Pattern[str], Play], ...] = tuple(
    (re.compile(pattern, re.I | re.S), play)
    for pattern, play in (
        (rf"\b(?:packages?|distributions?|who)\b.*\b(?:{_DEPENDS})\s+(?P<name>{_NAME})", _who_needs),
        (rf"\bwhat does (?P<name>{_NAME}) (?:{_DEPENDS})\b", _what_it_needs),
        (r"\bmost needed\b|\bneeded most\b", _most_needed),
        (rf"\b(?:how|where) does (?P<name>{_NAME}) (?:use|import) (?P<other>{_NAME})", _how_used),
        (r"\b(?:show|read)\b.*?(?P<name>[A-Za-z_]\w*(?:\.\w+)+)", _show),
        (r".*", _search),
    )
)


def _todo(work: Sequence[str], done: int) -> tuple[str, dict[str, Any]]:
    return "todo", {"items": [{"text": text, "is_done": place < done} for place, text in enumerate(work)]}


def _module(modules: Rows, name: str) -> str:
    """Return what a distribution is imported by; one that is worked on lists none, and is called by its name."""
    return str(modules.rows[0][0]) if modules.rows else name.replace("-", "_")


def _imports(found: re.Match[str], module: str) -> bool:
    return re.match(rf"(?:import|from) {re.escape(module)}\b", found[3]) is not None


def _is_source(text: str) -> bool:
    return re.match(r"[\w.]+, lines \d+ to \d+ of \d+\n", text) is not None


def _refused(text: str) -> Said:
    raise NoResult(text)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _listed(lines: Iterable[str]) -> list[str]:
    return [f"- {line}" for line in lines] or ["- none"]
