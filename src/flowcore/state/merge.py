"""The merge rule: how the values that branches gave one field become one."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin

from ..errors import ContractError
from .log import Log
from .sameness import same
from .snapshot import snapshot

__all__ = ["Merge", "merge_of", "merged"]


@dataclass(frozen=True, slots=True)
class Merge:
    """A rule on a state field: `Annotated[list[str], Merge.append]`, or `Merge(fn)` of your own.

    `fn(before, values)` gets the value from before the branches and what the branches that changed the field made
    of it, in declared order.
    """

    fn: Callable[[Any, Sequence[Any]], Any]
    append: ClassVar[Merge]
    """For lists: what each branch added at the end, in declared order."""


def _append(before: Any, values: Sequence[Any]) -> Any:
    length = len(before)
    result = list(before)
    for value in values:
        if len(value) < length or not same(list(value[:length]), list(before)):
            raise ContractError("Merge.append takes branches that only add at the end")
        result += value[length:]
    return result


Merge.append = Merge(_append)


def merge_of(hint: Any) -> Merge | None:
    """Return the rule that stands in a field's annotation."""
    if get_origin(hint) is Annotated:
        found = [extra for extra in hint.__metadata__ if isinstance(extra, Merge)]
        return found[0] if found else merge_of(get_args(hint)[0])
    if get_origin(hint) in (Union, types.UnionType):
        rules = [rule for member in get_args(hint) if (rule := merge_of(member)) is not None]
        return rules[0] if rules else None
    return None


def merged(rule: Merge | None, before: Any, values: Sequence[Any]) -> Any:
    """Return what the branches' values become. A log needs no rule. Raises `ContractError` where there is none."""
    if rule is not None:
        return rule.fn(snapshot(before), [snapshot(value) for value in values])
    if isinstance(before, Log) and all(isinstance(value, Log) for value in values):
        added = [value.appended(before) for value in values]
        if any(items is None for items in added):
            raise ContractError("a branch put another log in its place, so what it added is not known")
        result = values[0].draft()  # where it was first to append, the shared list just goes on
        result.extend(item for items in added[1:] for item in items or ())
        return result
    raise ContractError("no merge rule")
