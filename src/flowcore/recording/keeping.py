"""Keeping: what of a node must stay as it was, so that a run that was stored at it or inside it can go on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .declared import GraphData, NodeData, RouteData

__all__ = [
    "EFFECTS",
    "FINISHES",
    "JOIN",
    "KIND",
    "LEFT",
    "SHARES",
    "SIDE_BY_SIDE",
    "Broken",
    "broken_inside",
    "broken_node",
    "broken_routes",
    "former_ids",
    "keeps_outcomes",
]

KIND = "a stored run may stand at it, as what it was"
EFFECTS = "a stored run may have begun it under another rule"
JOIN = "the branches of a stored run wait for another join"
SHARES = "a stored walk inside holds another state"
SIDE_BY_SIDE = "the branches of a stored run would not be the same"
LEFT = "a stored run may be about to leave by it"
FINISHES = "a stored run may be on its finish path"


class Broken(NamedTuple):
    """What changed of a node so that stored runs break: what it was, what it is, and why that matters."""

    was: str
    now: str
    why: str


def broken_node(old: NodeData, new: NodeData) -> Iterator[Broken]:
    """Yield what keeps a run that stands at a node, or inside it, from going on there."""
    if old.kind != new.kind:
        yield Broken(f"a node of kind {old.kind}", new.kind, KIND)
    elif old.effects != new.effects:
        words = ("without effects", "with effects")
        yield Broken(words[old.effects], words[new.effects], EFFECTS)


def broken_inside(old: NodeData, new: NodeData) -> Iterator[Broken]:
    """Yield what keeps a run that is inside a composite from going on there, apart from what stands inside."""
    if old.kind != new.kind:
        return
    if old.join != new.join:
        yield Broken(f"join {old.join}", f"join {new.join}", JOIN)
    if old.shares_state != new.shares_state:
        words = ("a state of its own", "the state of the flow around it")
        yield Broken(words[bool(old.shares_state)], words[bool(new.shares_state)], SHARES)
    if old.branches is not None and new.branches is not None:
        names = former_ids(old.branches, new.branches)
        was, now = [names.get(id, id) for id in old.branches.starts], list(new.branches.starts)
        if was != now:
            yield Broken(f"branches {', '.join(old.branches.starts)}", ", ".join(now), SIDE_BY_SIDE)


def keeps_outcomes(node: NodeData) -> bool:
    """Return whether a run keeps what a visit of the node came to before it ended: an answer, or an effect."""
    return node.waits or node.effects


def broken_routes(old: NodeData, was: Iterable[RouteData], now: Iterable[RouteData]) -> Iterator[RouteData]:
    """Yield the routes that are gone, by which a run that is inside a visit of the node may have to leave."""
    if keeps_outcomes(old):
        known = {(route.kind, route.label) for route in now}
        if old.kind == "approve" and ("label", "denied") in known:
            known.add(("label", "expired"))  # it stands in
        yield from (
            route for route in was if route.kind in ("next", "label") and (route.kind, route.label) not in known
        )


def former_ids(old: GraphData, new: GraphData) -> dict[str, str]:
    """Return today's ids of nodes by the former ones that they name."""
    known = {node.id for node in old.nodes}
    return {former: node.id for node in new.nodes if node.id not in known for former in node.renamed_from}
