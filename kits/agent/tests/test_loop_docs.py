"""The README shows the flow of an agent as flowcore draws it, and what cannot happen is not drawn."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace as Kit

import pytest

from flowcore import Flow, Reserve
from flowcore.render import render
from flowcore_agent import AgentLimits, AgentReply, AgentState, OwnTools, agent_flow

README = Path(__file__).parents[1] / "README.md"
AFTER = {
    ("trim", "fits", "think"),
    ("trim", "large", "compact"),
    ("compact", "", "think"),
    ("compact", "error", "think"),
    ("think", "answer", "end"),
    ("think", "calls", "act"),
    ("think", "error", "salvage"),
    ("act", "again", "trim"),
    ("act", "error", "salvage"),
    ("salvage", "", "end"),
}
WRAPPED = {
    ("think", "limit", "wrap_up"),
    ("act", "enough", "wrap_up"),
    ("wrap_up", "", "end"),
    ("wrap_up", "error", "salvage"),
}


def routes_of(flow: Flow[AgentState, object, AgentReply]) -> set[tuple[str, str, str]]:
    edges = flow.graph.edges(data=True)
    return {
        (source, kind["label"] if kind["kind"] in ("next", "label") else kind["kind"], to)
        for source, to, kind in edges
        if to in flow.graph.nodes and source in flow.graph.nodes
    }


def test_the_picture_in_the_readme_is_the_agent_flow(kit: Kit) -> None:
    pictures = re.findall(r"^```mermaid\n(.*?)^```$", README.read_text("utf-8"), re.M | re.S)
    drawn = render(agent_flow(kit.Desk([]).agent), "mermaid")
    assert drawn in pictures, f"put this into the README:\n{drawn}"


def test_the_loop_as_it_is_by_default(kit: Kit) -> None:
    assert routes_of(kit.loop_flow(kit.Desk([]).agent)) == AFTER | WRAPPED


@pytest.mark.behaviour("S3-17", "S3-18")
def test_what_cannot_happen_is_not_drawn(kit: Kit) -> None:
    agent = kit.Desk([]).agent
    bare = AgentLimits(on_limit="error", same_tool_end=None)
    strict = replace(agent, limits=bare)
    assert routes_of(kit.loop_flow(strict)) == AFTER | {("think", "over_limit", "turns_used_up")}
    done = replace(strict, own_tools=OwnTools(completion=True))
    assert routes_of(kit.loop_flow(done)) - routes_of(kit.loop_flow(strict)) == {("act", "done", "end")}
    kept = replace(agent, limits=AgentLimits(on_limit="error", same_tool_end=None, reserve=Reserve(1, 1)))
    assert routes_of(kit.loop_flow(kept)) - routes_of(kit.loop_flow(strict)) == {
        ("wrap_up", "", "end"),
        ("wrap_up", "error", "salvage"),
    }
