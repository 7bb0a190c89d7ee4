"""Atoms: values without parts, that JSON does not hold as they are, and how each is told in those that it does."""

from __future__ import annotations

import base64
import datetime
import decimal
import fractions
import pathlib
import re
import uuid
import zoneinfo
from collections.abc import Callable
from typing import Any, Final

from pydantic_core import TzInfo

__all__ = ["ATOM_READERS", "ATOM_WRITERS", "PLAIN", "plain_atom"]

PLAIN: Final = frozenset({type(None), bool, int, float, str})
"""Types that JSON holds as they are, but for a few values."""
_LONGEST_INT = 13_000
"""The bits of an integer that Python still reads as decimals."""
_SURROGATE = re.compile("[\ud800-\udfff]")

Writer = Callable[[Any], Any]
Reader = Callable[[Any], Any]


def plain_atom(value: Any) -> Any:
    """Return a value of one of the `PLAIN` types as JSON can hold it."""
    kind = type(value)
    if kind is str and not value.isascii() and _SURROGATE.search(value):
        return {"$str": base64.b64encode(value.encode("utf-8", "surrogatepass")).decode()}
    if kind is int and value.bit_length() > _LONGEST_INT:
        return {"$int": hex(value)}
    if kind is float and value - value != 0:  # an infinity, or no number
        return {"$float": repr(value)}
    return value


def _write_datetime(value: datetime.datetime) -> Any:
    zone = value.tzinfo
    if zone is None and not value.fold:
        return value.isoformat()
    if type(zone) is datetime.timezone and not value.fold:
        offset, *name = _zone_parts(zone)
        if not name and not offset.microseconds:  # which would be read as those of no offset
            return value.isoformat()
    return [value.replace(tzinfo=None, fold=0).isoformat(), zone, value.fold]


def _read_datetime(told: Any) -> datetime.datetime:
    if isinstance(told, str):
        return datetime.datetime.fromisoformat(told)
    text, zone, fold = told
    return datetime.datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold)


def _write_time(value: datetime.time) -> Any:
    if value.tzinfo is None and not value.fold:
        return value.isoformat()
    return [value.replace(tzinfo=None, fold=0).isoformat(), value.tzinfo, value.fold]


def _read_time(told: Any) -> datetime.time:
    if isinstance(told, str):
        return datetime.time.fromisoformat(told)
    text, zone, fold = told
    return datetime.time.fromisoformat(text).replace(tzinfo=zone, fold=fold)


def _zone_parts(zone: datetime.timezone) -> tuple[Any, ...]:
    """Return the offset of a zone and, if it was given one, its name."""
    made: Any = zone
    parts: tuple[Any, ...] = made.__getinitargs__()
    return parts


def _write_zone(zone: zoneinfo.ZoneInfo) -> Any:
    key: Any = zone.key
    if key is None:
        raise ValueError("a time zone without a key")
    return key


def _write_pattern(value: re.Pattern[Any]) -> Any:
    if value.flags & re.DEBUG:
        raise ValueError("a pattern with re.DEBUG")
    return [value.pattern, value.flags]


def _read_pattern(told: Any) -> re.Pattern[Any]:
    pattern, flags = told
    if flags & re.DEBUG:
        raise ValueError("a pattern with re.DEBUG")
    return re.compile(pattern, flags)


def _unhex(told: Any) -> int:
    return int(told, 16)


def _text(told: Any) -> str:
    return base64.b64decode(told, validate=True).decode("utf-8", "surrogatepass")


def _unbase64(told: Any) -> bytes:
    return base64.b64decode(told, validate=True)


def _base64(value: Any) -> str:
    return base64.b64encode(value).decode()


_PATHS: Final[dict[str, type[pathlib.PurePath]]] = {
    kind.__name__: kind
    for kind in (pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.PosixPath, pathlib.WindowsPath)
}


def _read_path(told: Any) -> pathlib.PurePath:
    kind, text = told
    return _PATHS[kind](text)


def _as_text(told: Any) -> str:
    if type(told) is not str:
        raise TypeError("text is wanted")
    return told


ATOM_WRITERS: Final[dict[type, tuple[str, Writer]]] = {
    complex: ("$complex", lambda value: [value.real, value.imag]),
    bytes: ("$bytes", _base64),
    bytearray: ("$bytearray", _base64),
    decimal.Decimal: ("$decimal", str),
    fractions.Fraction: ("$fraction", lambda value: [value.numerator, value.denominator]),
    uuid.UUID: ("$uuid", str),
    datetime.date: ("$date", datetime.date.isoformat),
    datetime.datetime: ("$datetime", _write_datetime),
    datetime.time: ("$time", _write_time),
    datetime.timedelta: ("$timedelta", lambda value: [value.days, value.seconds, value.microseconds]),
    datetime.timezone: ("$timezone", lambda value: list(_zone_parts(value))),
    zoneinfo.ZoneInfo: ("$zone", _write_zone),
    TzInfo: ("$offset", lambda value: value.utcoffset(None)),
    re.Pattern: ("$pattern", _write_pattern),
    **{kind: ("$path", lambda value: [type(value).__name__, str(value)]) for kind in _PATHS.values()},
}
"""How each type is told: its tag, and what stands under it."""

ATOM_READERS: Final[dict[str, Reader]] = {
    "$str": _text,
    "$int": _unhex,
    "$float": lambda told: float(_as_text(told)),
    "$complex": lambda told: complex(*told),
    "$bytes": _unbase64,
    "$bytearray": lambda told: bytearray(_unbase64(told)),
    "$decimal": lambda told: decimal.Decimal(_as_text(told)),
    "$fraction": lambda told: fractions.Fraction(*told),
    "$uuid": uuid.UUID,
    "$date": datetime.date.fromisoformat,
    "$datetime": _read_datetime,
    "$time": _read_time,
    "$timedelta": lambda told: datetime.timedelta(*told),
    "$timezone": lambda told: datetime.timezone(*told),
    "$zone": lambda told: zoneinfo.ZoneInfo(_as_text(told)),
    "$offset": lambda told: TzInfo(told.total_seconds()),
    "$pattern": _read_pattern,
    "$path": _read_path,
}
