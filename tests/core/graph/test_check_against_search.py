"""The check of a flow, held against a brute-force search over random flows."""

from __future__ import annotations

import re
from collections import Counter

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings

from flowcore import FlowError, Problem

from .flow_specs import FlowSpec, build, declared_edges, flow_specs, is_free, unfolded, verdict

SHOWN = re.compile(r"paid for: (?P<cycle>.+) \(the part without a round boundary has (?P<size>\d+) nodes?\)$")
HOP = re.compile(r"(?P<source>n\d) --(?:(?P<words>[^>]+?)--)?>(?= (?P<target>n\d))")

many = settings(deadline=None, suppress_health_check=list(HealthCheck))


def problems_of(spec: FlowSpec) -> tuple[Problem, ...]:
    try:
        build(spec)
    except FlowError as error:
        return error.problems
    return ()


@pytest.mark.behaviour("S2-20", "S2-21", "S2-22", "S2-23", "A01", "A07")
@settings(many, max_examples=150)
@given(flow_specs())
def test_the_check_finds_what_a_search_finds_and_nothing_else(spec: FlowSpec) -> None:
    found = Counter((problem.code, problem.where) for problem in problems_of(spec))
    assert found == verdict(spec).problems


@pytest.mark.behaviour("S2-20", "S2-23")
@settings(many, max_examples=80)
@given(flow_specs(depth=1))
def test_each_unpaid_part_is_shown_once_by_one_of_its_shortest_cycles(spec: FlowSpec) -> None:
    parts = dict(verdict(spec).parts)
    declared = {(f"n{source}", words, f"n{target}") for source, words, target in declared_edges(spec)}
    for problem in problems_of(spec):
        if problem.code != "unpaid_cycle":
            continue
        shown = SHOWN.search(problem.message)
        assert shown is not None, problem.message
        hops = [(hop["source"], hop["words"] or "", hop["target"]) for hop in HOP.finditer(shown["cycle"])]
        assert set(hops) <= declared
        assert all(is_free(spec, source, words) for source, words, _ in hops)
        sources, targets = [hop[0] for hop in hops], [hop[2] for hop in hops]
        assert [*targets[-1:], *targets[:-1]] == sources
        assert len(set(sources)) == len(sources)
        part = next(part for part in parts if sources[0] in part)
        assert set(sources) <= part
        assert len(sources) == parts.pop(part)
        assert int(shown["size"]) == len(part)
    assert parts == {}


@settings(many, max_examples=80)
@given(flow_specs())
def test_a_flow_can_be_passed_unpaid_where_a_search_finds_a_way(spec: FlowSpec) -> None:
    if problems_of(spec):
        return
    graph = unfolded(spec)
    reached = ":end" in graph and ":end" in nx.descendants(graph, "n0:door")
    assert build(spec).plan.passable is reached
