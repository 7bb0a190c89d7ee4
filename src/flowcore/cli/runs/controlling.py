"""`flowcore runs pause` and `stop`: what a run is told to do, whoever has it, or if nobody does."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict

import anyio

from ...errors import RunConflict
from ...store import EndRow, RunRow, RunStore, Signal, Write
from ..codes import OK
from ..stores import find_run, with_store
from .options import add_by, add_run, add_source, check_by, named_store
from .told import is_walked, spent_of

__all__ = ["Pause", "Stop"]

_PATIENCE = 10.0
"""Seconds that the process which has the run is given to do what it was told."""
_LOOK = 0.1


class Pause:
    """Stops a run for a while."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        """Add what this action takes."""
        _add(parser)

    @staticmethod
    def execute(arguments: argparse.Namespace) -> int:
        """Pause the run."""

        async def work(store: RunStore) -> str:
            run = await _active(store, arguments)
            if run.status == "paused":
                return f"run {run.run_id} is paused already"
            if is_walked(run):
                return await _told(store, run, "pause", arguments.by)
            await _pause(store, run)
            return f"run {run.run_id} is paused; nobody had it"

        print(with_store(named_store(arguments), work))
        return OK


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
        signal: Signal = "interrupt" if arguments.interrupt else "stop"

        async def work(store: RunStore) -> str:
            run = await _active(store, arguments)
            if is_walked(run):
                return await _told(store, run, signal, arguments.by)
            usage = json.dumps(asdict(spent_of(await store.load(run.run_id))))
            end = EndRow("cancelled", time.time(), reason=signal, usage=usage)
            await store.settle(run.run_id, end, None, owner=None)
            return f"run {run.run_id} has ended as cancelled; nobody had it"

        print(with_store(named_store(arguments), work))
        return OK


def _add(parser: argparse.ArgumentParser) -> None:
    add_run(parser)
    add_source(parser)
    add_by(parser)


async def _active(store: RunStore, arguments: argparse.Namespace) -> RunRow:
    """Return the run that is meant. Raises `RunConflict` if it has ended, or obeys somebody else."""
    run = await find_run(store, arguments.run)
    check_by(run, arguments.by)
    if run.end is not None:
        raise RunConflict(f"run {run.run_id} has ended as {run.status}: nothing can be asked of it any more")
    return run


async def _told(store: RunStore, run: RunRow, signal: Signal, by: str) -> str:
    """Tell whoever has the run, wait until it is done, and say what came of it."""
    stands = await store.signal(run.run_id, signal, by)
    with anyio.move_on_after(_PATIENCE):
        while True:
            now = await store.run(run.run_id)
            if now.end is not None:
                return f"run {run.run_id} has ended as {now.status}"
            if signal == "pause" and now.status == "paused":
                return f"run {run.run_id} is paused"
            await anyio.sleep(_LOOK)
    return f"run {run.run_id}: {run.owner} was told ({stands}), and has not done it yet"


async def _pause(store: RunStore, run: RunRow) -> None:
    owner = f"flowcore runs pause {time.time_ns()}"
    now = time.time()
    await store.take(run.run_id, owner, now, now + _PATIENCE)
    try:
        waiting = store.commit(Write(run.run_id, owner, status="paused"))
        if waiting is not None:
            await waiting
    finally:
        await store.release(run.run_id, owner)
