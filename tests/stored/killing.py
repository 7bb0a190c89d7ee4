"""Killing: runs that are killed at random moments, resumed, killed again; and what is looked at afterwards.

`python -m tests.stored.killing --points 200` prints the counts. A point is one SIGKILL of a process that walks.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self

import anyio
from tests.stored.kill_flows import DEVIATES, FLOWS
from tests.stored.kill_server import RUN_ID, Job

from flowcore.errors import RunNotFound
from flowcore.store import SQLiteRunStore, Stored, VisitRow

LIVES = 6
"""How often a run is killed at most."""
_ROOT = Path(__file__).parents[2]


@dataclass
class Counts:
    """What was done, and what was found to be wrong."""

    kills: int = 0
    runs: int = 0
    visits: int = 0
    again: int = 0
    effects: int = 0
    reported: int = 0
    by_flow: Counter[str] = field(default_factory=Counter)
    lives: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


class Server:
    """The process that forks lives."""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.stored.kill_server"]
        self._process = subprocess.Popen(
            command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ}
        )
        return self

    def live(self, job: Job) -> dict[str, Any]:
        """Lives through a job, and returns whether it was killed and how long it took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(asdict(job))}\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._process.communicate()


@dataclass
class Expected:
    """The run that nothing disturbed."""

    result: dict[str, Any]
    trace: str
    seconds: float
    requests: int
    effects: list[str]


