"""The JSON of a call's arguments: read, or mended where nothing is lost, or refused with the reason.

Models write JSON that is nearly right: a comma too many, single quotes, a fence around it. That is mended by
json-repair, and only if what it made of it says exactly what the text says. What was cut off is never mended:
nobody knows what would have followed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["JsonFault", "read_object", "sendable", "valid_arguments"]

_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<space>[\s\ufeff]+|//[^\n]*|/\*.*?\*/)
    |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<mark>[{}\[\]:,])
    |(?P<word>[^\s{}\[\]:,"']+)
    |(?P<open>["'])""",
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d+)?")
_WORDS = {"True": "true", "False": "false", "None": "null"}
_CLOSES = {"}": "{", "]": "["}
_MALFORMED = "malformed_arguments"
_LONGEST = 2_000
"""Characters that are kept of what cannot be read."""
_MOST = 1_000_000
"""Characters beyond which arguments are not mended."""


class JsonFault(ValueError):
    """Arguments that cannot be read. `cut` says that they break off."""

    def __init__(self, message: str, *, cut: bool = False) -> None:
        self.cut = cut
        super().__init__(message)


class _Token(NamedTuple):
    kind: str
    text: str


def read_object(text: str) -> dict[str, Any]:
    """Return the arguments that a text holds. Raises `JsonFault` where they are not all there, or not clear."""
    value = _read(text)
    if isinstance(value, str):  # written as JSON twice
        value = _read(value)
    elif isinstance(value, dict) and value.keys() == {_MALFORMED}:  # a message keeps what could not be read
        value = _read(str(value[_MALFORMED]))
    if not isinstance(value, dict):
        raise JsonFault(f"the arguments are one JSON object, and not {_named(value)}")
    return value


def valid_arguments(arguments: str) -> str:
    """Return arguments as one JSON object. What cannot be read is kept as a text: models refuse broken JSON."""
    arguments = sendable(arguments)
    try:
        plain = json.loads(arguments)
    except (ValueError, RecursionError):
        plain = None
    is_object = isinstance(plain, dict)
    if is_object and plain.keys() == {_MALFORMED}:
        return arguments
    try:
        read = read_object(arguments)
    except JsonFault:
        return json.dumps({_MALFORMED: arguments[:_LONGEST]})
    return arguments if is_object else json.dumps(read, ensure_ascii=False)


def sendable(text: str) -> str:
    """Return a text as it can be sent and stored: half of a pair that is one character is written as an escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _read(text: str) -> Any:
    try:
        return json.loads(text, strict=False, object_pairs_hook=_unique, parse_constant=_refuse)
    except JsonFault:
        raise
    except RecursionError:
        raise JsonFault("the arguments are nested too deeply") from None
    except ValueError as error:
        return _mended(text, error)


def _mended(text: str, error: ValueError) -> Any:
    if (fenced := _FENCE.fullmatch(text)) is not None:
        return _read(fenced[1])
    if not text.strip():
        raise JsonFault("there are no arguments: send a JSON object")
    if len(text) > _MOST:
        raise JsonFault(f"the arguments are no JSON: {error}")
    said = list(_tokens(text))
    _must_be_whole(said)
    import json_repair  # noqa: PLC0415 - needed only where a model wrote wrong JSON

    try:
        value: Any = json_repair.loads(text, skip_json_loads=True)
        again = json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        raise JsonFault(f"the arguments are no JSON: {error}") from None
    if not _same(_said(said), _said(list(_tokens(again)))):
        raise JsonFault(f"the arguments are no JSON: {error}")
    return value


def _refuse(word: str) -> Any:
    raise JsonFault(f"{word} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise JsonFault(f"a name stands twice in the arguments: {', '.join(twice)}")
    return made


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup == "open":
            raise JsonFault("the arguments break off inside a text: send them again, whole", cut=True)
        at = found.end()
        if found.lastgroup != "space":
            yield _Token(str(found.lastgroup), found[0])


def _must_be_whole(tokens: list[_Token]) -> None:
    """Return if every bracket is closed and no value is missing. Raises `JsonFault` otherwise."""
    around: list[str] = []
    before = ""
    for kind, text in tokens:
        mark = text if kind == "mark" else ""
        if mark in ("}", "]"):
            if not around or around.pop() != _CLOSES[mark]:
                raise JsonFault("the brackets of the arguments do not match")
            if before == ":":
                raise JsonFault("a value is missing before a closing bracket")
        elif mark == "," and before in (",", ":", "{", "["):
            raise JsonFault("a value is missing before a comma")
        elif mark == ":" and before in (":", ",", "{", "["):
            raise JsonFault("a name is missing before a colon")
        if mark in ("{", "["):
            around.append(mark)
        before = mark
    if around or before in (",", ":"):
        raise JsonFault("the arguments break off: send them again, whole", cut=True)


def _said(tokens: list[_Token]) -> list[_Token]:
    """Return what tokens say, however it is written: texts without quotes, no comma before a closing bracket."""
    said: list[_Token] = []
    for kind, text in tokens:
        if kind == "mark" and text in _CLOSES and said and said[-1] == ("mark", ","):
            said.pop()
        said.append(_Token(kind, _bare(kind, text)))
    return said


def _bare(kind: str, text: str) -> str:
    if kind == "word":
        return _WORDS.get(text, text)
    if kind != "text":
        return text
    inner = text[1:-1] if text[0] == '"' else text[1:-1].replace("\\'", "'").replace('"', '\\"')
    try:
        return str(json.loads(f'"{inner}"', strict=False))
    except ValueError:
        return text


def _same(was: list[_Token], now: list[_Token]) -> bool:
    """Return whether two lists of tokens say the same. A name may stand without quotes, a value may not."""
    if len(was) != len(now):
        return False
    for index, ((kind, text), (other_kind, other)) in enumerate(zip(was, now, strict=True)):
        if text != other and not (kind == other_kind == "word" and _number(text) == _number(other) is not None):
            return False
        is_name = index + 1 < len(was) and was[index + 1] == ("mark", ":")
        if kind != other_kind and not is_name:
            return False
    return True


def _number(text: str) -> float | None:
    """Return the number that a word is; None for what is none, or may be a code, such as 007."""
    return float(text) if _NUMBER.fullmatch(text) else None


def _named(value: object) -> str:
    for kind, name in ((list, "a list"), (str, "a text"), (bool, "true or false"), (int | float, "a number")):
        if isinstance(value, kind):
            return name
    return "null"
