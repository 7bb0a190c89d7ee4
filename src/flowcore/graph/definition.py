"""The definition: what stands behind a node, apart from how a flow uses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Protocol

from .signature import Signature

__all__ = ["Composite", "Definition"]


class Definition(Protocol):
    """What every kind of node tells of itself."""

    kind: ClassVar[str]
    is_composite: ClassVar[bool]
    """Whether other nodes stand inside."""

    @property
    def fn(self) -> Callable[..., Any] | None:
        """The function to call; None for a composite."""
        ...

    @property
    def is_async(self) -> bool:
        """Whether a call gives something to await."""
        ...

    @property
    def signature(self) -> Signature:
        """What its annotations say."""
        ...

    @property
    def description(self) -> str:
        """A sentence for readers and diagrams."""
        ...

    @property
    def starts_round(self) -> bool | None:
        """Whether each entry costs a round; None is for the flow to settle."""
        ...

    @property
    def effects(self) -> bool:
        """Whether it changes something outside."""
        ...

    @property
    def writes(self) -> tuple[str, ...] | None:
        """The state fields it may change; None means any."""
        ...

    @property
    def passable(self) -> bool:
        """Whether it can be passed without a round being paid inside it."""
        ...

    def wanted_deps(self) -> Iterator[tuple[str, Any]]:
        """Yield what it and its insides want as deps, by path below it."""
        ...


class Composite:
    """What is the same for every definition in which other nodes stand: they do the work, not it."""

    __slots__ = ()

    @property
    def fn(self) -> None:
        """There is no function to call."""
        return None

    @property
    def is_async(self) -> bool:
        """A walk is always awaited."""
        return True

    @property
    def starts_round(self) -> bool | None:
        """The nodes inside start the rounds."""
        return False

    @property
    def effects(self) -> bool:
        """The nodes inside have the effects."""
        return False

    @property
    def writes(self) -> tuple[str, ...] | None:
        """Any field."""
        return None
