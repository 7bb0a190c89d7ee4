"""The function: a definition that is one Python function of one step."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..outcome import Complete, Continue
from ..step import Step
from .signature import Signature, innermost

__all__ = ["Function", "Verify", "is_async", "only_outcome"]

Verdict = bool | Continue[Any] | Complete[Any] | None
Verify = Callable[[Step[Any, Any]], Verdict | Awaitable[Verdict]]
"""Looks whether interrupted work was done: True, or the outcome; False; None if it cannot tell."""


@dataclass(frozen=True, slots=True)
class Function:
    """A node that is a function of one step."""

    kind: ClassVar[str] = "function"
    is_composite: ClassVar[bool] = False

    fn: Callable[..., Any]
    starts_round: bool | None = None
    effects: bool = False
    writes: tuple[str, ...] | None = None
    description: str = ""
    signature: Signature = field(default_factory=Signature, compare=False)
    is_async: bool = field(default=True, compare=False)
    verify: Verify | None = None
    """What looks whether interrupted work was done."""

    @property
    def passable(self) -> bool:
        """A function pays by itself, or not at all."""
        return True

    def wanted_deps(self) -> Iterator[tuple[str, Any]]:
        """Yield what the annotation of its step wants."""
        yield "", self.signature.deps


def is_async(fn: Callable[..., Any]) -> bool:
    """Return whether a call of `fn` gives something to await: a decorated async function is taken as one too."""
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(innermost(fn))


def only_outcome(signature: Signature) -> Continue[Any] | Complete[Any] | None:
    """Return the outcome of a node that has no other: what True stands for. None where there are several."""
    ways: list[Continue[Any] | Complete[Any]] = [Continue(label) for label in signature.labels]
    ways += [Continue()] if signature.plain else []
    if any(result is not type(None) and result is not None for result in signature.results):
        return None
    ways += [Complete(None)] if signature.results else []
    return ways[0] if len(ways) == 1 else None
