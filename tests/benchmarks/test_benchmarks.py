"""Every workload gives the right result on a tiny size; the command measures and reports. No timing."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest
from benchmarks import __main__ as command
from benchmarks import harness_adapter
from benchmarks.measure import Side, measure
from benchmarks.plot import plot
from benchmarks.report import as_data, line, markdown
from benchmarks.worker import Worker
from benchmarks.workloads import GROUPS, Workload, workloads

TINY = 4
WORK = sorted({(one.side, one.work, one.loop, one.times) for one in workloads() if one.op != "import"})
BASES = sorted(
    {(one.against, one.base or one.work, one.loop, one.times) for one in workloads() if one.op != "import"}
)
TURNS = {"turns": 4}
WORK_OF_PEERS = {
    "dbos": {"durable_full": 1},
    "agent_framework": TURNS,
    "pydantic_ai": TURNS,
    "openai_agents": TURNS,
}
"""What peers do that have no graphs, with how much of its size each returns."""


def request(op: str, work: str, loop: str, times: int) -> dict[str, object]:
    return {"op": op, "work": work, "size": TINY, "runs": 1, "want": TINY * times, "loop": loop}


@pytest.mark.parametrize(("side", "work", "loop", "times"), [*WORK, *BASES])
def test_each_workload_gives_the_right_result(side: str, work: str, loop: str, times: int) -> None:
    answer = Worker(side).answer(request("cpu", work, loop, times))

    assert answer is not None
    assert answer >= 0


@pytest.mark.parametrize("name", command.PEERS)
def test_a_peer_does_the_same_work(name: str) -> None:
    pytest.importorskip(command.PEERS[name])
    worker = Worker(f"{name}_side")

    for work, times in WORK_OF_PEERS.get(name, {"chain": 1, "loop": 1, "branches": 1, "build": 1}).items():
        assert worker.answer(request("cpu", work, "asyncio", times)) is not None


def test_a_wrong_result_is_told() -> None:
    with pytest.raises(AssertionError, match=r"benchmarks\.sides\.floor returned 4, not 8"):
        Worker("floor").answer(request("cpu", "loop", "asyncio", 2))


def test_the_harness_finds_what_it_asks_for() -> None:
    for name in ("REQUIRES", "DIST", "IMPORT", "NOTES"):
        assert getattr(harness_adapter, name)


async def test_the_harness_gets_the_right_results() -> None:
    assert await harness_adapter.run_chain(harness_adapter.build_chain(1)) == 1
    assert await harness_adapter.run_chain(harness_adapter.build_chain(3, 0.0001)) == 3
    assert await harness_adapter.run_loop(harness_adapter.build_loop(6), 6) == 6
    assert await harness_adapter.run_fanout(harness_adapter.build_fanout(5), 5) == 5
    assert harness_adapter.build_big(5).name == "big"


@pytest.fixture
def tiny() -> Workload:
    return Workload("loop", "loop of two nodes", "µs a visit", "loop", TINY, TINY, 1)


def test_a_figure_is_measured_and_reported_in_pairs(tiny: Workload) -> None:
    sides = {name: Side(name) for name in ("floor", "ours", "broken_side")}

    figures = list(measure(tiny, sides, 2))
    for side in sides.values():
        side.close()

    ours, broken = figures
    assert len(ours.pairs) == 2
    assert line(ours).split()[:6] == ["loop", "of", "two", "nodes", "4", "ours"]
    assert broken.error == "the worker died"
    assert line(broken).endswith("the worker died")
    assert "| loop of two nodes | 4 | µs a visit |" in markdown(figures)
    assert len(json.loads(json.dumps(as_data(figures, {})))["figures"][0]["samples"]) == 2


def test_memory_and_imports_are_measured(tiny: Workload) -> None:
    sides = {name: Side(name) for name in ("floor", "ours")}
    memory, imports = replace(tiny, op="memory"), replace(tiny, op="import", work="import")

    figures = [*measure(memory, sides, 1), *measure(imports, sides, 1)]
    for side in sides.values():
        side.close()

    assert [figure.error for figure in figures] == ["", ""]
    assert all(figure.pairs[0][0] > 0 for figure in figures)


def test_what_a_run_leaves_on_disk_is_measured(tiny: Workload) -> None:
    sides = {"stored": Side("stored")}
    stored = replace(tiny, op="disk", work="durable_normal", side="stored", against="stored", base="bare_normal")

    [figure] = measure(replace(stored, size=1_000, units=1_000), sides, 2)
    sides["stored"].close()

    assert figure.error == ""
    assert [mine for mine, _ in figure.pairs if not 20 < mine / 1_000 < 300] == []


def test_groups_and_sizes_can_be_chosen() -> None:
    assert {one.group for one in workloads(("chain", "log"))} == {"chain", "log"}
    assert max(one.size for one in workloads()) == 100_000
    assert max(one.size for one in workloads(quick=True)) == 10_000
    assert GROUPS[0] == "chain"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "chains"], "--only chains: choose from chain, loop"),
        (["--only", "chain", "--plot", "x.svg"], "--plot: the plot shows the loops"),
        (["--peer", "burr"], "--peer burr: give NAME=PYTHON, a name from langgraph"),
        (["--peer", "other=python"], "--peer other: give NAME=PYTHON"),
    ],
)
def test_a_wrong_option_is_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.options(arguments)

    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_missing_peer_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "PEERS", {"burr": "no_such_module"})

    assert list(command.sides({})) == ["floor", "ours", "prices", "models", "stored", "agents"]
    assert capsys.readouterr().out.startswith("burr: not installed here, left out")
    assert command.sides({"burr": sys.executable})["burr_side"].python == sys.executable


def test_the_plot_shows_every_point() -> None:
    figures = [
        {"group": "loop", "title": title, "side": "ours", "size": size, "cost": cost}
        for title, cost in (("loop of two nodes", 5.0), ("the same, pydantic state", 8.0))
        for size in (100, 1_000)
    ]

    picture = plot({"machine": "a <machine>", "figures": figures})

    assert picture.count("<circle") == 4
    assert "a &lt;machine&gt;" in picture
