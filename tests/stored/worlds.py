"""Worlds of random runs that can be lived again: nests of composites, and walks with limits and failures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.side.nests import Leaf, Sheet, flow_of, random_nest
from tests.stepping import StepClock
from tests.walk.random_flows import FlowSpec, Op, RunSpec, build, random_run
from tests.walk.world import World as WalkWorld

from flowcore import Budget, Flow, Step

LONG = 1_000_000.0


@dataclass(frozen=True)
class World:
    """A flow that has not run yet, its clock, what it begins with; `ran` are the paths of the visits begun."""

    flow: Flow[Any, Any, Any]
    clock: StepClock
    state: Any
    budget: Budget
    ran: list[str]


Make = Callable[[int], World]


def nest(seed: int) -> World:
    """Returns rows, branches, items and sub-flows inside one another: some fail, hang, are tried again."""
    clock, ran = StepClock(), list[str]()

    async def act(step: Step[Sheet], leaf: Leaf) -> None:
        ran.append(step.path)
        await step.deps.at(step) if step.deps is not None else None  # type: ignore[attr-defined]
        if leaf.hangs:
            await clock.sleep(LONG)
        rng = Random(f"{seed} {step.path}")
        for _ in range(rng.randrange(3)):
            await clock.sleep(rng.choice([0.0, 0.1, 0.2, 0.5]))

    return World(flow_of(random_nest(seed), act), clock, Sheet(words=["a", "b"]), Budget(rounds=None), ran)


class _Acts(WalkWorld):
    """Does what a node is told to, and nothing that tells of itself."""

    def __init__(self, spec: RunSpec, ran: list[str]) -> None:
        super().__init__(spec)
        self.ran = ran

    async def act(self, step: Any, ops: tuple[Op, ...]) -> None:
        self.ran.append(step.path)
        if step.deps is not None:
            await step.deps.at(step)
        step.state.marks.append(f"{step.path}@{step.attempt}")
        if step.error is not None:
            step.state.marks.append(f"{step.error.path} {step.error.type}: {step.error}")
        if step.exhausted is not None:
            step.state.marks.append(step.exhausted)
        for word, *values in ops:
            await getattr(self, f"do_{word}")(step, *values)

    async def point(self) -> None:
        """Nothing is injected here."""


def free_walk(seed: int) -> World:
    """Returns a walk in which nothing but rounds is paid: what an interrupted visit has paid stays paid."""
    return walk(seed, without=("charge", "tool"))


def walk(seed: int, without: tuple[str, ...] = ()) -> World:
    """Returns sub-flows with budgets, failures and their routes, retries, limits of visits, a finish path."""
    spec, ran = random_run(seed), list[str]()
    flow = _untimed(spec.flow, (*without, "emit", "model"))
    spec = replace(spec, flow=flow, budget=replace(spec.budget, seconds=None), inject="none")
    world = _Acts(spec, ran)
    return World(build(spec.flow, spec.state, world.act, world.work), world.clock, spec.state(), spec.budget, ran)


def _untimed(flow: FlowSpec, without: tuple[str, ...]) -> FlowSpec:
    """Returns a flow without time that runs out between visits, and without what tells of itself."""
    nodes = tuple(
        replace(
            item,
            thread=False,
            timeout=None if item.inner is not None else _apart(item.timeout),
            budget=item.budget and replace(item.budget, seconds=None),
            inner=item.inner and _untimed(item.inner, without),
            ops=_only(item.ops, without),
        )
        for item in flow.nodes
    )
    finish = None if flow.finish is None else _only(flow.finish, without)
    timeout = _apart(flow.node_timeout)
    return replace(
        flow, nodes=nodes, node_timeout=timeout, finish=finish, reserve=replace(flow.reserve, seconds=0.0)
    )


def _apart(timeout: float | None) -> float | None:
    """Returns a timeout that never ends at the moment at which a node does: what comes first then is chance."""
    return None if timeout is None else timeout + 0.03


def _only(ops: tuple[Op, ...], without: tuple[str, ...]) -> tuple[Op, ...]:
    return tuple(op for op in ops if op[0] not in without)
