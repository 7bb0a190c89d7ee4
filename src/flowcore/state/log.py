"""The log: an append-only sequence whose draft, append, drop and patch cost the same at any length.

Every view of a log shares one list and knows how much of it is its own. Appending goes to a tail of the view; a
commit moves the tail to the shared list if this view reaches its end. Where another view was there first, as
beside another branch, it begins a list of its own on top of the shared one, and copies nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, Self, TypeVar, get_args, overload

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

__all__ = ["Log"]

ItemT = TypeVar("ItemT")
_NOTHING: list[Any] = []
"""The base of a log that has none. Nothing is ever put into it."""


class Log(Sequence[ItemT], Generic[ItemT]):
    """A sequence that only grows, for histories and messages. Its items must not be changeable.

    As a field of a state it costs the same in each visit, however long it is. It validates its items and dumps
    as a list. Two branches may both append: the join keeps both, in declared order.

        >>> log = Log([1, 2])
        >>> log.append(3)
        >>> list(log), log[-1], len(log)
        ([1, 2, 3], 3, 3)
    """

    __slots__ = ("_base", "_base_length", "_fresh", "_length", "_origin", "_shared", "_tail")

    def __init__(self, items: Iterable[ItemT] = ()) -> None:
        self._base: list[ItemT] = _NOTHING
        self._base_length = 0
        self._shared: list[ItemT] = list(items)
        self._length = len(self._shared)
        self._tail: list[ItemT] = []
        self._fresh = 0
        self._origin: tuple[list[ItemT], int] = (self._shared, self._length)

    def append(self, item: ItemT) -> None:
        """Add an item at the end."""
        self._tail.append(item)

    def extend(self, items: Iterable[ItemT]) -> None:
        """Add several items at the end, in their order."""
        self._tail.extend(items)

    def __iadd__(self, items: Iterable[ItemT]) -> Self:
        self._tail.extend(items)
        return self

    def __len__(self) -> int:
        return self._base_length + self._length + len(self._tail)

    @overload
    def __getitem__(self, index: int) -> ItemT: ...
    @overload
    def __getitem__(self, index: slice) -> list[ItemT]: ...
    def __getitem__(self, index: int | slice) -> ItemT | list[ItemT]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"log index {index} out of range: the log has {len(self)} items")
        if position < self._base_length:
            return self._base[position]
        position -= self._base_length
        return self._shared[position] if position < self._length else self._tail[position - self._length]

    def __iter__(self) -> Iterator[ItemT]:
        yield from islice(self._base, self._base_length)
        yield from islice(self._shared, self._length)
        yield from self._tail

    def is_same_view(self, other: Log[ItemT]) -> bool:
        """Return whether both show the same stretch of the same shared list."""
        mine = (self._shared, self._length, self._base_length)
        same = self._shared is other._shared and mine[1:] == (other._length, other._base_length)
        return same and not (self._tail or other._tail)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Log):
            return NotImplemented
        if self.is_same_view(other):
            return True
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return f"Log({list(self)!r})"

    def draft(self) -> Self:
        """Return a view of the same items that can be appended to without this one seeing it."""
        if self._tail:
            self._settle()
        made = self.__class__.__new__(self.__class__)
        made._base, made._base_length = self._base, self._base_length
        made._shared, made._length = self._shared, self._length
        made._origin = self._origin
        made._tail = []
        made._fresh = self._fresh
        return made

    def settled(self) -> Self:
        """Return a view of these items that remembers which of them were appended to this one."""
        added = len(self._tail)
        made = self.draft()
        made._fresh = added
        return made

    def since(self, before: Log[ItemT]) -> Self:
        """Return a view of these items that remembers which of them were appended to `before`."""
        added = self.appended(before)
        made = self.draft()
        made._fresh = len(added) if added is not None else 0
        return made

    @property
    def fresh(self) -> list[ItemT]:
        """The items that were appended last, in the visit whose patch this is."""
        end = self._base_length + self._length
        return self[end - self._fresh : end] if self._fresh else []

    def appended(self, before: Log[ItemT]) -> list[ItemT] | None:
        """Return the items that this view adds to `before`, or None if it does not continue it."""
        if before._tail:
            return None
        start = before._length
        if self._base_length == before._base_length and self._base is before._base:
            origin, length = self._origin
            goes_on = self._shared is before._shared and self._length >= start
            if goes_on or (origin is before._shared and length >= start):
                return [*self._shared[start : self._length], *self._tail]
        if self._base is before._shared and not before._base_length and self._base_length >= start:
            return [*self._base[start : self._base_length], *self._shared[: self._length], *self._tail]
        return None

    def _settle(self) -> None:
        """Move the tail to the shared list; where another view went on from here first, begin a list beside it."""
        if len(self._shared) != self._length:
            if self._base_length:
                self._origin = (self._shared, self._length)
                self._shared = self._shared[: self._length]
            else:
                self._base, self._base_length = self._shared, self._length
                self._shared, self._length = [], 0
                self._origin = (self._shared, 0)
        self._shared.extend(self._tail)
        self._length = len(self._shared)
        self._tail = []

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        arguments = get_args(source)
        items = handler.generate_schema(list[arguments[0]] if arguments else list[Any])  # type: ignore[valid-type]

        def validate(value: Any, check: core_schema.ValidatorFunctionWrapHandler) -> Any:
            return cls(check(list(value) if isinstance(value, Log) else value))

        plain = core_schema.plain_serializer_function_ser_schema(list, return_schema=items)
        return core_schema.no_info_wrap_validator_function(validate, items, serialization=plain)
