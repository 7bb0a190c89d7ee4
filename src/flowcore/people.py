"""People: nodes that ask somebody, for consent or for an answer, and wait."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, Never, overload

from typing_extensions import TypeVar

from .graph import Approve, Asking, Node, Signature, check_seconds, state_hint
from .requests import Approval
from .state.shape import is_state_type
from .types import StateT

__all__ = ["approve", "ask"]

FilledT = TypeVar("FilledT")
"""What a person fills in."""


@overload
def approve(
    id: str,
    /,
    *,
    show: Callable[[StateT], object],
    form: None = None,
    take: Callable[[StateT, Approval[None]], None] | None = None,
    expires: float = 300,
    starts_round: bool = False,
    description: str = "",
) -> Node[StateT, object, Literal["approved", "denied", "expired"], Never]: ...
@overload
def approve(
    id: str,
    /,
    *,
    show: Callable[[StateT], object],
    form: type[FilledT],
    take: Callable[[StateT, Approval[FilledT]], None] | None = None,
    expires: float = 300,
    starts_round: bool = False,
    description: str = "",
) -> Node[StateT, object, Literal["approved", "denied", "expired"], Never]: ...
def approve(
    id: str,
    /,
    *,
    show: Callable[[Any], object],
    form: type[Any] | None = None,
    take: Callable[[Any, Any], None] | None = None,
    expires: float = 300,
    starts_round: bool = False,
    description: str = "",
) -> Any:
    """Return a node that asks a person for consent and waits: `approved`, `denied`, or `expired`.

    Where `expired` has no route, no answer in time takes that of `denied`. Waiting counts against no timeout and
    no limit of seconds.

    Args:
        id: The node's id.
        show: Makes of the state what the person is shown: text, a model or a dataclass. Synchronous.
        form: A model or dataclass to fill in beside the consent. Whoever denies may leave it out.
        take: Takes a draft of the state and the `Approval`, and changes the draft by it. Synchronous; not called
            when nobody answered.
        expires: For how many seconds an answer counts.
        starts_round: Whether each entry costs a round.
        description: The question, for people and diagrams. Without it the question is the text that is shown, or
            the node's id.

    Raises:
        TypeError: `show` or `take` cannot be called, the form is no model, or `expires` is no number.
        ValueError: `expires` is not above zero, or without end.
    """
    where = f"approve({id!r}"
    if form is not None and not is_state_type(form):
        raise TypeError(f"{where}, form={form!r}): give a pydantic model or a dataclass, or leave it out")
    _check(where, expires, show=show, **({} if take is None else {"take": take}))
    signature = Signature(
        state_hint(show, take),
        labels=("approved", "denied", "expired"),
        stand_ins=(("expired", "denied"),),
    )
    return Node(Approve(show, form, take, float(expires), starts_round, description, signature), id)


def ask(
    id: str,
    /,
    *,
    show: Callable[[StateT], object],
    form: type[FilledT],
    take: Callable[[StateT, FilledT], None],
    expires: float = 300,
    starts_round: bool = False,
    description: str = "",
) -> Node[StateT, object, Literal["answered", "expired"], Never]:
    """Return a node that asks a person a question and waits: `answered`, or `expired`.

    Waiting counts against no timeout and no limit of seconds. An answer that does not fit the form is refused, and
    the question goes on waiting.

    Args:
        id: The node's id.
        show: Makes of the state what the person is shown: text, a model or a dataclass. Synchronous.
        form: A model or dataclass that the person fills in, or `str` for a text.
        take: Takes a draft of the state and the form as filled in, and changes the draft by it. Synchronous; not
            called when nobody answered.
        expires: For how many seconds an answer counts.
        starts_round: Whether each entry costs a round.
        description: The question, for people and diagrams. Without it the question is the text that is shown, or
            the node's id.

    Raises:
        TypeError: `show` or `take` cannot be called, the form is no model, or `expires` is no number.
        ValueError: `expires` is not above zero, or without end.
    """
    where = f"ask({id!r}"
    if form is not str and not is_state_type(form):
        raise TypeError(f"{where}, form={form!r}): give a pydantic model, a dataclass or str")
    _check(where, expires, show=show, take=take)
    signature = Signature(state_hint(show, take), labels=("answered", "expired"))
    return Node(Asking(show, form, take, float(expires), starts_round, description, signature), id)


def _check(where: str, expires: Any, **functions: Any) -> None:
    for name, fn in functions.items():
        if not callable(fn):
            raise TypeError(f"{where}, {name}={fn!r}): give a function")
    if expires is None or expires == math.inf:
        raise ValueError(f"{where}, expires={expires!r}): give a number of seconds; nobody waits without end")
    check_seconds(f"{where}, expires={expires!r})", expires)
