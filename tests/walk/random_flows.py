"""Random small flows as plain data, and the flows that are built of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from operator import or_
from random import Random
from typing import Any, Literal

from pydantic import BaseModel

from flowcore import Budget, Complete, Continue, Flow, FlowError, Reserve, Retry, Step, node

Op = tuple[Any, ...]
"""What a node does: a word and its values; `world.py` says what each word means."""


@dataclass
class Plain:
    marks: list[str] = field(default_factory=list)
    number: int = 0
    nested: dict[str, list[int]] = field(default_factory=dict)


class Model(BaseModel):
    marks: list[str] = []
    number: int = 0
    nested: dict[str, list[int]] = {}


@dataclass
class Child:
    marks: list[str] = field(default_factory=list)
    number: int = 0
    nested: dict[str, list[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class NodeSpec:
    """One node. `labels` maps what it may say to the number of its target; "" is a plain Continue."""

    ops: tuple[Op, ...] = ()
    labels: tuple[tuple[str, int], ...] = ()
    completes: bool = False
    starts_round: bool | None = None
    error: tuple[tuple[str, int | None], ...] = ()
    timeout: float | None = None
    retry: int = 0
    max_visits: int | None = None
    over_limit: int | None = None
    thread: bool = False
    inner: FlowSpec | None = None
    shared: bool = True
    budget: Budget | None = None


@dataclass(frozen=True)
class FlowSpec:
    nodes: tuple[NodeSpec, ...]
    default: int | None = None
    node_timeout: float | None = None
    finish: tuple[Op, ...] | None = None
    reserve: Reserve = field(default_factory=Reserve)


@dataclass(frozen=True)
class RunSpec:
    """A flow, the limits of its run, and what happens to it: `inject` at the `at`-th place where a node waits."""

    flow: FlowSpec
    budget: Budget
    state: type
    inject: str
    at: int
    leap: float


ERRORS: dict[str, tuple[type[Exception], ...]] = {"any": (), "ValueError": (ValueError,), "KeyError": (KeyError,)}


def random_run(seed: int) -> RunSpec:
    """Returns the run of a seed. Five seeds in a row share a flow: they differ in limits and in what happens."""
    rng = Random(seed)
    inject = rng.choice(["none", "time", "early", *["inside", "other", "caller"] * 3])
    budget = Budget(
        rounds=rng.choice([0, 1, 2, *[4, 5, 6] * 4]),
        requests=rng.choice([None, None, None, 0, 1, 3, 5]),
        tool_calls=rng.choice([None, None, 1, 2]),
        tokens=rng.choice([None, None, 10, 40]),
        cost=rng.choice([None, None, 0.5]),
        seconds=rng.choice([*[None] * 12, 0.0, 1.0, 2.0, 4.0, 4.0]),
    )
    spec = shared_flow(seed // 5)
    if not fits(spec.reserve, budget):
        spec = replace(spec, reserve=Reserve())
    state = rng.choice([Plain, Plain, Plain, Model])
    return RunSpec(spec, budget, state, inject, rng.randrange(1, 9), rng.choice([0.5, 1.0, 3.0, 20.0]))


@lru_cache(maxsize=4)
def shared_flow(seed: int) -> FlowSpec:
    rng = Random(seed)
    return random_flow(rng, depth=rng.choice([0, 1, 1, 2, 3]))


def fits(reserve: Reserve, budget: Budget) -> bool:
    names = ("requests", "rounds", "tool_calls", "tokens", "cost", "seconds")
    limits = [(getattr(reserve, name), getattr(budget, name)) for name in names]
    return all(limit is None or amount <= limit for amount, limit in limits)


def random_flow(rng: Random, depth: int) -> FlowSpec:
    while True:
        spec = _flow(rng, depth)
        try:
            build(spec, Plain, lambda *_: None, lambda *_: None)
        except FlowError:
            continue
        return spec


def _flow(rng: Random, depth: int) -> FlowSpec:
    size = rng.choice([2, 3, 3, 4] if depth else [1, 2, 3])
    finish = tuple(_ops(rng, finish=True)) if rng.random() < 0.3 else None
    reserve = Reserve()
    if finish is not None:
        reserve = Reserve(
            requests=rng.choice([0, 1]),
            rounds=0,
            tool_calls=rng.choice([0, 1]),
            tokens=rng.choice([0, 10]),
            seconds=rng.choice([0.0, 0.5]),
        )
    return FlowSpec(
        tuple(_node(rng, number, size, depth) for number in range(size)),
        default=size - 1 if rng.random() < 0.3 else None,
        node_timeout=rng.choice([None, None, None, 2.0]),
        finish=finish,
        reserve=reserve,
    )


def _node(rng: Random, number: int, size: int, depth: int) -> NodeSpec:
    last = number == size - 1
    labels: list[tuple[str, int]] = []
    if not last:
        labels = [("", number + 1)] if rng.random() < 0.6 else [("go", number + 1)]
    if (last or labels[0][0]) and rng.random() < 0.5:
        labels.append(("back", rng.randrange(0, number + 1)))
    later = list(range(number + 1, size))
    errors = [(kind, rng.choice([None, *later, *later])) for kind in ERRORS if later and rng.random() < 0.25]
    spec = NodeSpec(
        ops=tuple(_ops(rng)),
        labels=tuple(labels),
        completes=last,
        starts_round=rng.choice([None, None, True, False]),
        error=tuple(errors),
        timeout=rng.choice([None, None, None, 1.0]),
        retry=rng.choice([0, 0, 0, 2, 3]),
        max_visits=rng.choice([*[None] * 12, 0, 1, 1, 2, 2, 3]),
        over_limit=rng.choice(later) if later and rng.random() < 0.3 else None,
        thread=rng.random() < 0.03,
    )
    if depth and rng.random() < 0.5:
        return _subflow(rng, spec, depth)
    return spec


def _subflow(rng: Random, spec: NodeSpec, depth: int) -> NodeSpec:
    inner = random_flow(rng, depth - 1)
    budget = None
    if rng.random() < 0.5:
        budget = Budget(
            rounds=rng.choice([1, 3]), requests=rng.choice([None, 1, 2]), seconds=rng.choice([None, 1.5])
        )
        if not fits(inner.reserve, budget):
            inner = replace(inner, reserve=Reserve())
    shared = [label for label, _ in spec.labels] == [""] and not spec.completes and rng.random() < 0.6
    return replace(spec, inner=inner, shared=shared, budget=budget, retry=0, thread=False, starts_round=None)


def _ops(rng: Random, *, finish: bool = False) -> list[Op]:
    ops: list[Op] = []
    for _ in range(rng.choice([0, 1, 2, 2, 3, 4])):
        word = rng.choice(["sleep"] * 6 + ["pass"] * 3 + ["set", "emit", "emit", "nested", "within"]
                          + ["charge", "tool", "model", "model", "swallow", "shield", "answer"])  # fmt: skip
        seconds = rng.choice([0.1, 0.2, 0.4, 0.9, 1.5])
        ops.append((word, seconds))
    if finish:
        ops.append(("reserved",))
    elif rng.random() < 0.25:
        kind = rng.choice(["ValueError", "ValueError", "KeyError", "OSError", "group", "one", "contract"])
        ops.insert(rng.randrange(len(ops) + 1), ("fail", kind, rng.choice([1, 1, 2, 9])))
    return ops


# ---- The flow of a spec ------------------------------------------------------------------------------------


def build(spec: FlowSpec, state: type, act: Callable[..., Any], work: Callable[..., Any], name: str = "f") -> Any:
    """Returns the flow. A node awaits `act(step, ops)`, or calls `work(step, ops)` in a thread, and then returns
    what its row says."""
    bare = [_made(item, f"n{number}", state, act, work) for number, item in enumerate(spec.nodes)]
    rows = [_routed(item, bare[number], bare) for number, item in enumerate(spec.nodes)]
    finish = None
    if spec.finish is not None:
        finish = _made(NodeSpec(ops=spec.finish, completes=True), "fin", state, act, work)
        rows.append(finish)
    default = None if spec.default is None else bare[spec.default]
    return Flow(name, *rows, on_error=default, finish=finish, reserve=spec.reserve, node_timeout=spec.node_timeout)


def outcome_of(item: NodeSpec, visit: int) -> Any:
    """Returns what the node says at its n-th visit: it takes turns between its labels, and completes last."""
    said: list[Any] = [
        Continue() if label == "" else Continue(label, why={"n": visit}) for label, _ in item.labels
    ]
    said += [Complete(f"done {visit}")] if item.completes else []
    return said[-visit % len(said)]


def _hint(item: NodeSpec) -> Any:
    hints: list[Any] = [Complete[str]] if item.completes else []
    hints += [Continue if label == "" else Continue[Literal[label]] for label, _ in item.labels]  # type: ignore[valid-type]
    return reduce(or_, hints)


def _made(item: NodeSpec, id: str, state: type, act: Callable[..., Any], work: Callable[..., Any]) -> Any:
    if item.inner is not None:
        return _embedded(item, item.inner, id, state, act, work)

    async def function(step: Any) -> Any:
        await act(step, item.ops)
        return outcome_of(item, step.visit)

    def blocking(step: Any) -> Any:
        work(step, item.ops)
        return outcome_of(item, step.visit)

    chosen = blocking if item.thread else function
    chosen.__annotations__.update(step=Step[state], **{"return": _hint(item)})  # type: ignore[valid-type]
    return node(id=id, starts_round=item.starts_round)(chosen)


def _embedded(
    item: NodeSpec, inner: FlowSpec, id: str, state: type, act: Callable[..., Any], work: Callable[..., Any]
) -> Any:
    if item.shared:
        return build(inner, state, act, work, "inner").as_node(id, state=state, budget=item.budget)

    def enter(outer: Any) -> Child:
        return Child(number=outer.number)

    def leave(draft: Any, result: Any) -> Any:
        draft.marks.append(f"left {id}")
        return outcome_of(item, 1 if len(draft.marks) % 2 else 2)

    leave.__annotations__["return"] = _hint(item)
    flow = build(inner, Child, act, work, "inner")
    return flow.as_node(id, state=state, enter=enter, leave=leave, budget=item.budget)


def _routed(item: NodeSpec, row: Any, bare: list[Any]) -> Any:
    for label, target in item.labels:
        row = row.to({label: bare[target]}) if label else row.to(bare[target])
    for kind, aim in item.error:
        row = row.on_error(None if aim is None else bare[aim], *ERRORS[kind])
    if item.over_limit is not None and item.max_visits is not None:
        row = row.over_limit(bare[item.over_limit])
    retry = Retry(attempts=item.retry, wait=0.2) if item.retry else None
    if item.timeout is not None:
        row = row.using(timeout=item.timeout)
    return row.using(retry=retry, max_visits=item.max_visits)
