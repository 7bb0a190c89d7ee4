"""The wording: what changed of a node or a route, in a few words each."""

from __future__ import annotations

from collections.abc import Iterator

from ..recording import NodeData, RouteData
from ..recording.declared import Limits
from ..recording.keeping import EFFECTS, JOIN, KIND, SHARES

__all__ = ["listed", "node_changes", "route_words", "setting_words"]


def node_changes(
    old: NodeData, new: NodeData, *, implied: tuple[str, str] | None, routed: bool
) -> Iterator[tuple[str, str]]:
    """Yield what changed of a node, each with why it breaks stored runs.

    Not told again is a change of its state that is `implied` by that of the flow around it, nor that it goes on
    without a label where its routes say so (`routed`).
    """
    yield from _nature_changes(old, new)
    if old.completes != new.completes:
        yield f"completes with {listed(new.completes)}, was {listed(old.completes)}", ""
    if old.continues != new.continues and not routed:
        yield "now goes on without a label" if new.continues else "goes on with a label only", ""
    if old.state != new.state and (old.state, new.state) != implied:
        yield f"takes {new.state}, was {old.state}", ""
    if old.deps != new.deps:
        yield f"wants deps {new.deps}, was {old.deps}", ""
    if old.writes != new.writes:
        yield f"writes {_fields(new.writes)}, was {_fields(old.writes)}", ""
    yield from ((words, "") for words in _limit_changes(old, new))
    if old.kind == new.kind:
        yield from _composite_changes(old, new)


def _nature_changes(old: NodeData, new: NodeData) -> Iterator[tuple[str, str]]:
    if old.kind != new.kind:
        yield f"{old.kind} to {new.kind}", KIND
    if old.description != new.description:
        yield "another description", ""
    if old.starts_round != new.starts_round:
        yield "now starts a round" if new.starts_round else "starts no round any more", ""
    if old.effects != new.effects:
        yield "now has effects" if new.effects else "has no effects any more", EFFECTS


def _limit_changes(old: NodeData, new: NodeData) -> Iterator[str]:
    if old.timeout != new.timeout:
        yield f"timeout {_number(old.timeout, ' s')} to {_number(new.timeout, ' s')}"
    if old.retry != new.retry:
        yield f"retry {_number(old.retry)} to {_number(new.retry)}"
    if old.max_visits != new.max_visits:
        yield f"max visits {_number(old.max_visits)} to {_number(new.max_visits)}"
    if old.waits and new.waits:
        if old.expires != new.expires:
            yield f"expires after {_number(new.expires, ' s')}, was {_number(old.expires, ' s')}"
        if old.form != new.form:
            yield f"form {new.form or 'none'}, was {old.form or 'none'}"
    if old.kind == new.kind:
        yield from setting_words("budget", old.budget, new.budget)


def _composite_changes(old: NodeData, new: NodeData) -> Iterator[tuple[str, str]]:
    if old.join != new.join:
        yield f"join {old.join} to {new.join}", JOIN
    if old.limit != new.limit:
        yield f"{_number(new.limit)} at a time, was {_number(old.limit)}", ""
    if old.on_item_error != new.on_item_error:
        yield f"on the error of an item: {old.on_item_error} to {new.on_item_error}", ""
    if old.shares_state != new.shares_state:
        yield "now shares the state" if new.shares_state else "now has a state of its own", SHARES


def setting_words(name: str, old: Limits | None, new: Limits | None) -> Iterator[str]:
    """Yield what changed of a budget or a reserve, by its dimensions."""
    if old is None or new is None:
        if old != new:
            yield f"{name} {_limits(old)} to {_limits(new)}"
        return
    for dimension in [*new, *(dimension for dimension in old if dimension not in new)]:
        was, now = old.get(dimension), new.get(dimension)
        if was != now:
            yield f"{name} of {dimension} {_number(was)} to {_number(now)}"


def route_words(route: RouteData) -> str:
    """Return where a route leads and when it is taken."""
    if route.kind == "next":
        return route.target
    if route.kind == "label":
        return f"{route.target} on {route.label if route.label.strip() else repr(route.label)}"
    if route.kind == "over_limit":
        return f"{route.target} over its limit"
    exempt = f" but {route.exempt}" if route.exempt else ""
    default = ", by default" if route.default else ""
    return f"{route.target} on {f'error {route.label}' if route.label else 'any error'}{exempt}{default}"


def listed(types: tuple[str, ...]) -> str:
    """Return types as a union of them."""
    return " | ".join(types) or "none"


def _fields(writes: tuple[str, ...] | None) -> str:
    return "any field" if writes is None else ", ".join(writes) or "nothing"


def _limits(limits: Limits | None) -> str:
    if limits is None:
        return "none"
    return ", ".join(f"{dimension} {_number(limit)}" for dimension, limit in limits.items()) or "without a limit"


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return "none"
    return f"{int(value)}{unit}" if float(value).is_integer() else f"{value:g}{unit}"
