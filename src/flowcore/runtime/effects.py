"""The effects: a node that changes something outside is begun at most once; what became of it is found out."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from functools import partial
from inspect import isawaitable
from typing import Any, NamedTuple, Protocol

from ..errors import BudgetExhausted, ContractError, NodeCancelled, NodeTimeout, NotDone, OutcomeUnknown
from ..graph import Function, PlanNode, is_async, only_outcome
from ..outcome import Complete, Continue
from ..requests import OpenRequest, Verification, read_verification
from ..scope import Scope
from ..state import Values
from ..step import Step
from ..types import adapter_of, type_name
from ..visit import Where
from ..visit_host import CallStatus
from .calls import Entry
from .host import Done, Place
from .inside import HostInside
from .outcomes import accepted, as_failure

__all__ = ["EXPIRES", "EffectsNode", "Visiting"]

EXPIRES = 300.0
"""Seconds in which a person may say what became of interrupted work."""
Outcome = Continue[Any] | Complete[Any]


class Visiting(Protocol):
    """What a host does for a visit of a node with effects."""

    inside: HostInside

    def attempts(
        self, place: Place, item: PlanNode, number: int, values: Values, arrival: Any
    ) -> Coroutine[Any, Any, Done]:
        """Run the node's function."""
        ...

    def step(self, place: Place, item: PlanNode, number: int, values: Values, arrival: Any) -> Step[Any, Any]:
        """Return a step with a draft of its own."""
        ...

    def within(
        self, item: PlanNode, step: Step[Any, Any], call: Callable[[], Awaitable[Any]]
    ) -> Coroutine[Any, Any, Any]:
        """Call within the timeout of the node."""
        ...

    def late(self, scope: Scope) -> None:
        """Raise if what a visit does now is too late."""
        ...


class EffectsNode(NamedTuple):
    """One visit of a node with effects."""

    host: Visiting
    place: Place
    item: PlanNode
    number: int
    values: Values
    arrival: Any

    async def visit(self) -> Done:
        """Run it, unless that was begun before; where it was interrupted, find out what became of it."""
        place, item = self.place, self.item
        place.scope.visit = where = (place.frame, item.id, self.number)
        entry = self.host.inside.log(where, "node", item.id, "")
        cut_off: Done | None = None
        if entry.status == "":
            await entry.keep("dispatched")
            cut_off = await self.host.attempts(place, item, self.number, self.values, self.arrival)
            if not _is_cut_off(cut_off):
                entry.at_end = _at_end(cut_off)
                return cut_off
        try:
            return await self._found_out(entry, where, cut_off)
        except Exception as error:  # its time is over meanwhile, or what was found is no outcome of the node
            return self._failed(error, cut_off)

    async def _found_out(self, entry: Entry, where: Where, cut_off: Done | None) -> Done:
        step = self._step()
        verdict, says = None, "verify"
        if self._verify is not None and entry.status == "dispatched":
            verdict = await self._looked(step)
            self.host.late(self.place.scope)
        if verdict is None and self.host.inside.keeps:
            await entry.keep("unknown")
            step = self._step()
            verdict, says = await self._asked(entry, where, step)
        elif verdict is None and cut_off is not None and self._verify is None:
            return cut_off
        if verdict is None:
            raise OutcomeUnknown(_unknown(step.path), tool=self.item.id, status="unknown")
        entry.at_end = "done" if verdict else "failed"
        if verdict is False:
            raise NotDone(step.path, says)
        return accepted(self.place, self.item, step, self.values, verdict)

    def _step(self) -> Step[Any, Any]:
        return self.host.step(self.place, self.item, self.number, self.values, self.arrival)

    async def _looked(self, step: Step[Any, Any]) -> Outcome | bool | None:
        """Look once whether it was done; None if that cannot be told."""
        verify = self._verify
        assert verify is not None  # asked before
        try:
            said = await self.host.within(self.item, step, partial(self._call, verify, step))
        except ContractError:
            raise
        except Exception:  # what cannot look says nothing
            return None
        if said is True:
            return only_outcome(self.item.signature) or _no_outcome(step.path)
        return said if said is False or isinstance(said, Continue | Complete) else None

    async def _call(self, verify: Callable[..., Any], step: Step[Any, Any]) -> Any:
        said = verify(step) if is_async(verify) else await self.host.inside.call(verify, step, step.path)
        return await said if isawaitable(said) else said

    async def _asked(self, entry: Entry, where: Where, step: Step[Any, Any]) -> tuple[Outcome | bool | None, str]:
        """Ask a person what became of it; None if nobody knows."""
        inside = self.host.inside
        opened = inside.clock.utcnow()
        labels = self.item.signature.labels
        request = OpenRequest(
            id=uuid.uuid4().hex,
            kind="verify",
            path=step.path,
            question=f"{step.path} was interrupted: was it done?",
            shown=f"If it was, its outcome is one of: {', '.join(labels)}" if len(labels) > 1 else "",
            opened=opened,
            expires=opened + timedelta(seconds=EXPIRES),
        )
        read = partial(read_verification, read_value=self._value)
        answer = await inside.wait(self.place.scope, where, request, read, entry.key)
        if answer.expired or answer.value.done is None:
            return None, ""
        says = answer.by or "a person"
        return (self._outcome(answer.value) if answer.value.done else False), says

    def _value(self, raw: object) -> object:
        """Return what a person gives as the outcome: a label, or what the node completes with."""
        signature = self.item.signature
        if raw is None and only_outcome(signature) is not None:
            return None
        if isinstance(raw, str) and raw in signature.labels:
            return raw
        for result in signature.results:
            try:
                return adapter_of(result).validate_python(raw)
            except ValueError:
                continue
        ways = [*map(repr, signature.labels), *map(type_name, signature.results)]
        raise ContractError(f"is answered with the outcome as its value: {' or '.join(ways) or None}, not {raw!r}")

    def _outcome(self, given: Verification) -> Outcome:
        only, value = only_outcome(self.item.signature), given.value
        if value is None and only is not None:
            return only
        is_label = isinstance(value, str) and value in self.item.signature.labels
        return Continue(value) if is_label else Complete(value)

    def _failed(self, error: Exception, cut_off: Done | None) -> Done:
        if cut_off is not None:
            error.__cause__ = cut_off.error
        path = self.place.frame.path_of(self.item.id, self.number)
        return Done(None, None, error, as_failure(error, path), isinstance(error, NotDone))

    @property
    def _verify(self) -> Callable[..., Any] | None:
        definition = self.item.definition
        return definition.verify if isinstance(definition, Function) else None


def _is_cut_off(done: Done) -> bool:
    """Return whether the node was interrupted by its own timeout, or by a cancellation that nobody asked for."""
    error = done.error
    return isinstance(error, NodeCancelled) or (isinstance(error, NodeTimeout) and not error.scope_id)


def _at_end(done: Done) -> CallStatus:
    """Return how the node stands when its visit ends so. Whatever else ran out of time is unknown."""
    error = done.error
    if isinstance(error, NodeTimeout | OutcomeUnknown):
        return "unknown"
    if isinstance(error, BudgetExhausted) and error.dimension == "seconds" and not done.routable:
        return "unknown"
    return "done" if done.failure is None else "failed"


def _unknown(path: str) -> str:
    return f"{path} has effects and was interrupted, and nobody knows whether it was done"


def _no_outcome(path: str) -> Outcome:
    raise ContractError(f"{path}: verify returned True, but the node has several ways on: return the outcome")
