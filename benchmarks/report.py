"""The report: what was measured, as lines for a terminal, as Markdown, as JSON; and on what machine."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure

__all__ = ["as_data", "line", "machine", "markdown", "titles"]


def machine(versions: dict[str, str]) -> str:
    """Return what the figures were measured on."""
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    words = [f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}", _processor(), f"{os.cpu_count()} cores"]
    words += [f"load {load}", f"{platform.system()} {platform.release()}", f"Python {platform.python_version()}"]
    return "; ".join([*words, *(f"{name} {version}" for name, version in versions.items())])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [text.partition(":")[2].strip() for text in lines if text.startswith("model name")]
    return names[0] if names else platform.machine()


def titles() -> str:
    """Return the head of the lines."""
    return f"{'workload':<40}{'size':>8}  {'side':<21}{'cost':>12}{'floor':>12}{'ratio':>9}  unit"


def line(figure: Figure) -> str:
    """Return a figure as a line for a terminal."""
    workload = figure.workload
    head = f"{workload.title:<40}{workload.size:>8}  {figure.side.removesuffix('_side'):<21}"
    if figure.error:
        return f"{head}{figure.error}"
    return f"{head}{_number(figure.cost):>12}{_number(figure.base):>12}{_ratio(figure):>9}  {workload.unit}"


def markdown(figures: Sequence[Figure]) -> str:
    """Return a table: a row for each workload, ours and the floor first, then each peer with its ratio to ours."""
    peers = list(dict.fromkeys(one.side for one in figures if one.side != one.workload.side))
    names = [name.removesuffix("_side") for name in peers]
    rows = ["| workload | size | unit | flowcore | floor | ratio |" + "".join(f" {name} |" for name in names)]
    rows.append("|---|--:|---|--:|--:|--:|" + "--:|" * len(peers))
    for ours in (one for one in figures if one.side == one.workload.side and one.pairs):
        theirs = {one.side: one for one in figures if one.workload == ours.workload}
        workload = ours.workload
        cells = [workload.title, f"{workload.size:,}", workload.unit, _number(ours.cost), _number(ours.base)]
        cells.append(_ratio(ours))
        cells += [_number(theirs[name].cost) if name in theirs and theirs[name].pairs else "" for name in peers]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def as_data(figures: Sequence[Figure], versions: dict[str, str]) -> dict[str, Any]:
    """Return everything, every sample included, as data for JSON. Samples are seconds a run, or bytes."""
    found = [
        {
            "group": one.workload.group, "title": one.workload.title, "size": one.workload.size,
            "unit": one.workload.unit, "side": one.side, "error": one.error, "samples": one.pairs,
            **({"cost": one.cost, "base": one.base, "ratio": one.ratio} if one.pairs else {}),
        }
        for one in figures
    ]  # fmt: skip
    return {"machine": machine(versions), "figures": found}


def _ratio(figure: Figure) -> str:
    """Return the ratio; there is none where the floor holds next to nothing."""
    return f"{figure.ratio:.1f}" if figure.base and figure.workload.op != "memory" else "-"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
