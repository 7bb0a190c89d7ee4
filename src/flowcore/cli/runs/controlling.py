"""`flowcore runs pause` and `stop`: what a run is told to do, whoever has it, or if nobody does."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable

from ...control import RunControl, RunState, control
from ...errors import RunConflict
from ...store import RunStore
from ..codes import OK
from ..stores import find_run, with_store
from .options import add_by, add_run, add_source, check_by, named_store

__all__ = ["Pause", "Stop"]


class Pause:
    """Stops a run for a while."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        """Add what this action takes."""
        _add(parser)

    @staticmethod
    def execute(arguments: argparse.Namespace) -> int:
        """Pause the run."""
        return _tell(arguments, RunControl.pause)


class Stop:
    """Ends a run."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        """Add what this action takes."""
        _add(parser)
        parser.add_argument(
            "--interrupt",
            action="store_true",
            help="at once, in the middle of what it does; without it before its next visit, request or call",
        )

    @staticmethod
    def execute(arguments: argparse.Namespace) -> int:
        """Stop the run."""
        return _tell(arguments, RunControl.interrupt if arguments.interrupt else RunControl.stop)


def _add(parser: argparse.ArgumentParser) -> None:
    add_run(parser)
    add_source(parser)
    add_by(parser)


def _tell(arguments: argparse.Namespace, what: Callable[[RunControl], Awaitable[RunState]]) -> int:
    """Tell whoever has the run, wait until it is done, and say what came of it."""

    async def work(store: RunStore) -> str:
        run = await find_run(store, arguments.run)
        check_by(run, arguments.by)
        if run.end is not None:
            raise RunConflict(f"run {run.run_id} has ended as {run.status}: nothing can be asked of it any more")
        state = await what(control(store, run.run_id, by=arguments.by))
        if state.asked:
            return (
                f"run {run.run_id} is {state.status}: {state.walked_by} was told to {state.asked}, and goes on yet"
            )
        reason = f" ({state.reason})" if state.reason else ""
        return f"run {run.run_id} is {state.status}{reason}"

    print(with_store(named_store(arguments), work))
    return OK
