"""Outcomes: the explicit word with which a node ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Never, final, overload

from .types import LabelT, ResultT

__all__ = ["Complete", "Continue", "Outcome"]


class Outcome(Generic[LabelT, ResultT]):
    """What a node returns: `Continue` or `Complete`. Only these two are outcomes."""

    __slots__ = ()


@final
class Continue(Outcome[LabelT, Never]):
    """Go on: without a label to the node's one next node, with a label to the node routed under it.

    `why` holds the values that decided the label. It is kept in the trace and shown beside the route.

        >>> Continue("poor", why={"length": 3})
        Continue('poor', why={'length': 3})
    """

    __slots__ = ("label", "why")
    label: LabelT
    why: Mapping[str, object] | None

    @overload
    def __init__(self: Continue[None], /, *, why: Mapping[str, object] | None = None) -> None: ...
    @overload
    def __init__(self, label: LabelT, /, *, why: Mapping[str, object] | None = None) -> None: ...
    def __init__(self, label: Any = None, /, *, why: Mapping[str, object] | None = None) -> None:
        self.label = label
        self.why = why

    def __repr__(self) -> str:
        parts = [] if self.label is None else [repr(self.label)]
        if self.why is not None:
            parts.append(f"why={self.why!r}")
        return f"Continue({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Continue) and (self.label, self.why) == (other.label, other.why)

    def __hash__(self) -> int:
        return hash((Continue, self.label))


@final
class Complete(Outcome[Never, ResultT]):
    """End the flow with a value. Any value completes, `None` and other falsy ones included.

    >>> Complete(0)
    Complete(0)
    """

    __slots__ = ("value",)
    value: ResultT

    def __init__(self, value: ResultT, /) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Complete({self.value!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Complete) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash((Complete, self.value))
