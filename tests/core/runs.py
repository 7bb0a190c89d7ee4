"""Small flows for tests: made of functions that know nothing of annotations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any

from flowcore import Complete, Continue, Flow, Node, Step, node

Act = Callable[[Any], Awaitable[Any] | Any]


class Boom(Exception):
    """What a node raises where any error will do."""


def does(act: Act, id: str, state: type, outcome: Any = Continue, **options: Any) -> Node[Any, Any, Any, Any]:
    """Returns a node that calls `act(step)`, and returns `Continue()` unless `act` returns something."""

    async def function(step: Any) -> Any:
        returned = act(step)
        if isawaitable(returned):
            returned = await returned
        return Continue() if returned is None and outcome is Continue else returned

    function.__annotations__.update(step=Step[state], **{"return": outcome})  # type: ignore[valid-type]
    return node(id=id, **options)(function)


def ends(state: type, value: Callable[[Any], Any] = lambda step: step.error) -> Node[Any, Any, Any, Any]:
    """Returns a node `end` that completes with what it finds, the failure that led to it by default."""
    return does(lambda step: Complete(value(step)), "end", state, Complete[Any])


def chain(state: type, *acts: Act, value: Callable[[Any], Any] = lambda step: step.error) -> Flow[Any, Any, Any]:
    """Returns a flow of nodes n1, n2, … that end in `end`, to which every error leads too."""
    last = ends(state, value)
    bare = [does(act, f"n{number}", state) for number, act in enumerate(acts, 1)]
    rows = [item.to(following) for item, following in zip(bare, [*bare, last][1:], strict=True)]
    return Flow("chain", *rows, last, on_error=last)


def raising(act: Act | None = None, error: BaseException | None = None) -> Act:
    """Returns an act that does something and then raises."""

    def both(step: Any) -> None:
        if act is not None:
            act(step)
        raise error if error is not None else Boom("no")

    return both
