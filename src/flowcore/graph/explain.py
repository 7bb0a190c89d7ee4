"""The explanation of unpaid cycles. The only room of the check that needs networkx."""

from __future__ import annotations

from typing import NamedTuple

import networkx as nx

from .plan import Edge, Plan, PlanNode

__all__ = ["UnpaidCycle", "cycle_from", "unpaid_cycles"]


class UnpaidCycle(NamedTuple):
    """One shortest cycle of a part that can be walked round unpaid, the size of the part, and what would pay.

    `remedy` is set where no node of the cycle can pay for it by starting a round.
    """

    words: str
    size: int
    payers: tuple[str, ...]
    remedy: str | None


def unpaid_cycles(plan: Plan) -> list[UnpaidCycle]:
    """Return one shortest cycle for each part of the plan that can be walked round unpaid."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    kinds: dict[tuple[int, int], Edge] = {}
    for item in plan.nodes.values():
        for edge in item.unpaid():
            graph.add_edge(edge.source.index, edge.target.index)
            kinds.setdefault((edge.source.index, edge.target.index), edge)
    found: list[UnpaidCycle] = []
    for part in sorted(nx.strongly_connected_components(graph), key=min):
        cycle = _shortest_cycle(graph.subgraph(part))
        if cycle:
            hops = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
            edges = [kinds[hop] for hop in hops]
            found.append(UnpaidCycle(_words(edges), len(part), *_payers(edges)))
    return found


def cycle_from(plan: Plan, start: PlanNode) -> str:
    """Return one shortest cycle among the nodes that can be reached from `start`, whatever its routes cost."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    kinds: dict[tuple[int, int], Edge] = {}
    for edge in plan.edges():
        graph.add_edge(edge.source.index, edge.target.index)
        kinds.setdefault((edge.source.index, edge.target.index), edge)
    reached = graph.subgraph({start.index, *nx.descendants(graph, start.index)})
    parts = sorted(nx.strongly_connected_components(reached), key=min)
    cycle = next(cycle for part in parts if (cycle := _shortest_cycle(graph.subgraph(part))))
    return _words([kinds[hop] for hop in zip(cycle, [*cycle[1:], cycle[0]], strict=True)])


def _shortest_cycle(part: nx.DiGraph[int]) -> list[int]:
    # A cycle whose nodes all have one way on is the whole part; every other one has a node with a choice.
    choices = sorted(node for node, ways in part.out_degree() if ways > 1)
    best: list[int] = []
    for node in choices or sorted(part)[:1]:
        paths = nx.single_source_shortest_path(part, node, cutoff=len(best) - 2 if best else None)
        for before in part.predecessors(node):
            if before in paths and (not best or len(paths[before]) < len(best)):
                best = paths[before]
        if len(best) == 1:
            break
    return best


def _words(cycle: list[Edge]) -> str:
    hops = (f"--{edge.words}--> {edge.target.id}" if edge.words else f"--> {edge.target.id}" for edge in cycle)
    return " ".join([cycle[0].source.id, *hops])


def _payers(cycle: list[Edge]) -> tuple[tuple[str, ...], str | None]:
    leaving = [edge for edge in cycle if edge.kind != "over_limit"]
    if payers := tuple(edge.source.id for edge in leaving if not edge.source.is_composite):
        return payers, None
    if inside := [edge.source.id for edge in leaving if edge.kind != "error"]:
        return (), f"Let every path through {' or '.join(inside)} start a round"
    return (), "Point one of these routes elsewhere: they are free, whatever the nodes start"
