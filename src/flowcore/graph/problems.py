"""The table of problems: every fault that the construction of a flow can find, with its remedy.

The page of the reference is generated from this table.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import Problem

__all__ = ["PROBLEMS", "ProblemKind", "bad_id", "problem"]


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """One kind of fault: `message` and `remedy` are templates; the examples are code."""

    code: str
    message: str
    remedy: str
    fault: str
    mend: str


_RESERVED = frozenset("/#[]\t\0\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
"""What paths are written with, and everything that ends a line."""


def bad_id(id: str, where: str) -> Problem | None:
    """Return the problem of a text that cannot be an id, or None."""
    if id.strip() and not _RESERVED.intersection(id):
        return None
    return problem("bad_id", where, id=id)


def problem(code: str, where: str, remedy: str | None = None, /, **values: object) -> Problem:
    """Return a problem of the given kind at the given place; `remedy` where that of the kind would not help."""
    kind = PROBLEMS[code]
    return Problem(code, where, kind.message.format(**values), remedy or kind.remedy.format(**values))


_KINDS = (
    ProblemKind(
        "no_rows",
        "the flow has no rows",
        "Give it at least one row; the first is the entry",
        'Flow("empty")',
        'Flow("one", finish)',
    ),
    ProblemKind(
        "not_a_row",
        "argument {number} is {value}, which is no node",
        "Decorate the function with @node, or embed a flow with .as_node(...)",
        'Flow("plain", lambda step: None)',
        'Flow("plain", node(finish_function))',
    ),
    ProblemKind(
        "bad_id",
        "{id!r} cannot be an id",
        "Use at least one character, and none of / # [ ] or line breaks",
        'Flow("bad", finish.named("a/b"))',
        'Flow("good", finish.named("a-b"))',
    ),
    ProblemKind(
        "duplicate_id",
        "{count} rows have this id",
        "Write all routes of a node in one row, or give one of them another id with .named(...)",
        'Flow("twice", start.to(finish), finish, finish)',
        'Flow("once", start.to(finish), finish)',
    ),
    ProblemKind(
        "two_definitions",
        "two different nodes stand under this id",
        "Give one of them another id with .named(...)",
        'Flow("clash", start.to(finish), finish, other.named("finish"))',
        'Flow("apart", start.to(finish).on_error(other), finish, other)',
    ),
    ProblemKind(
        "unknown_target",
        "its {kind} leads to {target!r}, which is no row of this flow",
        "Add a row for {target!r}, or point the route at a row that is there",
        'Flow("typo", start.to(finish))',
        'Flow("listed", start.to(finish), finish)',
    ),
    ProblemKind(
        "foreign_reference",
        "its {kind} names {target!r}, but the row of that id is another node",
        "Refer to the node that stands in the row, or rename one of them with .named(...)",
        'Flow("foreign", choose.to(a=other.named("finish"), b=finish), finish)',
        'Flow("same", choose.to(a=finish, b=finish), finish)',
    ),
    ProblemKind(
        "former_name_taken",
        "its former name {former!r} is that of {other!r}, too",
        "Leave it out of .renamed_from(...), or give the other node another id",
        'Flow("former", choose.to(a=finish, b=finish), finish.renamed_from("choose"))',
        'Flow("renamed", choose.to(a=finish, b=finish), finish.renamed_from("end"))',
    ),
    ProblemKind(
        "routed_reference",
        "its {kind} refers to {target!r} with routes or settings of its own",
        "Refer to the bare node, and write its routes and settings in its own row",
        'Flow("routed", choose.to(a=finish.using(timeout=1), b=finish), finish)',
        'Flow("bare", choose.to(a=finish, b=finish), finish.using(timeout=1))',
    ),
    ProblemKind(
        "missing_annotation",
        "{function} has {fault}",
        "Annotate it: its annotations are its type",
        'Flow("blank", node(lambda step: Complete(1)))',
        'Flow("typed", finish)',
    ),
    ProblemKind(
        "unreadable_annotation",
        "{function}: {fault}",
        "Annotate the step as Step[State] and the result as Continue, Continue[Literal[...]] or Complete[Result]",
        'Flow("wrong", node(returns_text))',
        'Flow("right", finish)',
    ),
    ProblemKind(
        "mixed_continue",
        "it continues with labels and without",
        "Return a label each time, or never",
        'Flow("mixed", node(mixed).to(a=finish), finish)',
        'Flow("labelled", choose.to(a=finish, b=finish), finish)',
    ),
    ProblemKind(
        "label_without_route",
        "no route for the label {label!r}",
        "Add it to the row: .to({route})",
        'Flow("half", choose.to(a=finish), finish)',
        'Flow("full", choose.to(a=finish, b=finish), finish)',
    ),
    ProblemKind(
        "route_without_label",
        "a route for the label {label!r}, which the node never returns",
        "Remove the route, or add the label to the node's annotation",
        'Flow("more", choose.to(a=finish, b=finish, c=finish), finish)',
        'Flow("fits", choose.to(a=finish, b=finish), finish)',
    ),
    ProblemKind(
        "nowhere_to_go",
        "it continues, and the row does not say where to",
        "Add .to(next), or complete instead",
        'Flow("sink", start)',
        'Flow("led", start.to(finish), finish)',
    ),
    ProblemKind(
        "route_without_continue",
        "a plain route, but the node never returns a plain Continue()",
        "Remove .to({target}), or route its labels by name",
        'Flow("past", finish.to(other), other)',
        'Flow("ends", finish)',
    ),
    ProblemKind(
        "duplicate_route",
        "two routes for {what}",
        "Keep one of them",
        'Flow("both", start.to(finish).to(finish), finish)',
        'Flow("one", start.to(finish), finish)',
    ),
    ProblemKind(
        "unreachable",
        "nothing leads to it",
        "Add a route to it, or remove the row",
        'Flow("orphan", start.to(finish), finish, other)',
        'Flow("led", start.to(finish).on_error(other), finish, other)',
    ),
    ProblemKind(
        "dead_end",
        "no Complete can be reached from it",
        "Add a route that leads to a node that completes",
        'Flow("round", start.to(again), again.to(start))',
        'Flow("out", start.to(choose), choose.to(a=start, b=finish), finish)',
    ),
    ProblemKind(
        "unpaid_cycle",
        "a cycle that no round is paid for: {cycle} (the part without a round boundary has {size})",
        "Set starts_round=True on {payers}",
        'Flow("free", start.to(ask), ask.to(choose), choose.to(a=ask, b=finish), finish)',
        'Flow("paid", start.to(ask), ask.to(choose), choose.to(a=start, b=finish), finish)',
    ),
    ProblemKind(
        "finish_cycle",
        "its finish {finish!r} leads into a cycle: {cycle}",
        "Let the finish path end without a way back: it runs on what was reserved for it",
        'Flow("endless", start.to(choose), choose.to(a=start, b=finish), finish, finish=choose)',
        'Flow("ends", start.to(choose), choose.to(a=start, b=finish), finish, finish=finish)',
    ),
    ProblemKind(
        "state_mismatch",
        "it works on {state}, but the flow's state is {wanted}",
        "Use a node for {wanted} or for a base class of it; a sub-flow takes enter= and leave=",
        'Flow("states", start.to(stranger), stranger)',
        'Flow("state", start.to(finish), finish)',
    ),
    ProblemKind(
        "bad_state_type",
        "{state} cannot be a state",
        "Use a pydantic model or a dataclass",
        'Flow("dict", node(on_a_dict))',
        'Flow("model", finish)',
    ),
    ProblemKind(
        "enter_without_leave",
        "{given}= is given without {absent}=",
        "Give both, or neither to share the state",
        'Flow("half", inner.as_node("inner", state=State, enter=into).to(finish), finish)',
        'Flow("both", inner.as_node("inner", state=State, enter=into, leave=back).to(finish), finish)',
    ),
    ProblemKind(
        "enter_mismatch",
        "enter {verb} {given}, but {wanted} is wanted",
        "Make enter take the flow's state and return the state of the embedded flow",
        'Flow("in", inner.as_node("inner", state=State, enter=wrong_into, leave=back).to(finish), finish)',
        'Flow("in", inner.as_node("inner", state=State, enter=into, leave=back).to(finish), finish)',
    ),
    ProblemKind(
        "leave_mismatch",
        "leave takes {given}, but is given {wanted}",
        "Make leave take the flow's state and every result that the embedded flow completes with",
        'Flow("out", inner.as_node("inner", state=State, enter=into, leave=wrong_back).to(finish), finish)',
        'Flow("out", inner.as_node("inner", state=State, enter=into, leave=back).to(finish), finish)',
    ),
    ProblemKind(
        "async_function",
        "{function} is an async function, but it is called without waiting",
        "Make {function} a plain function, and do in a node what has to wait",
        'Flow("waits", inner.as_node("inner", state=State, enter=slow_into, leave=back).to(finish), finish)',
        'Flow("plain", inner.as_node("inner", state=State, enter=into, leave=back).to(finish), finish)',
    ),
    ProblemKind(
        "no_branches",
        "a parallel without branches",
        "Give it at least one branch",
        'Flow("none", parallel("fan").to(finish), finish)',
        'Flow("some", parallel("fan", start, ask).to(finish), finish)',
    ),
    ProblemKind(
        "impossible_join",
        "the join waits for {wanted} of {count} branches",
        "Let it wait for at least one branch and at most all of them",
        'Flow("three", parallel("fan", start, ask, join=3).to(finish), finish)',
        'Flow("two", parallel("fan", start, ask, join=2).to(finish), finish)',
    ),
    ProblemKind(
        "branch_outcome",
        "a branch that labels or completes",
        "Let a branch return Continue() only: every branch goes on to the join",
        'Flow("early", parallel("fan", start, finish).to(other), other)',
        'Flow("joined", parallel("fan", start, ask).to(finish), finish)',
    ),
    ProblemKind(
        "shared_branch",
        "it stands in the parallel twice",
        "Give one of them another id with .named(...): each branch has its own nodes",
        'Flow("twins", parallel("fan", start, start).to(finish), finish)',
        'Flow("named", parallel("fan", start, start.named("start 2")).to(finish), finish)',
    ),
    ProblemKind(
        "branch_with_routes",
        "a branch with routes of its own",
        "Leave out .to(...) and .over_limit(...): every branch goes on to the join; .on_error(...) may stay",
        'Flow("strayed", parallel("fan", start.to(ask), ask).to(finish), finish)',
        'Flow("joined", parallel("fan", start, ask).to(finish), finish)',
    ),
    ProblemKind(
        "colliding_writes",
        "the branches {first!r} and {second!r} both declare that they write {field!r}, which has no merge rule",
        "Annotate the field: Annotated[..., Merge.append], or let one branch write it",
        'Flow("clash", parallel("fan", writer, writer.named("writer 2")).to(finish), finish)',
        'Flow("apart", parallel("fan", start, writer).to(finish), finish)',
    ),
    ProblemKind(
        "mutable_log",
        "the items of the log {field!r} can be changed: {item}",
        "Use a frozen model, a frozen dataclass, a tuple or a plain value as the item of a Log",
        'Flow("soft", node(on_soft_log))',
        'Flow("hard", finish)',
    ),
    ProblemKind(
        "over_mismatch",
        "over {verb} {given}, but {wanted} is wanted",
        "Make over take the flow's state and return states of the flow that runs over the items",
        'Flow("items", each("map", over=wrong_over, do=inner, collect=gather).to(finish), finish)',
        'Flow("items", each("map", over=many, do=inner, collect=gather).to(finish), finish)',
    ),
    ProblemKind(
        "retry_on_composite",
        "a retry on a sub-flow, a parallel or an each",
        "Put the retry on the nodes inside it that may fail",
        'Flow("again", inner.as_node("inner").using(retry=Retry()).to(finish), finish)',
        'Flow("inside", inner.as_node("inner").to(finish), finish)',
    ),
    ProblemKind(
        "timeout_on_person",
        "a timeout on a node that waits for a person",
        "Say with expires= for how long an answer counts",
        'Flow("hurry", consent.using(timeout=9).to(approved=finish, denied=other), finish, other)',
        'Flow("patient", consent.to(approved=finish, denied=other), finish, other)',
    ),
    ProblemKind(
        "retry_on_person",
        "a retry on a node that waits for a person",
        "Leave it out, and let a route lead back to the node where a person is to be asked again",
        'Flow("again", consent.using(retry=Retry()).to(approved=finish, denied=other), finish, other)',
        'Flow("once", consent.to(approved=finish, denied=other), finish, other)',
    ),
    ProblemKind(
        "bad_form",
        "the form {form} has no JSON Schema",
        "Give its fields types that JSON can tell, such as str, int, date, lists and models of them",
        'Flow("odd", odd_consent.to(approved=finish, denied=other), finish, other)',
        'Flow("plain", consent.to(approved=finish, denied=other), finish, other)',
    ),
    ProblemKind(
        "verify_mismatch",
        "verify returns {given}, but the node may end with {ways}",
        "Return an outcome of the node, or True where it has only one; False if it was not done; None if unknown",
        'Flow("twice", torn.to(a=finish, b=other), finish, other)',
        'Flow("known", start.to(finish), finish)',
    ),
    ProblemKind(
        "unknown_write",
        "it declares that it writes {field!r}, which is no field of {state}",
        "Name fields of the state in writes=",
        'Flow("writes", start.to(scribe), scribe.to(finish), finish)',
        'Flow("fields", start.to(finish), finish)',
    ),
)

PROBLEMS: dict[str, ProblemKind] = {kind.code: kind for kind in _KINDS}
"""Every kind of problem, by its code."""
