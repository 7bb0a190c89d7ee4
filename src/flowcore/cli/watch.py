"""`flowcore watch`: the page of a run, live while it goes on; or the page of a run that was written down."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from typing import Any

import anyio

from ..app import App, present_value
from ..errors import TargetError
from ..live import Door, need_server, page_server
from ..run import Run
from .codes import FAILED, OK
from .keeping import Kept, add_keeping, kept_runs
from .options import app_to_run
from .progress import say_who_waits
from .questions import Question
from .recorded import RUNS, is_trace_file, recorded_run
from .run import add_limits, limits_of
from .session import Answer, Wanted, answer_of, make_deps, make_states
from .signals import reachable
from .streams import tell, visible_text
from .words import complain

__all__ = ["EPILOG", "NAMED", "add_arguments", "execute"]

NAMED = "flow, app or run"
EPILOG = f"""\
TARGET names a flow, an app that runs one, or a run:
  package.module:name    a name in a module that can be imported
  path/to/file.py:name   a name in a file; without the name, the only app or flow in it
  path/to/folder         the app.py in a folder
{RUNS}
exit codes: 0 the run completed, 1 it failed, 2 something given cannot be used, 130 interrupted while it went on
(143 and 129: ended by SIGTERM, SIGHUP)
"""

AnyApp = App[Any, Any, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument(
        "text", metavar="TEXT", nargs="?", help="what to run the flow for; none if TARGET is trace.json[#run]"
    )
    parser.add_argument(
        "--host",
        metavar="ADDR",
        default="127.0.0.1",
        help="the address to serve at (default: 127.0.0.1, which only this machine reaches)",
    )
    parser.add_argument("--port", metavar="N", type=_port, default=0, help="the port (default: a free one)")
    parser.add_argument(
        "--exit", action="store_true", help="end when the run has ended and its viewers were told, not at Ctrl-C"
    )
    add_keeping(parser)
    add_limits(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Serve, and say where on stdout. 1 if the run failed."""
    text: str | None = arguments.text
    if is_trace_file(arguments.target):
        return _show(arguments, text)
    if text is None or not text.strip():
        raise TargetError("watch wants a TEXT to run the flow for; see `flowcore watch --help`")
    app = app_to_run(arguments)
    asked = Question("1", text, "TEXT")
    need_server()  # before the run, whose time it would take
    with Door(arguments.host, arguments.port) as door, ExitStack() as serving:
        (state,) = make_states(app, [asked])
        deps = make_deps(app, lambda deps: app.flow.start(state, deps=deps))
        kept = kept_runs(app, arguments, [asked], many=False)
        tell_of = say_who_waits if kept is None else kept.who_waits(kept.ids[asked.id])
        known: dict[str, Any] = {} if kept is None else kept.options(asked)
        run = app.flow.start(
            state, deps=deps, budget=limits_of(app.budget, arguments), observers=[tell_of], **known
        )
        answer = anyio.run(reachable, partial(_watch, app, asked, run, door, serving, kept))
        if arguments.exit:
            _tell(app, answer)
        else:
            _until_interrupted(partial(_tell, app, answer))
    return FAILED if answer.reason else OK


def _show(arguments: argparse.Namespace, text: str | None) -> int:
    if text is not None or arguments.exit:
        given = "TEXT" if text is not None else "--exit"
        raise TargetError(
            f"{given} is for a run that is made now, and {arguments.target} was written down; leave it out"
        )
    recording = recorded_run(arguments.target)
    with Door(arguments.host, arguments.port) as door, page_server(door, recording) as server:
        _until_interrupted(partial(_say, server.url))
    return OK


async def _watch(
    app: AnyApp, asked: Question, run: Run[Any], door: Door, serving: ExitStack, kept: Kept | None
) -> Answer:
    async with AsyncExitStack() as leave:
        if kept is not None:
            leave.push_async_callback(kept.close)
            await kept.check()
        await run.prepare()
        if kept is not None:
            complain(f"run {run.run_id}, kept in {kept.store.name}")
        return await _serve(app, asked, run, door, serving, kept)


async def _serve(
    app: AnyApp, asked: Question, run: Run[Any], door: Door, serving: ExitStack, kept: Kept | None
) -> Answer:
    run.begin()
    try:
        server = page_server(door, run, title=asked.text)
    except BaseException:
        await run.cancel()
        raise
    _say(serving.enter_context(server).url)
    return await answer_of(app, asked, run, Wanted(text=True, line=False), kept)


def _say(url: str) -> None:
    print(url, flush=True)


def _tell(app: AnyApp, answer: Answer) -> None:
    if answer.text is not None:
        usual = app.present is present_value
        print(visible_text(answer.text) if usual else answer.text, flush=True)
    if answer.reason:
        complain(f"the run failed: {answer.reason}")


def _until_interrupted(begin: Callable[[], None]) -> None:
    """Say what there is to be said, and stay until Ctrl-C: from the first word on it is the way to end it."""
    try:
        begin()
        if sys.stderr.isatty():
            tell("The page stays until Ctrl-C.\n", sys.stderr)
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        pass


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: name a whole number from 0 to 65535")
    return int(text)
