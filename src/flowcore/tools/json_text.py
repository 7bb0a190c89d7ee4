"""The JSON of a call's arguments: read, or mended where nothing is lost, or refused with the reason.

Models write JSON that is nearly right: a comma too many, single quotes, a fence around it. Such a text is read
piece by piece, each piece is written as JSON has it, and the whole is read as any JSON: no piece is added or left
out. What was cut off is never mended: nobody knows what would have followed. Reading takes time in proportion
to the text, since whoever wrote it may be of ill will.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["JsonFault", "is_blank", "read_object", "sendable", "valid_arguments"]

_FENCE = "```"
_TOKEN = re.compile(
    r"""(?P<space>[\s\ufeff]+|//[^\n]*)
    |(?P<comment>/\*.*?(?:\*/|\Z))
    |(?P<text>"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')
    |(?P<mark>[{}\[\]:,])
    |(?P<word>[^\s{}\[\]:,"']+)
    |(?P<open>["'])""",
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"\+?(-?(?:0|[1-9][0-9]*))(\.[0-9]*)?((?:[eE][+-]?[0-9]+)?)")
_NAME = re.compile(r"[\w$.-]+")
_IN_SINGLE_QUOTES = re.compile(r'\\.|"', re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_REQUOTED = {"\\'": "'", '"': '\\"'}
_CLOSES = {"}": "{", "]": "["}
_MALFORMED = "malformed_arguments"
_BLANK = json.dumps({_MALFORMED: ""})
_LONGEST = 2_000
"""Characters that are kept of what cannot be read."""
_MOST = 1_000_000
"""Characters beyond which arguments are not mended."""
_SHOWN = 5
_LONGEST_NAME = 50


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


def is_blank(arguments: str) -> bool:
    """Return whether a model wrote no arguments, be it that a message keeps that as what could not be read."""
    return arguments.strip() in ("", _BLANK)


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
        return json.dumps({_MALFORMED: arguments.strip()[:_LONGEST]})
    return arguments if is_object else json.dumps(read, ensure_ascii=False)


def sendable(text: str) -> str:
    """Return a text as it can be sent and stored: half of a pair that is one character is written as an escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _read(text: str) -> Any:
    try:
        return _loaded(text)
    except JsonFault:
        raise
    except RecursionError:
        raise JsonFault("the arguments are nested too deeply") from None
    except ValueError as error:
        return _mended(text, error)


def _loaded(text: str) -> Any:
    return json.loads(text, strict=False, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)


def _mended(text: str, error: ValueError) -> Any:
    inner = _unfenced(text)
    if inner is not None and not inner.lstrip().startswith(_FENCE):
        return _read(inner)
    if not text.strip():
        raise JsonFault("there are no arguments: send a JSON object")
    if len(text) > _MOST:
        raise JsonFault(f"the arguments are no JSON: {error}")
    tokens = list(_tokens(text))
    _must_be_whole(tokens)
    try:
        return _loaded(" ".join(_as_json(tokens)))
    except JsonFault:
        raise
    except RecursionError:
        raise JsonFault("the arguments are nested too deeply") from None
    except ValueError:
        raise JsonFault(f"the arguments are no JSON: {error}") from None


def _unfenced(text: str) -> str | None:
    """Return what stands inside a fence; None if there is none around it."""
    first, _, rest = text.strip().partition("\n")
    fenced = first.rstrip() in (_FENCE, f"{_FENCE}json") and rest.endswith(_FENCE)
    return rest.removesuffix(_FENCE) if fenced else None


def _refuse(word: str) -> Any:
    raise JsonFault(f"{word} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise JsonFault(f"the number {_short(text)} is too large")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        twice = sorted(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        more = f" and {len(twice) - _SHOWN} more" if len(twice) > _SHOWN else ""
        listed = ", ".join(map(_short, twice[:_SHOWN]))
        raise JsonFault(f"a name stands twice in the arguments: {listed}{more}")
    return made


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}..."


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup == "open":
            raise JsonFault("the arguments break off inside a text: send them again, whole", cut=True)
        kind, said = str(found.lastgroup), found[0]
        if kind == "comment" and (len(said) < len("/**/") or not said.endswith("*/")):
            raise JsonFault("the arguments break off inside a comment: send them again, whole", cut=True)
        at = found.end()
        if kind not in ("space", "comment"):
            yield _Token(kind, said)


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


def _as_json(tokens: list[_Token]) -> Iterator[str]:
    """Yield each token as JSON writes it: texts and names in double quotes, no comma before a closing bracket."""
    following = [*tokens[1:], _Token("", "")]
    for (kind, text), (_, after) in zip(tokens, following, strict=True):
        if text == "," and kind == "mark" and after in _CLOSES:
            continue
        if kind == "text":
            yield _in_double_quotes(text)
        elif kind == "word":
            yield json.dumps(text) if after == ":" and _NAME.fullmatch(text) else _word(text)
        else:
            yield text


def _in_double_quotes(text: str) -> str:
    if text[0] == '"':
        return text
    return f'"{_IN_SINGLE_QUOTES.sub(lambda found: _REQUOTED.get(found[0], found[0]), text[1:-1])}"'


def _word(text: str) -> str:
    """Return a word as JSON writes it; as it is if it cannot be one, such as 007."""
    number = _NUMBER.fullmatch(text)
    if number is None:
        return _WORDS.get(text, text)
    whole, part, power = number.groups()
    return f"{whole}{'.0' if part == '.' else part or ''}{power}"


def _named(value: object) -> str:
    for kind, name in ((list, "a list"), (str, "a text"), (bool, "true or false"), (int | float, "a number")):
        if isinstance(value, kind):
            return name
    return "null"
