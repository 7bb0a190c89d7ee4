"""Measuring: pairs of flowcore and floor, taken in turn, so that a machine that slows down slows both."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Figure", "pairs"]


@dataclass(frozen=True, slots=True)
class Figure:
    """Medians of one workload, in microseconds a unit of work, and the median of the ratios pair by pair."""

    name: str
    units: int
    ours: float
    floor: float
    ratio: float

    def __str__(self) -> str:
        return f"{self.name:<44}{self.units:>8}{self.ours:>12.2f}{self.floor:>12.3f}{self.ratio:>9.1f}"


def pairs(
    name: str, units: int, ours: Callable[[], object], floor: Callable[[], object], rounds: int = 7
) -> Figure:
    """Time both in turn, `rounds` times after a warm-up, and return the medians."""
    ours()
    floor()
    samples = [(_seconds(ours), _seconds(floor)) for _ in range(rounds)]
    scale = 1e6 / units
    return Figure(
        name,
        units,
        statistics.median(mine for mine, _ in samples) * scale,
        statistics.median(bare for _, bare in samples) * scale,
        statistics.median(mine / bare for mine, bare in samples),
    )


def _seconds(work: Callable[[], object]) -> float:
    gc.collect()
    began = time.process_time()
    work()
    return time.process_time() - began
