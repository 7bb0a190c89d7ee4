"""Measuring: samples of all sides in turn, each right after one of what it is compared with."""

from __future__ import annotations

import ast
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.workloads import Workload

__all__ = ["OWN", "Figure", "Side", "measure"]

OWN = ("floor", "ours", "prices", "models", "stored", "agents")
"""The sides that are not peers."""

_ROOT = Path(__file__).resolve().parent.parent
_ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
_PEER_SHARE = 20
"""By how much fewer runs a sample of a peer has: they take longer."""


@dataclass
class Figure:
    """What one side took for one workload: pairs of its own sample and the one of what it is compared with."""

    workload: Workload
    side: str
    pairs: list[tuple[float, float]] = field(default_factory=list)
    error: str = ""
    is_possible: bool = True

    @property
    def cost(self) -> float:
        """The median, in the workload's unit."""
        return statistics.median(mine for mine, _ in self.pairs) * self.workload.scale

    @property
    def base(self) -> float:
        """The median of what it is compared with."""
        return statistics.median(bare for _, bare in self.pairs) * self.workload.scale

    @property
    def ratio(self) -> float:
        """The median of the ratios, pair by pair."""
        return statistics.median(mine / bare for mine, bare in self.pairs if bare)


class Side:
    """A process that does the work of one side."""

    def __init__(self, name: str, python: str = sys.executable) -> None:
        self.name = name
        self.python = python
        self._process: subprocess.Popen[str] | None = None

    def ask(self, **request: Any) -> Any:
        """Return the worker's answer. Raises `RuntimeError` with what went wrong."""
        if self._process is None:
            self._process = subprocess.Popen(
                [self.python, "-m", "benchmarks.worker", self.name],
                cwd=_ROOT, env=_ENVIRONMENT, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        process = self._process
        assert process.stdin is not None  # both are pipes
        assert process.stdout is not None
        try:
            print(json.dumps(request), file=process.stdin, flush=True)
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        answer = json.loads(line or '{"error": "the worker died"}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["value"]

    def sample(self, workload: Workload, work: str, runs: int) -> float | None:
        """Return the seconds, or bytes, of one run; None for work that this side does not have."""
        if workload.op == "import":
            return self._imported()
        request = {"op": workload.op, "work": work, "size": workload.size, "runs": runs}
        taken: float | None = self.ask(**request, want=workload.want, loop=workload.loop)
        return taken

    def _imported(self) -> float | None:
        source = _constant(_ROOT / "benchmarks" / "sides" / f"{self.name}.py", "IMPORT")
        if source is None:
            return None
        began = time.perf_counter()
        subprocess.run([self.python, "-c", source], env=_ENVIRONMENT, check=True)
        return time.perf_counter() - began

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()


def _constant(file: Path, name: str) -> str | None:
    """Return a text that stands in a file of Python, which is not imported; None if there is none."""
    for statement in ast.parse(file.read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name:
            return str(ast.literal_eval(statement.value))
    return None


def measure(workload: Workload, sides: dict[str, Side], rounds: int) -> Iterator[Figure]:
    """Sample every side that does this work, `rounds` times in turn, beginning with another one each time."""
    names = [workload.side]
    if workload.peers:
        names += [name for name in sides if name not in OWN]
    figures = {name: Figure(workload, name) for name in names}
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            if figures[name].is_possible:
                _pair(figures[name], sides, workload)
    return (figure for figure in figures.values() if figure.pairs or figure.error)


def _pair(figure: Figure, sides: dict[str, Side], workload: Workload) -> None:
    runs = workload.runs if figure.side == workload.side else max(1, workload.runs // _PEER_SHARE)
    try:
        base = sides[workload.against].sample(workload, workload.base or workload.work, workload.runs)
        mine = sides[figure.side].sample(workload, workload.work, runs)
    except (RuntimeError, subprocess.CalledProcessError) as error:
        figure.error, figure.is_possible = str(error), False
        return
    figure.is_possible = mine is not None
    if mine is not None:
        figure.pairs.append((mine, base or 0.0))
