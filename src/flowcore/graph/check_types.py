"""The types of a plan: states that fit, fields that exist, ways in and out that take what they get."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import GenericAlias
from typing import Any, get_args, get_origin

from ..errors import Problem
from ..state.immutable import is_immutable_type
from ..state.log import Log
from ..state.shape import is_state_type, shape_of
from ..types import as_class, is_assignable, is_open, type_name, union_members
from .each import Each
from .function import is_async
from .parallel import Parallel
from .person import Person, form_schema
from .plan import Plan, PlanNode
from .problems import problem
from .signature import parameter_names, read_hints, state_hint
from .subflow import Subflow
from .verify import verify_problems

__all__ = ["type_problems"]


def type_problems(plan: Plan) -> list[Problem]:
    """Return every problem of a plan's types."""
    if not _can_be_state(plan.state):
        return [problem("bad_state_type", plan.name, state=type_name(plan.state))]
    return [*_logs(plan), *_nodes(plan, plan.state, "")]


def _logs(plan: Plan) -> list[Problem]:
    state_class = as_class(plan.state)
    if state_class is None:
        return []
    logs = [
        (field, get_args(member)[0])
        for field, hint in shape_of(state_class).hints.items()
        for member in union_members(hint)
        if get_origin(member) is Log
    ]
    return [
        problem("mutable_log", plan.name, field=field, item=type_name(item))
        for field, item in logs
        if not is_immutable_type(item)
    ]


def _nodes(plan: Plan, wanted: Any, prefix: str) -> list[Problem]:
    found: list[Problem] = []
    for item in plan.nodes.values():
        where = f"{prefix}{item.id}"
        if item.signature.state is not wanted and not is_assignable(wanted, item.signature.state):
            state = type_name(item.signature.state)
            found.append(problem("state_mismatch", where, state=state, wanted=type_name(wanted)))
        found += verify_problems(item, where)
        if isinstance(item.definition, Subflow):
            found += _subflow(item, item.definition)
        elif isinstance(item.definition, Each):
            found += _each(item, item.definition)
        elif isinstance(item.definition, Parallel) and item.inner is not None:
            found += _nodes(item.inner, wanted, f"{where}/")
            found += _collisions(item.definition, wanted, where)
        elif isinstance(item.definition, Person):
            found += _person(item.definition, wanted, where)
        elif item.definition.writes is not None and as_class(wanted) is not None:
            found += _unknown_writes(item, item.definition.writes, wanted, where)
    return found


def _unknown_writes(item: PlanNode, writes: tuple[str, ...], wanted: Any, where: str) -> list[Problem]:
    state_class = as_class(wanted)
    names = shape_of(state_class).names if state_class is not None else ()
    state = type_name(wanted)
    return [problem("unknown_write", where, field=name, state=state) for name in writes if name not in names]


def _collisions(definition: Parallel, wanted: Any, where: str) -> list[Problem]:
    state_class = as_class(wanted)
    if state_class is None:
        return []
    shape = shape_of(state_class)
    writers: dict[str, list[str]] = {}
    for branch in definition.branches:
        for field in branch.definition.writes or ():
            writers.setdefault(field, []).append(branch.id)
    return [
        problem("colliding_writes", where, first=ids[0], second=ids[1], field=field)
        for field, ids in sorted(writers.items())
        if len(ids) > 1 and field in shape.names and not shape.can_merge(field)
    ]


def _can_be_state(hint: Any) -> bool:
    """Return whether a run can have a state of this type. What cannot be told at run time can."""
    members = union_members(hint)
    if len(members) > 1:
        return all(map(_can_be_state, members))
    cls = as_class(hint)
    return is_open(hint) if cls is None else is_state_type(cls)


def _subflow(item: PlanNode, definition: Subflow) -> list[Problem]:
    enter, leave = definition.enter, definition.leave
    found = [
        problem("async_function", item.id, function=name)
        for name, fn in (("enter", enter), ("leave", leave), ("deps", definition.deps))
        if fn is not None and is_async(fn)
    ]
    if enter is not None and leave is not None:
        results = list(definition.plan.results)
        return [
            *found,
            *_way_in("enter_mismatch", item, enter, definition.plan.state),
            *_way_out(item, leave, results),
        ]
    if not definition.shares_state:
        given, absent = ("enter", "leave") if enter is not None else ("leave", "enter")
        found.append(problem("enter_without_leave", item.id, given=given, absent=absent))
    return found


def _person(definition: Person, wanted: Any, where: str) -> list[Problem]:
    functions = (("show", definition.show), ("take", definition.take))
    found = [
        problem("async_function", where, function=name)
        for name, fn in functions
        if fn is not None and is_async(fn)
    ]
    taken = state_hint(definition.take)
    if not found and not is_assignable(wanted, taken):
        found.append(problem("state_mismatch", where, state=type_name(taken), wanted=type_name(wanted)))
    try:
        form_schema(definition.form)
    except Exception:  # whatever pydantic, or what a user adds to it, makes of a form
        found.append(problem("bad_form", where, form=type_name(definition.form)))
    return found


def _each(item: PlanNode, definition: Each) -> list[Problem]:
    functions = (("over", definition.over), ("collect", definition.collect))
    found = [problem("async_function", item.id, function=name) for name, fn in functions if is_async(fn)]
    found += _way_in("over_mismatch", item, definition.over, _many(definition.plan.state))
    return [*found, *_way_out(item, definition.collect, [])]


def _many(state: Any) -> Any:
    return GenericAlias(Iterable, (state,))


def _way_in(code: str, item: PlanNode, fn: Callable[..., Any], inner: Any) -> list[Problem]:
    """Check what makes the state of a flow inside. It may go without annotations: then nothing is known of it."""
    names = parameter_names(fn)
    hints = read_hints(fn, {}, (*names[:1], "return"))
    if isinstance(hints, str):
        return []
    found = []
    one_for_many = code == "over_mismatch" and is_state_type(as_class(hints.get("return")))
    if "return" in hints and (one_for_many or not is_assignable(hints["return"], inner)):
        values = {"verb": "returns", "given": type_name(hints["return"]), "wanted": type_name(inner)}
        found.append(problem(code, item.id, **values))
    if names and names[0] in hints and not is_assignable(item.signature.state, hints[names[0]]):
        given, wanted = type_name(hints[names[0]]), type_name(item.signature.state)
        found.append(problem(code, item.id, verb="takes", given=given, wanted=wanted))
    return found


def _way_out(item: PlanNode, fn: Callable[..., Any], results: list[Any]) -> list[Problem]:
    names = parameter_names(fn)
    hints = read_hints(fn, {}, names[:2])
    if isinstance(hints, str):
        return []  # the unreadable annotation is a problem of its own already
    offered = [[item.signature.state], results]
    found = []
    for name, given in zip(names, offered, strict=False):
        for kind in given:
            if name in hints and not is_assignable(kind, hints[name]):
                values = {"given": type_name(hints[name]), "wanted": type_name(kind)}
                found.append(problem("leave_mismatch", item.id, **values))
    return found
