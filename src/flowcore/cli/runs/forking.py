"""`flowcore runs fork`: a new run that begins at a place of another one."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ...errors import TargetError
from ...runtime.forking import Forked
from ...scope import Budget
from ...store import RunRow, RunStore
from ..codes import OK
from ..run import add_limits, limits_of
from ..stores import find_run, need_store, with_store
from ..target import load_target
from ..words import not_empty
from .options import add_by, add_own_store, add_run, add_target, check_by
from .resuming import flow_of

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this action takes."""
    add_target(parser)
    add_own_store(parser)
    add_run(parser)
    parser.add_argument(
        "--at",
        metavar="PATH",
        required=True,
        type=not_empty,
        help="the visit that the new run makes first, such as check#2 (`flowcore runs show` tells the paths); the"
        " state is as it was before it",
    )
    parser.add_argument(
        "--id", metavar="ID", type=not_empty, help="what the new run is called (default: a new name)"
    )
    add_limits(parser)
    add_by(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Make the new run, and say how it goes on. The other one stays as it is."""
    target = load_target(arguments.target)
    store = need_store(arguments.store, target.app)

    async def work(store: RunStore) -> tuple[RunRow, Forked]:
        run = await find_run(store, arguments.run)
        check_by(run, arguments.by)
        budget = limits_of(Budget(**json.loads(run.budget)), arguments)
        known: dict[str, Any] = {"at": arguments.at, "store": store, "new_id": arguments.id, "by": arguments.by}
        try:
            return run, await flow_of(target, run).fork(run.run_id, budget=budget, **known)
        except ValueError as error:  # a place to which the run never came
            raise TargetError(str(error)) from error

    run, forked = with_store(store, work)
    print(f"run {forked.run_id} is forked from {run.run_id} at {arguments.at}")
    for words in forked.may_repeat:
        print(f"{run.run_id} has done this, and {forked.run_id} may do it once more: {words}")
    print(f"go on with: flowcore runs resume {arguments.target} {forked.run_id} --store {store.name}")
    return OK
