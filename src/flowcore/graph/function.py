"""The function: a definition that is one Python function of one step."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .signature import Signature, innermost

__all__ = ["Function", "is_async"]


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