def kill_all(
    points: int,
    seed: int,
    backends: Sequence[str] = ("asyncio", "trio"),
    flows: Sequence[str] = tuple(sorted(FLOWS)),
    lives: int = LIVES,
) -> Counts:
    """Kills processes at so many random moments, and returns what came of it."""
    counts, rng, expected = Counts(), Random(seed), dict[tuple[str, str], Expected]()
    with Server() as server, tempfile.TemporaryDirectory() as place:
        while counts.kills < points:
            name, backend = flows[counts.runs % len(flows)], backends[counts.runs // len(flows) % len(backends)]
            if (name, backend) not in expected:
                expected[name, backend] = undisturbed(server, Path(place), name, backend)
            counts.runs += 1
            folder = _folder(Path(place), f"{counts.runs}")
            found = list(kill_one(server, folder, name, backend, expected[name, backend], rng, counts, lives))
            counts.faults += [f"{name} {backend} run {counts.runs} of seed {seed}: {fault}" for fault in found]
    return counts


def undisturbed(server: Server, place: Path, name: str, backend: str) -> Expected:
    """Returns what a run comes to that nobody kills."""
    folder = _folder(place, f"{name} {backend}")
    lived = server.live(Job(str(folder), name, 1, None, True, backend))
    trace, effects = (folder / "trace").read_text(), _lines(folder, "effects")
    return Expected(_result(folder), trace, lived["seconds"], _requests(folder), effects)


def kill_one(
    server: Server,
    folder: Path,
    name: str,
    backend: str,
    expected: Expected,
    rng: Random,
    counts: Counts,
    lives: int = LIVES,
) -> Iterator[str]:
    """Lives one run to its end, killed a few times, and yields what is wrong with it."""
    committed: dict[str, int] = {}
    kills = rng.randint(1, lives)
    for life in range(1, kills + 2):
        delay = rng.uniform(0.0, expected.seconds * (1.1 if life == 1 else 0.7)) if life <= kills else None
        answers = delay is None or rng.random() < 0.4
        killed = server.live(Job(str(folder), name, life, delay, answers, backend))["killed"]
        counts.kills += killed
        counts.by_flow[name] += killed
        if (folder / "fault").exists():
            yield (folder / "fault").read_text()
            return
        if (stored := record(folder)) is not None:
            yield from _lost(stored, folder)
            for path in _committed(stored):
                committed.setdefault(path, life)
        if not killed:
            break
    counts.lives[life] += 1
    yield from _twice(folder, committed, counts)
    yield from _effects(folder, expected, counts)
    yield from _different(folder, name, expected)


def _lost(stored: Stored, folder: Path) -> Iterator[str]:
    """Yields what a process had been told that it was written, and is not there."""
    there = {"visits": {row.seq for row in stored.visits}, "notes": {row.seq for row in stored.notes}}
    keys: dict[str, set[Any]] = {
        **there,
        "requests": {row.id for row in stored.requests},
        "calls": {row.key for row in stored.calls},
    }
    for line in _lines(folder, "told"):
        for kind, values in json.loads(line).items():
            if lost := set(values) - keys[kind]:
                yield f"{kind} {sorted(lost)} were reported as written, and are lost"


def _twice(folder: Path, committed: dict[str, int], counts: Counts) -> Iterator[str]:
    """Yields visits that ran again although they had been committed."""
    began = [line.split() for line in _lines(folder, "visits")]
    counts.visits += len(began)
    counts.again += len(began) - len({(path, attempt) for _, path, attempt in began})
    counts.reported += len(_lines(folder, "told"))
    for life, path, _ in began:
        if int(life) > committed.get(path, LIVES + 2):
            yield f"{path} was committed in life {committed[path]} and ran again in life {life}"


def _effects(folder: Path, expected: Expected, counts: Counts) -> Iterator[str]:
    done = Counter(_lines(folder, "effects"))
    counts.effects += done.total()
    if sorted(done.elements()) != sorted(expected.effects):
        yield f"effects {sorted(done.elements())}, not {sorted(expected.effects)}"


def _different(folder: Path, name: str, expected: Expected) -> Iterator[str]:
    """Yields what is not as in the run that nobody killed."""
    trace, leaves_out = (folder / "trace").read_text(), ("usage", "trace") if name in DEVIATES else ()
    if (folder / "result").exists() and (folder / "conflict").exists():
        (folder / "result").unlink()
    for key, wanted in expected.result.items():
        if (folder / "result").exists() and key not in leaves_out and _result(folder)[key] != wanted:
            yield f"{key}: {_result(folder)[key]}\n, not {wanted}"
    if name not in DEVIATES and trace != expected.trace:
        yield f"the trace is\n{trace}, not\n{expected.trace}"
    if name not in DEVIATES and _requests(folder) != expected.requests:
        yield f"{_requests(folder)} requests, not {expected.requests}"


def record(folder: Path) -> Stored | None:
    """Returns what is written of the run of a folder; None if it was killed before there was anything."""

    async def load() -> Stored | None:
        store = SQLiteRunStore(folder / "runs.db")
        try:
            return await store.load(RUN_ID)
        except RunNotFound:
            return None
        finally:
            await store.aclose()

    return anyio.run(load)


def _requests(folder: Path) -> int:
    stored = record(folder)
    return 0 if stored is None else len(stored.requests)


def _committed(stored: Stored) -> Iterator[str]:
    frames = {row.frame: row for row in stored.frames}

    def path(row: VisitRow) -> str:
        above, frame = "", frames[row.frame]
        while frame.parent >= 0:
            place = f"[{frame.place}]" if frame.place >= 0 and not frame.label else ""
            above = f"{frame.node}#{frame.number}{place}/{above}"
            frame = frames[frame.parent]
        return f"{above}{row.node}#{row.number}"

    for row in stored.visits:
        if row.kind not in ("unfinished", "over_limit"):
            yield path(row)


def _folder(place: Path, name: str) -> Path:
    folder = place / name
    folder.mkdir()
    (folder / "effects").touch()
    return folder


def _lines(folder: Path, name: str) -> list[str]:
    file = folder / name
    return file.read_text().splitlines() if file.exists() else []


def _result(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "result").read_text())
    return found


def main() -> int:
    """Kills, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=200, help="how many processes are killed")
    parser.add_argument("--seed", type=int, default=1, help="what the moments are drawn from")
    parser.add_argument("--flow", choices=sorted(FLOWS), help="only this flow")
    parser.add_argument("--backend", choices=("asyncio", "trio"), help="only this event loop")
    options = parser.parse_args()
    began = time.monotonic()
    backends = (options.backend,) if options.backend else ("asyncio", "trio")
    flows = (options.flow,) if options.flow else tuple(sorted(FLOWS))
    counts = kill_all(options.points, options.seed, backends, flows)
    lines = [
        f"{counts.kills} kills in {counts.runs} runs, {time.monotonic() - began:.0f} s, seed {options.seed}",
        "by flow: " + ", ".join(f"{name} {kills}" for name, kills in sorted(counts.by_flow.items())),
        "runs by lives: " + ", ".join(f"{lives}: {runs}" for lives, runs in sorted(counts.lives.items())),
        f"{counts.visits} visits began, {counts.again} of them again, since they had not been committed",
        f"{counts.reported} writes were reported, {counts.effects} effects took place",
        f"{len(counts.faults)} faults",
        *(f"- {fault}" for fault in counts.faults),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if counts.faults else 0


if __name__ == "__main__":
    sys.exit(main())
