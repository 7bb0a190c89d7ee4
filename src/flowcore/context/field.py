"""The field: the place in a state that messages stand in, read and written by a context node."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Never, cast

from ..errors import ContractError
from ..events import ContextCompacted
from ..graph import Node, node
from ..messages import Message
from ..outcome import Continue
from ..state import Log
from ..state.shape import field_types, is_state_type
from ..step import Step
from ..types import StateT, type_name
from ..visit_host import inside
from .size import Count, tokens_of

__all__ = ["Shorten", "context_node", "tell_compacted"]

Shorten = Callable[[list[Message]], Awaitable[Sequence[Message]]]
"""Makes fewer messages, or shorter ones, of those given; the same ones where nothing is to do."""


def context_node(
    state: type[StateT], id: str, description: str, shorten: Shorten, *, field: str, into: str, count: Count
) -> Node[StateT, object, None, Never]:
    """Make a node that puts what `shorten` makes of the messages in `field` into `into`, and tells the sizes.

    Raises `ContractError` if the state has no such field.
    """
    for name in (field, into):
        _refuse_unknown(state, id, name)

    async def work(step: Step[StateT]) -> Continue:
        messages = _messages(step.state, id, field)
        shorter = list(await shorten(messages))
        if shorter != messages:
            tell_compacted(step, id, field, messages, shorter, count)
        if shorter != messages or into != field:
            setattr(step.state, into, _like(getattr(step.state, into), shorter))
        return Continue()

    work.__annotations__["step"] = cast(Any, Step)[state]  # the type at hand, in the place of the variable
    return node(id=id, starts_round=False, writes=(into,), description=description)(work)


def _refuse_unknown(state: Any, id: str, name: str) -> None:
    if is_state_type(state) and name not in (fields := field_types(state)):
        raise ContractError(
            f"{id}: {type_name(state)} has no field {name!r}; name the one with the messages"
            f" (it has {', '.join(fields) or 'none'})"
        )


def _messages(state: object, id: str, field: str) -> list[Message]:
    value = getattr(state, field)
    if isinstance(value, Log | list | tuple) and all(isinstance(message, Message) for message in value):
        return list(value)
    raise ContractError(
        f"{id}: the field {field!r} holds no messages; declare it as Log[Message] or list[Message]"
    )


def _like(before: object, messages: list[Message]) -> Any:
    """Return messages as the kind of sequence that stood there before."""
    if isinstance(before, Log):
        return Log(messages)
    return tuple(messages) if isinstance(before, tuple) else messages


def tell_compacted(
    step: Step[Any],
    how: str,
    field: str,
    before: Sequence[Message],
    after: Sequence[Message],
    count: Count = tokens_of,
) -> None:
    """Tell that messages became fewer or shorter: the event `context.compacted`, with the sizes of both."""
    visit = inside(step.scope)
    if visit is not None:
        visit.host.note(
            visit.where,
            ContextCompacted,
            how=how,
            field=field,
            messages_before=len(before),
            messages_after=len(after),
            tokens_before=count(before),
            tokens_after=count(after),
        )
