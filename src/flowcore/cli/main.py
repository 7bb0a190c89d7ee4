"""The command `flowcore`: finds the subcommand, and turns how it ended into an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from ..errors import ExportError, FlowError, RecordingError, RenderError, StoreError, TargetError, WatchError
from . import check, diff, export, render, run, runs, watch
from .codes import BAD_INPUT, FAILED
from .options import add_options
from .signals import Ending
from .streams import check_output, prepare, silence, tell
from .words import complain

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

__all__ = ["main"]

_COMMANDS = {
    "check": (check, "say whether a flow is sound, or list everything that is wrong with it"),
    "render": (render, "draw a flow, or a run of one, as SVG, PNG, Mermaid, DOT, JSON or HTML"),
    "run": (run, "run a flow for a text, or once for each question in a file"),
    "runs": (runs, "list, show, resume, answer and tidy up the runs that a store keeps"),
    "watch": (watch, "run a flow for a text and serve its page, live, to a browser"),
    "export": (export, "write a recorded run for another tool: Perfetto, chrome://tracing"),
    "diff": (diff, "say what differs between two flows, or between two runs"),
}
_TAKE_OPTIONS = {"run": run.add_arguments, "watch": watch.add_arguments}
"""The commands that take the options of an app."""
_HELP = """\
TARGET names a flow, or an app that runs one:
  package.module:name    a name in a module that can be imported
  path/to/file.py:name   a name in a file; without the name, the only app or flow in it
  path/to/folder         the app.py in a folder

exit codes: 0 it worked, 1 the flow is wrong or the run failed, 2 something given cannot be used,
130 interrupted (143 and 129: ended by SIGTERM, SIGHUP)
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and where help is."""

    def error(self, message: str) -> NoReturn:
        complain(f"{message}; see `{self.prog} --help`")
        sys.exit(BAD_INPUT)

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        print(self.format_help(), end="", file=file)  # argparse passes over what cannot be written
        sys.stdout.flush()


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 it worked, 1 the flow or run failed, 2 bad input, 130 interrupted."""
    prepare()
    code = _execute(argv)
    tell("", sys.stderr)  # what user code left in it
    sys.exit(code)


def _parsed(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments. argparse gives up on a TEXT that stands behind an option: it is put in place here."""
    parser, commands = _parser()
    if argv and argv[0] in _TAKE_OPTIONS:
        add_options(commands[argv[0]], _TAKE_OPTIONS[argv[0]], argv[1:])
    elif argv and argv[0] == "runs":
        runs.add_app_options(commands["runs"], argv[1:])
    arguments, rest = parser.parse_known_args(argv)
    if len(rest) == 1 and not rest[0].startswith("-") and getattr(arguments, "text", "") is None:
        arguments.text = rest[0]
    elif rest and hasattr(arguments, "values") and not any(word.startswith("-") for word in rest):
        arguments.values += rest
    elif rest:
        commands.get(argv[0], parser).error(f"unrecognized arguments: {' '.join(rest)}")
    return arguments


def _execute(argv: Sequence[str] | None) -> int:
    with Ending() as ending:
        try:
            return _carry_out(argv)
        except FlowError as error:
            complain(*(f"{error.flow}: {problem}" for problem in error.problems))
        except (TargetError, RenderError, RecordingError, WatchError, ExportError, StoreError) as error:
            complain(*str(error).splitlines())
        except KeyboardInterrupt:
            complain(f"{ending.words}: {ending.left}")
            return ending.code
        except BrokenPipeError:  # who read the output has left
            silence(sys.stdout)
            return FAILED
        except OSError as error:
            silence(sys.stdout)
            complain(f"standard output cannot be written: {error.strerror}; send it to another place")
    return BAD_INPUT


def _carry_out(argv: Sequence[str] | None) -> int:
    check_output()
    arguments = _parsed(sys.argv[1:] if argv is None else argv)
    try:
        os.getcwd()
    except OSError as error:
        raise TargetError("the current folder is gone; go to one that is there, with cd") from error
    code: int = arguments.execute(arguments)
    sys.stdout.flush()
    return code


def _parser() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Return the parser, and that of each command."""
    parser = _Parser(
        prog="flowcore",
        description="Check, draw, run, watch and compare flows, and keep their runs.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (module, summary) in _COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=getattr(module, "EPILOG", _HELP),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if getattr(module, "TAKES_TARGET", True):
            named = getattr(module, "NAMED", "flow or app")
            command.add_argument("target", metavar="TARGET", help=f"the {named}, see below")
        module.add_arguments(command)
        command.set_defaults(execute=module.execute)
    return parser, commands.choices
