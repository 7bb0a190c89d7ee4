"""The states of the tests of branches and items, and flows around one composite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel

from flowcore import Complete, Flow, Log, Merge, Node

from ..core.runs import Act, does


class Page(BaseModel):
    """What branches and items share."""

    number: int = 0
    text: str = ""
    title: str = ""
    plain: list[str] = []
    words: Annotated[list[str], Merge.append] = []
    most: Annotated[int, Merge(lambda before, values: max(values))] = 0
    log: Log[str] = Log()


class Item(BaseModel):
    """What one item works on."""

    index: int = 0
    seen: list[str] = []


def last(state: type = Page, value: Any = lambda step: step.error or step.state.text) -> Node[Any, Any, Any, Any]:
    """Returns a node `end` that completes with the error that led there, or with the text."""
    return does(lambda step: Complete(value(step)), "end", state, Complete[Any], starts_round=False)


def around(composite: Node[Any, Any, Any, Any], value: Any = None, **options: Any) -> Flow[Any, Any, Any]:
    """Returns the flow of the composite and an end, to which its errors lead too if `caught` is said."""
    end = last() if value is None else last(value=value)
    row = composite.to(end)
    if options.pop("caught", False):
        row = row.on_error(end)
    return Flow("f", row, end, **options)


def item_flow(act: Act, state: type = Item, value: Any = lambda step: step.state.index, **options: Any) -> Any:
    """Returns the flow of one item: a node `work` that calls `act`, and an end that costs nothing."""
    end = does(lambda step: Complete(value(step)), "end", state, Complete[Any])
    options.setdefault("starts_round", False)
    return Flow("item", does(act, "work", state, **options).to(end), end)


def items(count: int) -> Any:
    """Returns what makes so many items."""

    def over(page: Page) -> list[Item]:
        return [Item(index=index) for index in range(count)]

    return over


def named(results: Sequence[object]) -> list[str]:
    """Returns the results with the names of their types, for those that stand for no result."""
    return [str(result) if isinstance(result, int) else type(result).__name__ for result in results]
