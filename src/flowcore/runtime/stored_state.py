"""The stored state: that of one walk, loaded into today's type, or made into it by the flow's `upgrade`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import FlowcoreError, StoreError
from ..state import Codec, Shape, Values, plain_fields, same, shape_of
from ..store import VisitRow
from ..types import type_name
from .fitting import fitted

__all__ = ["MISSING", "Loaded", "Misfit", "StateType", "StoredState"]

Upgrade = Callable[[dict[str, Any], str], Any]


class Misfit(Exception):
    """Raised for a stored state that is none of today's; says all that does not fit."""

    def __init__(self, *faults: str) -> None:
        self.faults = faults
        super().__init__(*faults)


class StateType(NamedTuple):
    """Of which type the state of a walk was, and is: `name` is the class as stored, `today` what is wanted now.

    `fields` is what was declared of it then, if that is known; `upgrade` makes a state of today, if need be.
    """

    name: str
    today: type[Any] | None
    fields: Mapping[str, str] | None = None
    upgrade: Upgrade | None = None

    def find(self, codec: Codec) -> Shape:
        """Return the shape of the state as it was stored. Raises `Misfit`."""
        today: Any = self.today
        if today is not None and codec.name_of(today) == self.name:
            return shape_of(today)
        try:
            found: Any = codec.find(self.name)
        except StoreError:
            found = None
        if found is None or (self.today is not None and not issubclass(found, self.today)):
            now = "another class" if today is None else codec.name_of(today).replace(":", ".")
            gone = ", which is not found here" if found is None else ""
            raise Misfit(f"it was of {self.name.replace(':', '.')}{gone}, and is of {now} today")
        return shape_of(found)


class Loaded(NamedTuple):
    """A state of today: `start` is what it was where the trace in memory begins.

    `is_new` says that what is stored of it is not what it is: it has to be written again.
    """

    shape: Shape
    start: Values
    values: Values
    is_new: bool = False
    is_missing: bool = False


@dataclass
class _Nothing:
    """The state of nothing."""


MISSING = Loaded(shape_of(_Nothing), {}, {}, is_missing=True)
"""Stands for a state that is none of today's."""


class StoredState:
    """What is stored of the state of a walk: what it began with, and what its visits changed."""

    def __init__(self, codec: Codec, start: str | StoredState, rows: Sequence[VisitRow], path: str) -> None:
        self._codec = codec
        self._start = start
        self._patched = [row for row in rows if row.patch]
        self._text: str | None = None
        self.path = path

    @property
    def text(self) -> str:
        """The fields as they are, as stored text."""
        if self._text is None:
            start = self._start if isinstance(self._start, str) else self._start.text
            patches = [row.patch for row in self._patched]
            self._text = self._codec.fold_text(start, patches, self._where)
        return self._text

    @property
    def _where(self) -> str:
        return self.path or "state"

    def load(self, of: StateType, around: Loaded | None, cut: int) -> Loaded:
        """Return the state as one of today. Raises `Misfit` if it is none and nothing makes it one.

        `around` is the state that the walk shares, if it does; `cut` is where the trace in memory begins.
        """
        faults: tuple[str, ...]
        try:
            shape = around.shape if around is not None else of.find(self._codec)
            start, values = self._read(around, cut)
            found = fitted(shape, values, of.fields)
            faults = found.faults
            if not faults:
                values = _sharing(found.values, around)
                is_new = found.is_filled or (around is not None and around.is_new)
                return Loaded(shape, values if is_new else start, values, is_new)
        except Misfit as misfit:
            faults = misfit.faults
        except StoreError as error:
            faults = (str(error),)
        if of.upgrade is None:
            raise Misfit(*faults)
        return self._upgraded(of, of.upgrade, around)

    def _read(self, around: Loaded | None, cut: int) -> tuple[Values, Values]:
        """Return the state where the trace in memory begins, and as it is. Raises `StoreError`."""
        codec, where = self._codec, self._where
        old = [row.patch for row in self._patched if row.seq < cut]
        if isinstance(self._start, str):
            start = codec.fold(self._start, old, where)
        elif around is None or around.is_new:
            start = codec.decode_fields(self.text, where)
            return start, start
        else:
            start = dict(around.values)
            for patch in old:
                codec.apply(start, patch, where)
        values = dict(start)
        for row in self._patched:
            if row.seq >= cut:
                codec.apply(values, row.patch, where)
        return start, values

    def _upgraded(self, of: StateType, upgrade: Upgrade, around: Loaded | None) -> Loaded:
        today = around.shape.cls if around is not None else of.today
        try:
            state = upgrade(plain_fields(self.text, self._where), self.path)
            if today is not None and not isinstance(state, today):
                raise Misfit(f"upgrade returned {type_name(type(state))}, not {type_name(today)}")
            kind: Any = type(state)
            shape = shape_of(kind)
            values = _sharing(shape.values(state), around)
        except Misfit:
            raise
        except FlowcoreError as error:
            raise Misfit(f"upgrade did not help: {error}") from error
        except Exception as error:
            raise Misfit(f"upgrade raised {type(error).__name__}: {error}") from error
        return Loaded(shape, values, values, is_new=True)


def _sharing(values: Values, around: Loaded | None) -> Values:
    """Return values that are the very ones of the state around where they are the same: they were not written."""
    if around is None:
        return values
    shared = around.values
    return {
        name: shared[name] if name in shared and same(shared[name], value) else value
        for name, value in values.items()
    }
