"""`python -m benchmarks`: what flowcore costs beside a bare loop and beside its peers, in one run."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path

from benchmarks.measure import OWN, Figure, Side, measure
from benchmarks.plot import plot
from benchmarks.report import as_data, line, machine, markdown, titles
from benchmarks.workloads import GROUPS, workloads

PEERS = {
    "langgraph": "langgraph",
    "pydantic_graph": "pydantic_graph",
    "burr": "burr",
    "dbos": "dbos",
    "agent_framework": "agent_framework",
    "pydantic_ai": "pydantic_ai",
    "openai_agents": "agents",
}
"""The peers, and the modules by which they are found."""


def sides(pythons: dict[str, str]) -> dict[str, Side]:
    """Return the sides that are there; say which are not."""
    found = {name: Side(name) for name in OWN}
    for name, module in PEERS.items():
        if name in pythons:
            found[f"{name}_side"] = Side(f"{name}_side", pythons[name])
        elif importlib.util.find_spec(module) is not None:
            found[f"{name}_side"] = Side(f"{name}_side")
        else:
            print(f"{name}: not installed here, left out; --peer {name}=PYTHON says which Python has it")
    return found


def versions(found: dict[str, Side]) -> dict[str, str]:
    """Return the versions of what is compared. The first that names a distribution counts."""
    merged: dict[str, str] = {}
    for name, side in found.items():
        for distribution, version in side.ask(op="versions").items():
            known = merged.setdefault(distribution, version)
            if known != version:
                merged[f"{distribution} beside {name.removesuffix('_side')}"] = version
    return merged


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", metavar="GROUP,...", help=f"some of: {', '.join(GROUPS)}")
    parser.add_argument("--quick", action="store_true", help="two rounds, without the longest sizes")
    parser.add_argument("--rounds", type=int, help="samples of each (7, or 2 with --quick)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample to FILE")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw the cost of a visit against length, as SVG"
    )
    parser.add_argument("--markdown", action="store_true", help="print a table for a page at the end")
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME=PYTHON", help="the Python that has a peer installed"
    )
    chosen = parser.parse_args(arguments)
    chosen.only = tuple(chosen.only.split(",")) if chosen.only else ()
    if unknown := [name for name in chosen.only if name not in GROUPS]:
        parser.error(f"--only {unknown[0]}: choose from {', '.join(GROUPS)}")
    pairs = [text.partition("=")[::2] for text in chosen.peer]
    if wrong := [name for name, python in pairs if name not in PEERS or not python]:
        parser.error(f"--peer {wrong[0]}: give NAME=PYTHON, a name from {', '.join(PEERS)}")
    if chosen.plot and chosen.only and "loop" not in chosen.only:
        parser.error("--plot: the plot shows the loops: add loop to --only")
    chosen.peer = dict(pairs)
    return chosen


def main() -> None:
    """Measure, and print a line for each figure as it is there."""
    chosen = options()
    rounds = chosen.rounds or (2 if chosen.quick else 7)
    found = sides(chosen.peer)
    known = versions(found)
    print(f"{machine(known)}\nmedians of {rounds} pairs; CPU time, but wall time for imports, runs at once,")
    print("and stored runs but for those of three lengths\n")
    print(titles())
    figures: list[Figure] = []
    for workload in workloads(chosen.only, quick=chosen.quick):
        for figure in measure(workload, found, rounds):
            figures.append(figure)
            print(line(figure))
            sys.stdout.flush()
    for side in found.values():
        side.close()
    if chosen.markdown:
        print(f"\n{markdown(figures)}")
    if chosen.plot:
        chosen.plot.write_text(plot(as_data(figures, known)))
    if chosen.json:
        chosen.json.write_text(json.dumps(as_data(figures, known), indent=1))


if __name__ == "__main__":
    main()
