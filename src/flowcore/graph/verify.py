"""Verify: whether what looks after interrupted work can say what its node may mean."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from ..errors import Problem
from ..types import is_assignable, type_name, union_members
from .function import Function, only_outcome
from .plan import PlanNode
from .problems import problem
from .signature import Signature, read_hints, signature_of_outcome

__all__ = ["verify_problems"]


def verify_problems(item: PlanNode, where: str) -> list[Problem]:
    """Return what is wrong with what `verify` is annotated to say. Without an annotation nothing is known."""
    definition, signature = item.definition, item.signature
    if not isinstance(definition, Function) or definition.verify is None or signature.fault:
        return []
    hints = read_hints(definition.verify, {}, ("return",))
    if isinstance(hints, str) or "return" not in hints:
        return []
    members = union_members(hints["return"])
    says_true = any(member is bool or True in _literals(member) for member in members)
    outcomes = [member for member in members if member not in (bool, type(None)) and not _literals(member)]
    wrong = [type_name(member) for member in outcomes if not _may_mean(member, signature)]
    if says_true and not outcomes and only_outcome(signature) is None:
        wrong = [type_name(hints["return"])]
    return [problem("verify_mismatch", where, given=given, ways=_ways(signature)) for given in wrong]


def _literals(member: Any) -> tuple[Any, ...]:
    return get_args(member) if get_origin(member) is Literal else ()


def _may_mean(member: Any, signature: Signature) -> bool:
    read = signature_of_outcome(member)
    if read.fault:
        return False
    fits = [any(is_assignable(result, known) for known in signature.results) for result in read.results]
    return all(fits) and set(read.labels) <= set(signature.labels) and (signature.plain or not read.plain)


def _ways(signature: Signature) -> str:
    ways = [f"Continue({label!r})" for label in signature.labels]
    ways += ["Continue()"] if signature.plain else []
    ways += [f"Complete[{type_name(result)}]" for result in signature.results]
    return " or ".join(ways)
