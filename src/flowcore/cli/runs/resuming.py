"""`flowcore runs resume`: a stored run walked on, and shown as `flowcore run` shows one."""

from __future__ import annotations

import argparse
import time
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from ...app import App
from ...errors import RunConflict, TargetError
from ...flow import Flow
from ...runtime.opening import codec_of
from ...store import RunRow, RunStore
from ..codes import FAILED, OK
from ..files import OutputFolder
from ..keeping import Kept
from ..options import app_of, named_target
from ..questions import Question
from ..run import Session
from ..session import Answer, Wanted, answer_of, make_deps
from ..signals import reachable
from ..stores import find_run, need_store
from ..target import Target
from ..words import complain, not_empty
from ..written import FILES, PAGES, write_runs
from .options import add_by, add_own_store, add_run, add_target, check_by
from .told import is_walked, moment

__all__ = ["add_arguments", "add_flags", "execute", "flow_of"]

AnyApp = App[Any, Any, Any]
AnyFlow = Flow[Any, Any, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this action takes."""
    add_target(parser)
    add_run(parser)
    add_flags(parser)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add what this action takes beside its target and its run."""
    add_own_store(parser)
    add_by(parser)
    parser.add_argument(
        "--wait",
        action="store_true",
        help="if another process has the run, wait until it is heard of no more (half a minute after it died)",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=_path,
        help="write the page, the diagram and the trace, as `flowcore run` does",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON, and nothing else")


def execute(arguments: argparse.Namespace) -> int:
    """Go on with the run, and print what came out. 1 if it failed."""
    target = named_target(arguments)
    store = need_store(arguments.store, target.app)
    run = anyio.run(_found, store, arguments)
    if run.status == "paused" and is_walked(run):
        anyio.run(_let_go_on, store, run, arguments.by)
        return OK
    app = _app_of(target, run, arguments)
    opened = nullcontext(None) if arguments.out is None else OutputFolder(arguments.out, FILES, PAGES)
    with opened as folder:
        wanted = Wanted(text=not arguments.json, line=folder is not None)
        kept = Kept(store, codec_of(app.flow.plan), arguments.target, {run.run_id: run.run_id})
        options: dict[str, Any] = {"store": store, "by": arguments.by}
        deps = make_deps(app, lambda deps: app.flow.reopen(run.run_id, deps=deps, **options))
        session = Session(app, None, False, wanted, kept)
        answer = anyio.run(reachable, partial(_resume, session, run, deps, options))
        if folder is not None:
            write_runs(folder, app.flow, [answer], many=False)
    return FAILED if answer.reason else OK


def flow_of(target: Target, run: RunRow) -> AnyFlow:
    """Return the flow of a run. Raises `TargetError` if the target has none of its name."""
    for flow in target.flows:
        if flow.name == run.flow:
            return flow
    names = ", ".join(flow.name for flow in target.flows)
    raise TargetError(
        f"run {run.run_id} is of the flow {run.flow!r}, and {target.text} has {names}; name the app of that flow"
    )


async def _found(store: RunStore, arguments: argparse.Namespace) -> RunRow:
    run = await find_run(store, arguments.run)
    check_by(run, arguments.by)
    if arguments.wait and run.status != "paused" and is_walked(run):
        complain(f"run {run.run_id} is walked by {run.owner}: waiting, at least until {moment(run.lease)}")
        while is_walked(run):
            await anyio.sleep(max(0.0, min(1.0, run.lease - time.time())))
            run = await store.run(run.run_id)
    elif run.status != "paused" and is_walked(run):
        raise RunConflict(
            f"run {run.run_id} is walked by {run.owner}, until {moment(run.lease)} if nothing is heard of it; if"
            " that process is gone, wait with --wait; else let it be, or end it with `flowcore runs stop`"
        )
    return run


async def _let_go_on(store: RunStore, run: RunRow, by: str) -> None:
    await store.signal(run.run_id, "resume", by)
    await store.aclose()
    print(f"run {run.run_id} goes on in the process that has it: {run.owner}")


def _app_of(target: Target, run: RunRow, arguments: argparse.Namespace) -> AnyApp:
    """Return the app of a run, with the options that were given."""
    if target.app is None:
        return App(flows=[flow_of(target, run)], state=str)
    app = app_of(target, target.app, arguments)
    return replace(app, flows=[flow_of(replace(target, flows=tuple(app.flows)), run)])


async def _resume(session: Session, run: RunRow, deps: Any, options: dict[str, Any]) -> Answer:
    kept = session.kept
    assert kept is not None  # given by whoever resumes
    try:
        with session.progress.of("", kept.who_waits(run.run_id)) as observers:
            again = session.app.flow.reopen(run.run_id, deps=deps, observers=observers, **options)
            await again.prepare()
            again.begin()
            asked = Question(run.run_id, run.title or run.run_id, "RUN")
            answer = await answer_of(session.app, asked, again, session.wanted, kept)
        session.show(answer, "")
        return answer
    finally:
        await kept.close()


def _path(text: str) -> Path:
    return Path(not_empty(text))
