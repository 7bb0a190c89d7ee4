"""The shape of what is presented. Whoever made it: any object of this shape will do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["PresentableAnswer", "PresentableCitation", "PresentableResult"]


class PresentableCitation(Protocol):
    """Where a text is taken from."""

    @property
    def source(self) -> str:
        """What is cited: a package, a book, a page."""
        ...

    @property
    def where(self) -> str:
        """The place in it."""
        ...


class PresentableAnswer(Protocol):
    """How one item ended."""

    @property
    def item_id(self) -> str:
        """The id by which the question of the item is found."""
        ...

    @property
    def status(self) -> str:
        """`answered`, `fallback` or `blocked`."""
        ...

    @property
    def text(self) -> str:
        """What is said; nothing when blocked."""
        ...

    @property
    def citations(self) -> Sequence[PresentableCitation]:
        """What the text rests on."""
        ...

    @property
    def reason(self) -> str:
        """Why the item was not answered."""
        ...


class PresentableResult(Protocol):
    """The answers of one run."""

    @property
    def items(self) -> Sequence[PresentableAnswer]:
        """The answers in the order in which they are shown."""
        ...
