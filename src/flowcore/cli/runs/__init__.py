"""`flowcore runs`: the runs that a store keeps, looked at, gone on with, controlled, and tidied up."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from ..options import add_options
from . import answering, controlling, exporting, forking, listing, pruning, resuming, showing, testing

__all__ = ["EPILOG", "TAKES_TARGET", "add_app_options", "add_arguments", "execute"]

TAKES_TARGET = False
_ACTIONS: Mapping[str, tuple[Any, str]] = {
    "list": (listing, "list the runs of a store, the latest first"),
    "show": (showing, "show a run: as text, as its page, or as a trace file"),
    "resume": (resuming, "go on with a run that was paused, or whose process is gone"),
    "pause": (controlling.Pause, "stop a run for a while, so that it can be resumed"),
    "stop": (controlling.Stop, "end a run, as cancelled"),
    "answer": (answering, "answer what a run asks a person"),
    "fork": (forking, "make a new run that begins at a place of another one"),
    "export": (exporting, "write a run for another tool: Perfetto, OpenTelemetry"),
    "test": (testing, "print a test made of a run"),
    "prune": (pruning, "remove the records of runs that ended long ago"),
}
_MORE = "Each ACTION has help of its own: `flowcore runs resume --help`.\n"
EPILOG = f"""\
A run is kept by `flowcore run TARGET TEXT --store FILE`, in code by `flow.run(state, store=SQLiteRunStore(FILE))`:

  flowcore runs list --store runs.db
  flowcore runs show last --store runs.db
  flowcore runs resume app.py last --store runs.db

RUN is the id of a run, the beginning of an id if only one begins so, or `last` for the one that began last.
{_MORE}
exit codes: 0 it worked, 1 a run that was resumed has failed, 2 something given cannot be used, 130 interrupted
(143 and 129: ended by SIGTERM, SIGHUP)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions, and what each takes."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, (module, summary) in _ACTIONS.items():
        action = actions.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=EPILOG.replace(_MORE, ""),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(action)
        action.set_defaults(act=module.execute)
    parser.set_defaults(actions=actions)


def add_app_options(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the options of the app whose run is resumed, where one is given. Raises what `add_options` raises."""
    if words[:1] == ["resume"]:
        actions = parser.get_default("actions")
        add_options(actions.choices["resume"], resuming.add_flags, words[1:])


def execute(arguments: argparse.Namespace) -> int:
    """Do what the action does."""
    code: int = arguments.act(arguments)
    return code
