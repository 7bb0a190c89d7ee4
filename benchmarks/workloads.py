"""The workloads: what is measured, how much of it, and with what it is compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

__all__ = ["GROUPS", "Workload", "workloads"]


@dataclass(frozen=True, slots=True)
class Workload:
    """One line of the table.

    `work` is the function of a side that does it. A sample takes `runs` runs, each does `units` of it and returns
    `times` its size. It is compared with the work `base` of the side `against`.
    """

    group: str
    title: str
    unit: str
    work: str
    size: int
    units: int
    runs: int
    times: int = 1
    op: str = "cpu"
    loop: str = "asyncio"
    side: str = "ours"
    against: str = "floor"
    base: str = ""
    peers: bool = True

    @property
    def want(self) -> int:
        """What a run returns."""
        return self.size * self.times

    @property
    def scale(self) -> float:
        """By what a run's seconds, or bytes, are multiplied."""
        return {"µs": 1e6, "ms": 1e3, "B": 1.0, "KB": 1e-3}[self.unit.partition(" ")[0]] / self.units


def _loops() -> Iterator[Workload]:
    for size in (100, 1_000, 10_000, 100_000):
        runs = max(1, 20_000 // size)
        loop = Workload("loop", "loop of two nodes", "µs a visit", "loop", size, size, runs)
        yield replace(loop, peers=size <= 1_000)
        yield replace(loop, title="the same, pydantic state", work="loop_model", peers=False)


def _side_by_side() -> Iterator[Workload]:
    for group, unit in (("branches", "µs a branch"), ("items", "µs an item")):
        fan = Workload(group, f"{group} side by side", unit, group, 100, 100, 50)
        yield replace(fan, peers=group == "branches")
        yield replace(fan, title=f"{fan.title}, trio", work=f"{group}_trio", loop="trio", peers=False)


_MORE = {
    "retry": "may be retried, and is not",
    "seconds": "the run has a budget of seconds",
    "timeout": "the node has a timeout",
    "thread": "a plain def, in a thread",
    "observer": "an observer is told",
    "log_appended": "appends to a Log of 1,000",
    "numbers_read": "reads a list of 1,000 numbers",
    "numbers_appended": "appends to a list of 1,000 numbers",
    "notes_read": "reads a list of 1,000 models",
}


def _prices() -> Iterator[Workload]:
    size = 1_000
    circle = Workload("prices", "a plain visit", "µs a visit", "plain", size, size, 5, side="prices", peers=False)
    yield circle
    circle = replace(circle, against="prices", base="plain")
    for work, title in _MORE.items():
        runs = 1 if work == "notes_read" else circle.runs
        yield replace(circle, title=title, work=work, runs=runs)


def _models() -> Iterator[Workload]:
    asked = Workload(
        "models",
        "a request to a model",
        "µs a request",
        "call",
        100,
        100,
        3,
        side="models",
        against="models",
        peers=False,
    )
    yield replace(asked, base="bare_call")
    yield replace(
        asked,
        title="a piece of a stream",
        unit="µs a piece",
        work="stream",
        base="bare_stream",
        size=500,
        units=500,
    )


def _stored() -> Iterator[Workload]:
    size = 1_000
    visit = Workload("durable", "stored on SQLite, FULL", "µs a visit", "durable_full", size, size, 1, op="wall")
    visit = replace(visit, side="stored", against="stored", base="bare_full")
    yield visit
    visit = replace(visit, peers=False)
    normal = replace(visit, work="durable_normal", base="bare_normal")
    yield replace(normal, title="the same, NORMAL", runs=5)
    normal = replace(normal, op="cpu")
    yield replace(normal, title="the same, NORMAL, CPU time alone", runs=5)
    at_once = replace(visit, work="durable50", base="bare50", size=10_000, units=10_000)
    yield replace(at_once, group="durable50", title="50 stored runs at once, FULL")
    weighed = replace(normal, title="the file of a stored run", unit="B a visit", op="disk")
    yield replace(weighed, group="bytes", size=10_000, units=10_000)
    normal = replace(normal, group="lengths", title="a stored run, NORMAL")
    for length in (10, 1_000, 100_000):
        stretch = replace(normal, size=length, units=length, runs=max(1, 5_000 // length))
        yield stretch
        yield replace(weighed, group="lengths", size=length, units=length)
    taken_up = replace(visit, work="resume", base="bare_resume", size=100_000, units=1)
    yield replace(taken_up, group="lengths", title="resume a stored run", unit="ms")


def _all() -> Iterator[Workload]:
    yield Workload("chain", "chain of 50 nodes", "µs a visit", "chain", 50, 50, 200)
    yield from _loops()
    yield from _side_by_side()
    yield Workload("subflows", "sub-flows of 4 nodes", "µs a visit", "subflows", 20, 80, 50, 4, peers=False)
    for size in (1_000, 5_000, 20_000):
        yield Workload("build", "declare and check", "ms", "build", size, 1, 1, peers=size <= 5_000)
    yield Workload("many", "runs at once, 10 nodes of 1 ms", "ms", "many", 1_000, 1, 1, 10, op="wall")
    yield Workload("import", "import and declare 7 nodes", "ms", "import", 7, 1, 1, op="import")
    loop = Workload("memory", "trace and all else, loop", "B a visit", "loop", 10_000, 10_000, 1, op="memory")
    yield replace(loop, peers=False)
    yield Workload("memory", "runs at once, 10 nodes", "KB a run", "many", 1_000, 1_000, 1, 10, op="memory")
    log = Workload("log", "Log of 100,000, against an empty one", "µs a visit", "log", 1_000, 1_000, 10)
    yield replace(log, against="ours", base="log_empty", peers=False)
    yield from _prices()
    yield Workload(
        "turns", "turn of an agent, 4 calls of tools", "µs a turn", "turns", 10, 10, 40, 4, side="agents"
    )
    yield from _models()
    yield from _stored()


GROUPS = tuple(dict.fromkeys(one.group for one in _all()))


def workloads(only: tuple[str, ...] = (), *, quick: bool = False) -> list[Workload]:
    """Return the workloads of the named groups, or of all; quickly, without the longest."""
    chosen = [one for one in _all() if not only or one.group in only]
    return [one for one in chosen if not quick or one.size <= 10_000]
