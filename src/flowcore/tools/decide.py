"""Deciding: whether a proposed call may be dispatched. Check, hooks, policy, guard, in this order."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import isawaitable
from typing import Any, NamedTuple

import anyio

from ..errors import BudgetExhausted, ContractError, NodeTimeout
from ..messages import ToolCall
from ..scope import Scope
from ..types import type_name
from ..visit_host import LoggedCall
from .definition import Arguments, Tool
from .faults import ArgumentFault
from .guard import Repetitions
from .json_text import is_blank, read_object
from .names import meant_name, unknown_text
from .policy import Allow, Ask, Deny, Hook, Policy, Proposal
from .result import Status

__all__ = ["Ready", "Refused", "check_call", "consult", "is_cancellation", "is_signal", "repeated", "words_of"]


class Refused(NamedTuple):
    """A call that is not dispatched, and what the model is told."""

    status: Status
    text: str


class Ready(NamedTuple):
    """A call that is dispatched, once a person who is to be asked has agreed."""

    proposal: Proposal
    ask: Ask | None = None
    call: LoggedCall | None = None

    @property
    def was_begun(self) -> bool:
        """Whether it was dispatched before its visit was interrupted."""
        return self.call is not None and self.call.status in ("dispatched", "unknown")


def is_signal(error: BaseException, scope: Scope) -> bool:
    """Return whether an error steers the run, so that it is nothing for a model to react to."""
    if isinstance(error, BaseExceptionGroup):
        return any(is_signal(inner, scope) for inner in error.exceptions if not is_cancellation(inner))
    if isinstance(error, BudgetExhausted | NodeTimeout):
        return scope.holds(error)
    return isinstance(error, ContractError) or not isinstance(error, Exception)


def is_cancellation(error: BaseException | None) -> bool:
    """Return whether an error is the event loop's own cancellation, or a group of nothing else."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_cancellation, error.exceptions))
    return isinstance(error, anyio.get_cancelled_exc_class())


def check_call(
    call: ToolCall, usable: Mapping[str, Tool], known: Mapping[str, Tool], **about: Any
) -> Proposal | Refused:
    """Return the call with the tool that is meant and arguments that fit it, or what is wrong with it."""
    name = meant_name(call.name, usable, known)
    if name is None:
        return Refused("unknown_tool", f"Not run: {unknown_text(call.name, usable)}.")
    if name not in usable:
        return Refused("denied", f"Denied: {name} may not be used here.")
    tool = usable[name]
    try:
        nothing = is_blank(call.arguments) and not tool.parameters.get("properties")
        arguments = fitting(tool, {} if nothing else read_object(call.arguments))
    except ValueError as error:
        again = f"Call {name} again with all arguments put right."
        return Refused("invalid_arguments", f"Not run, since the arguments do not fit: {error}. {again}")
    return Proposal(call, tool, arguments, **about)


async def consult(
    proposal: Proposal, hooks: tuple[Hook, ...], policy: Policy | None, scope: Scope
) -> Ready | Refused:
    """Ask the hooks, then the policy. One that raises, or says what nobody understands, has said no."""
    for hook in hooks:
        name = _name(hook)
        before = dict(proposal.arguments)
        said = await _asked(hook, proposal, scope)
        if said is None and _differ(before, proposal.arguments):  # changed in place: checked all the same
            said = proposal.arguments
        if isinstance(said, Mapping):
            try:
                proposal = _with_arguments(proposal, said)
            except ValueError as error:
                said = Deny(f"the hook {name} made arguments that do not fit: {error}")
        elif said is not None and not isinstance(said, Deny):
            said = Deny(f"the hook {name} said {type_name(type(said))}: it says None, arguments or Deny")
        if isinstance(said, Deny):
            return Refused("denied", f"Denied: {said.reason}.")
    decision = Allow() if policy is None else await _asked(policy, proposal, scope)
    if isinstance(decision, Allow | Ask):
        return Ready(proposal, decision if isinstance(decision, Ask) else None)
    if not isinstance(decision, Deny):
        decision = Deny(f"the policy said {type_name(type(decision))}: it says Allow, Deny or Ask")
    return Refused("denied", f"Denied: {decision.reason}.")


def repeated(proposal: Proposal, repetitions: Repetitions) -> Refused | None:
    """Return what the model is told of a call that it makes again and again."""
    name = proposal.tool.name
    if repetitions.must_end:
        said = f"{name} was called in {repetitions.turns} replies in a row"
        return Refused("skipped", f"Skipped: {said}. Answer now with what you have.")
    times = repetitions.repeated.get(proposal.call.id)
    if times is None:
        return None
    said = f"{name} was called with the same arguments {times} times"
    return Refused("skipped", f"Skipped: {said}. Use the earlier result, or change the arguments.")


def fitting(tool: Tool, arguments: Arguments) -> Arguments:
    """Return arguments as the tool wants them. Raises `ValueError`, too where a check of its own breaks."""
    try:
        return tool.check(arguments)
    except (ValueError, ContractError):
        raise
    except Exception as error:
        raise ArgumentFault(words_of(error)) from error


def words_of(error: BaseException) -> str:
    """Return an error in words."""
    try:
        message = str(error)
    except Exception:  # the message of a user's error may be broken; the error itself still counts
        message = ""
    name = type_name(type(error))
    return f"{name}: {message}" if message else name


async def _asked(fn: Hook | Policy, proposal: Proposal, scope: Scope) -> object:
    try:
        said: object = fn(proposal)
        return await said if isawaitable(said) else said
    except Exception as error:
        if is_signal(error, scope):
            raise
        return Deny(f"{_name(fn)} failed: {words_of(error)}")


def _with_arguments(proposal: Proposal, arguments: Mapping[str, Any]) -> Proposal:
    checked = fitting(proposal.tool, arguments)
    return Proposal(proposal.call, proposal.tool, checked, proposal.run_id, proposal.path, proposal.deps)


def _differ(before: Arguments, now: Arguments) -> bool:
    return before.keys() != now.keys() or any(now[name] is not value for name, value in before.items())


def _name(fn: object) -> str:
    return str(getattr(fn, "__name__", type(fn).__name__))
