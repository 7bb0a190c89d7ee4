"""`flowcore check`: whether a flow is sound, and everything that is wrong with it if not."""

from __future__ import annotations

import argparse

from ..errors import FlowError
from ..render import visible
from .codes import FAILED, OK
from .target import load_target
from .words import counted

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing but the target: a flow checks itself when it is made."""


def execute(arguments: argparse.Namespace) -> int:
    """Print a line for each sound flow, or one for each problem. Runs nothing."""
    try:
        target = load_target(arguments.target)
    except FlowError as error:
        for problem in error.problems:
            print(visible(f"{error.flow}: {problem}"))
        return FAILED
    for flow in target.flows:
        nodes = [item for _, item in flow.plan.walk()]
        routes = sum(1 for item in nodes for _ in item.edges())
        print(visible(f"{flow.name}: sound, {counted(len(nodes), 'node')}, {counted(routes, 'route')}"))
    return OK
