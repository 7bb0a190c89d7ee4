"""The log: an append-only sequence whose draft, append, drop and patch cost the same at any length.

Every view of a log shows a stretch of a segment, and of the segments that it grew out of. Appending goes to a
tail of the view; a commit moves the tail to the end of the segment. Where another view was there first, as beside
another branch, it begins a segment of its own, and copies nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, Self, TypeVar, get_args, overload

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

__all__ = ["Log"]

ItemT = TypeVar("ItemT")


class _Segment(Generic[ItemT]):
    """A list that only grows, and where in another segment it goes on from."""

    __slots__ = ("items", "offset", "parent", "parent_length")

    def __init__(self, items: list[ItemT], parent: _Segment[ItemT] | None = None, parent_length: int = 0) -> None:
        self.items = items
        self.parent = parent
        self.parent_length = parent_length
        self.offset: int = 0 if parent is None else parent.offset + parent_length


class Log(Sequence[ItemT], Generic[ItemT]):
    """A sequence that only grows, for histories and messages. Its items must not be changeable.

    As a field of a state it costs the same in each visit, however long it is. It validates its items and dumps
    as a list. Two branches may both append: the join keeps both, in declared order.

        >>> log = Log([1, 2])
        >>> log.append(3)
        >>> list(log), log[-1], len(log)
        ([1, 2, 3], 3, 3)
    """

    __slots__ = ("_fresh", "_length", "_segment", "_tail")

    def __init__(self, items: Iterable[ItemT] = ()) -> None:
        self._segment: _Segment[ItemT] = _Segment(list(items))
        self._length = len(self._segment.items)
        self._tail: list[ItemT] = []
        self._fresh = 0

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
        return self._segment.offset + self._length + len(self._tail)

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
        segment: _Segment[ItemT] | None = self._segment
        if position >= self._segment.offset + self._length:
            return self._tail[position - self._segment.offset - self._length]
        while segment is not None and position < segment.offset:
            segment = segment.parent
        assert segment is not None  # the first segment begins at zero
        return segment.items[position - segment.offset]

    def __iter__(self) -> Iterator[ItemT]:
        for segment, length in reversed(list(self._stretches())):
            yield from islice(segment.items, length)
        yield from self._tail

    def __reversed__(self) -> Iterator[ItemT]:
        return (self[position] for position in range(len(self) - 1, -1, -1))

    def is_same_view(self, other: Log[ItemT]) -> bool:
        """Return whether both show the same stretch of the same segment."""
        same = self._segment is other._segment and self._length == other._length
        return same and not (self._tail or other._tail)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Log):
            return NotImplemented
        if self.is_same_view(other):
            return True
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return f"Log({list(self)!r})"

    def __copy__(self) -> Self:
        return self.draft()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__class__(self)

    def __reduce__(self) -> tuple[type[Self], tuple[list[ItemT]]]:
        return self.__class__, (list(self),)

    def draft(self) -> Self:
        """Return a view of the same items that can be appended to without this one seeing it."""
        if self._tail:
            self._settle()
        made = self.__class__.__new__(self.__class__)
        made._segment, made._length = self._segment, self._length
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
        end = self._segment.offset + self._length
        return self[end - self._fresh : end] if self._fresh else []

    def appended(self, before: Log[ItemT]) -> list[ItemT] | None:
        """Return the items that this view adds to `before`, or None if it does not continue it."""
        if before._tail:
            return None
        stretches: list[list[ItemT]] = [self._tail]
        for segment, length in self._stretches():
            if segment is before._segment:
                if length < before._length:
                    return None
                stretches.append(segment.items[before._length : length])
                return [item for stretch in reversed(stretches) for item in stretch]
            stretches.append(segment.items[:length])
        return None

    def _stretches(self) -> Iterator[tuple[_Segment[ItemT], int]]:
        """Yield what this view shows of each segment, the last one first."""
        segment: _Segment[ItemT] | None = self._segment
        length = self._length
        while segment is not None:
            yield segment, length
            length, segment = segment.parent_length, segment.parent

    def _settle(self) -> None:
        """Move the tail to the end of the segment, or to a segment of its own where another view went on first."""
        if len(self._segment.items) != self._length:
            self._segment = _Segment([], self._segment, self._length)
        self._segment.items.extend(self._tail)
        self._length = len(self._segment.items)
        self._tail = []

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        arguments = get_args(source)
        items = handler.generate_schema(list[arguments[0]] if arguments else list[Any])  # type: ignore[valid-type]

        def validate(value: Any, check: core_schema.ValidatorFunctionWrapHandler) -> Any:
            return cls(check(list(value) if isinstance(value, Log) else value))

        plain = core_schema.plain_serializer_function_ser_schema(list, return_schema=items)
        return core_schema.no_info_wrap_validator_function(validate, items, serialization=plain)
