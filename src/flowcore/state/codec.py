"""The codec: values as JSON text, from which the same values of the same types come back.

What JSON holds stays as it is; everything else is an object with a single key that begins with `$`, the tag:
`{"$date":"2026-01-31"}`. A dict that looks like that is written as pairs. Nothing is pickled. To read a value
imports no module, and runs no validator and no `__init__`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, get_origin

from ..errors import NotSerialisable, StoreError
from ..types import type_name
from .codec_atoms import PLAIN
from .codec_classes import Classes, Unstorable
from .codec_lenient import LenientReader
from .codec_read import Reader, Unreadable
from .codec_write import Writer, dumps
from .log import Log
from .secret import redacted_fields

__all__ = ["Codec"]

_AT_ONCE = 1000
"""How many patches are parsed together."""


class Codec:
    """Writes and reads the values of a flow.

    `hints` are annotations or classes, such as the types of its states and results: the classes that they lead to
    are found again, wherever they were defined. Others are found by module and name, if the module is loaded.

    A value of a field marked with `Secret`, and a `SecretStr` or `SecretBytes` of pydantic, is not kept: a run
    that is resumed must get its real secrets through deps.

        >>> codec = Codec()
        >>> codec.encode({"when": (1, 2)}, "state")
        '{"when":{"$tuple":[1,2]}}'
        >>> codec.decode('{"when":{"$tuple":[1,2]}}', "state")
        {'when': (1, 2)}
    """

    __slots__ = ("_classes", "_names", "_raw", "_read", "_secret")

    def __init__(self, *hints: Any, lenient: bool = False) -> None:
        self._classes = Classes(hints)
        reader = (LenientReader if lenient else Reader)(self._classes)
        self._read = json.JSONDecoder(object_hook=reader, parse_constant=_no_constant).decode
        self._raw = json.JSONDecoder(parse_constant=_no_constant).decode
        self._names: set[str] = set()
        roots = [get_origin(hint) or hint for hint in hints]
        self._secret = frozenset[str]().union(*(redacted_fields(root) for root in roots if isinstance(root, type)))

    def encode(self, value: Any, where: str) -> str:
        """Return a value as JSON text.

        Raises `NotSerialisable`, which names the place and the type, for a value that would not come back.
        """
        if type(value) in PLAIN and (text := _plain_text(value)) is not None:
            return text
        return self._text(lambda writer: writer.value(value), where)

    def decode(self, text: str, where: str) -> Any:
        """Return the value that a text was made from.

        Raises `StoreError` for another text, and where a class is gone or has other fields.
        """
        return _parsed(self._read, text, where)

    def encode_fields(
        self,
        values: Mapping[str, Any],
        where: str,
        before: Mapping[str, Any] | None = None,
        *,
        of: Any = None,
    ) -> str:
        """Return the fields of a state, or a patch to the state `before`, as JSON text.

        Of a log that goes on from the one in `before`, only what was appended is written. `of` is the type whose
        fields these are; without it, a field is taken as secret if one of that name is in any of the hints.
        Raises `NotSerialisable`.
        """
        secret = self._secret if of is None else redacted_fields(of)
        plain = type(values) is dict and PLAIN.issuperset(map(type, values.values()))
        if plain and self._names.issuperset(values) and (not secret or secret.isdisjoint(values)):
            text = _plain_text(values)
            if text is not None:
                return text
        self._check_names(values, where)
        return self._text(lambda writer: _fields(writer, values, before or {}, secret), where)

    def decode_fields(self, text: str, where: str) -> dict[str, Any]:
        """Return the fields that a text was made from. A log in a patch holds what was appended.

        Raises `StoreError`, as `decode`.
        """
        values: dict[str, Any] = {}
        self.apply(values, text, where)
        return values

    def apply(self, values: dict[str, Any], text: str, where: str) -> None:
        """Put the fields of a stored patch into `values`. Logs grow by what was appended. Raises `StoreError`."""
        for name, value in _named(_parsed(self._read, text, where), where):
            if name[:1] == "+":
                log = values.get(name[1:], _EMPTY)
                if type(log) is not Log or type(value) is not list:
                    raise StoreError(f"{where}.{name[1:]}: what is stored is no log to append to")
                grown = log.draft()
                grown.extend(value)
                values[name[1:]] = grown.settled()
            else:
                values[name] = value

    def fold(self, start: str, patches: Iterable[str], where: str = "state") -> dict[str, Any]:
        """Return the fields of a stored state after its stored patches, in order.

        Each patch is parsed, but of a field only the last value is made. Raises `StoreError`.
        """
        trees = self._folded(start, patches, where)
        return dict(_named(_parsed(lambda trees: self._read(dumps(trees)), trees, where), where))

    def fold_text(self, start: str, patches: Iterable[str], where: str = "state") -> str:
        """Return what `fold` makes its values of, as text. No class is looked for. Raises `StoreError`."""
        return dumps(self._folded(start, patches, where))

    def _folded(self, start: str, patches: Iterable[str], where: str) -> dict[str, Any]:
        trees: dict[str, Any] = {}
        for fields in (_parsed(self._raw, start, where), *self._patches(patches, where)):
            for name, tree in _fields_of(fields, where):
                if name[:1] != "+":
                    trees[name] = tree
                    continue
                log = trees.get(name[1:])
                items = log.get("$log") if type(log) is dict and len(log) == 1 else None
                if type(items) is not list or type(tree) is not list:
                    raise StoreError(f"{where}.{name[1:]}: what is stored is no log to append to")
                items.extend(tree)
        return trees

    def name_of(self, cls: type[Any]) -> str:
        """Return the name under which a class is found again. Raises `NotSerialisable` if it would not be."""
        try:
            return self._classes.name_of(cls)
        except Unstorable as error:
            raise NotSerialisable("state", type_name(cls), error.reason) from None

    def find(self, name: str) -> type[Any]:
        """Return the class that has a name. Raises `StoreError` if there is none today."""
        found = self._classes.find(name)
        if found is None:
            raise StoreError(f"the class {name} is gone: what is stored needs it")
        return found

    def _patches(self, patches: Iterable[str], where: str) -> Iterable[Any]:
        waiting = iter(patches)
        while texts := list(islice(waiting, _AT_ONCE)):
            try:
                found = self._raw(f"[{','.join(texts)}]")
            except Exception:
                found = []
            if len(found) == len(texts):
                yield from found
            else:  # one of them is at fault: by itself it says what it is
                for text in texts:
                    yield _parsed(self._raw, text, where)

    def _check_names(self, values: Mapping[str, Any], where: str) -> None:
        for name in values:
            if type(name) is not str or name[:1] in ("$", "+", ""):
                raise NotSerialisable(f"{where}.{name}", type_name(type(name)), "no field can have this name")
            try:
                name.encode()
            except UnicodeEncodeError:
                raise NotSerialisable(f"{where}.{name!r}", "str", "no field can have this name") from None
            self._names.add(name)

    def _text(self, make: Callable[[Writer], Any], where: str) -> str:
        for careful in (False, True):
            writer = Writer(self._classes, careful=careful)
            try:
                text = dumps(make(writer))
                if not text.isascii():
                    text.encode()
            except Unstorable as error:
                raise NotSerialisable(where + writer.place, type_name(error.kind), error.reason) from None
            except RecursionError:
                raise NotSerialisable(where + writer.place, "object", "it is nested too deeply") from None
            except Exception as error:  # a number or a text that JSON has not, or what code of a class raised
                if careful:
                    reason = f"{type(error).__name__}: {error}"
                    raise NotSerialisable(where + writer.place, "object", reason) from error
            else:
                return text
        raise AssertionError("a careful writer either returns or raises")


_EMPTY: Log[Any] = Log()


def _plain_text(value: Any) -> str | None:
    """Return plain atoms as JSON, or None where one is a number or a text that JSON has not."""
    try:
        text = dumps(value)
        if not text.isascii():
            text.encode()
    except ValueError:
        return None
    return text


def _fields(writer: Writer, values: Mapping[str, Any], before: Mapping[str, Any], secret: frozenset[str]) -> Any:
    grown: dict[str, Any] = {}
    others: list[tuple[str, Any]] = []
    for name, value in values.items():
        old = before.get(name)
        added = value.appended(old) if type(value) is Log and type(old) is Log and name not in secret else None
        if added is None:
            others.append((name, value))
        else:
            grown[f"+{name}"] = added
    trees = writer.fields(others, secret)
    for name, added in grown.items():
        trees[name] = writer.appended(name[1:], added)
    return trees


def _fields_of(found: Any, where: str) -> Iterable[tuple[str, Any]]:
    if type(found) is not dict:
        raise StoreError(f"{where}: what is stored is not the fields of a state")
    return found.items()


def _named(found: Any, where: str) -> Iterable[tuple[str, Any]]:
    """Return fields whose values were read: what stood under a tag may have keys of any type."""
    fields = _fields_of(found, where)
    if all(type(name) is str for name in found):
        return fields
    raise StoreError(f"{where}: what is stored is not the fields of a state")


def _parsed(parse: Callable[[Any], Any], text: Any, where: str) -> Any:
    try:
        return parse(text)
    except Unreadable as error:
        raise StoreError(f"{where}: what is stored cannot be read: {error}") from None
    except RecursionError:
        raise StoreError(f"{where}: what is stored cannot be read: it is nested too deeply") from None
    except Exception as error:  # whatever text stands there, it is a text that no value was written as
        raise StoreError(f"{where}: what is stored cannot be read: {type(error).__name__}: {error}") from None


def _no_constant(name: str) -> Any:
    raise Unreadable(f"{name} is no number of JSON")
