"""`flowcore run`: a flow run for a person, once or for each question of a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from ..app import App, present_value
from ..errors import TargetError
from ..render import visible
from ..result import RunResult
from ..scope import Budget
from .codes import FAILED, OK
from .files import OutputFolder, write_out
from .keeping import Kept, add_keeping, kept_runs
from .options import app_to_run
from .progress import Progress
from .questions import Question, read_questions
from .report import json_text, path_lines, result_data
from .session import Answer, Wanted, ask, make_deps, make_states
from .signals import reachable
from .streams import visible_text
from .words import complain, not_empty
from .written import FILES, PAGES, write_runs

__all__ = ["Session", "add_arguments", "add_limits", "execute", "limits_of"]

AnyApp = App[Any, Any, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument("text", metavar="TEXT", nargs="?", help="what to run the flow for")
    parser.add_argument(
        "--questions",
        metavar="FILE",
        type=_path,
        help='run once for each line {"id": "...", "question": "..."} of this file',
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=_path,
        help="write the page of the run (run.html; one for each question), the diagram (flow.mmd, and flow.svg"
        " where it can be laid out), the trace (trace.txt, trace.json) and answers.jsonl into this folder, all at"
        " the end",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON, and nothing else")
    add_keeping(parser)
    add_limits(parser)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add the limits that a run may be given."""
    parser.add_argument("--rounds", metavar="N", type=_whole, help="the most rounds that a run may take")
    parser.add_argument("--seconds", metavar="S", type=_seconds, help="the most seconds that a run may take")


def execute(arguments: argparse.Namespace) -> int:
    """Run, print what came out, and write it down if a folder was named. 1 if any run failed."""
    text: str = "" if arguments.text is None else arguments.text
    many = arguments.questions is not None
    if (arguments.text is None) != many:
        raise TargetError("run wants one of TEXT and --questions; see `flowcore run --help`")
    if not many and not text.strip():
        raise TargetError("TEXT is empty; ask something")
    app = app_to_run(arguments)
    asked = read_questions(arguments.questions) if many else [Question("1", text, "TEXT")]
    states = make_states(app, asked)
    opened = nullcontext(None) if arguments.out is None else OutputFolder(arguments.out, FILES, PAGES)
    with opened as folder:
        wanted = Wanted(text=not arguments.json, line=folder is not None or (many and arguments.json))
        kept = kept_runs(app, arguments, asked, many=many)
        session = Session(app, limits_of(app.budget, arguments), many, wanted, kept)
        deps = make_deps(
            app, lambda deps: app.flow.start(states[0], deps=deps)
        )  # not in the event loop: that would keep an interrupt waiting
        answers = anyio.run(reachable, partial(session.work, asked, states, deps))
        if folder is not None:
            write_runs(folder, app.flow, answers, many=many)
    return FAILED if any(answer.reason for answer in answers) else OK


class Session:
    """Runs for one question after the other, and shows what comes of each."""

    def __init__(
        self, app: AnyApp, budget: Budget | None, many: bool, wanted: Wanted, kept: Kept | None = None
    ) -> None:
        self.app = app
        self.budget = budget
        self.many = many
        self.wanted = wanted
        self.kept = kept
        self.progress = Progress(sys.stderr)

    async def work(self, questions: Sequence[Question], states: Sequence[Any], deps: Any) -> list[Answer]:
        """Run for each question, in a store if there is one, which is closed at the end."""
        async with AsyncExitStack() as leave:
            if self.kept is not None:
                leave.push_async_callback(self.kept.close)
                await self.kept.check()
            answers: list[Answer] = []
            for number, (question, state) in enumerate(zip(questions, states, strict=True), 1):
                title = f"[{number}/{len(questions)}] {question.id}" if self.many else ""
                answers.append(await self._ask(title, question, state, deps))
            return answers

    async def _ask(self, title: str, question: Question, state: Any, deps: Any) -> Answer:
        kept = self.kept
        run_id = "" if kept is None else kept.ids[question.id]
        if kept is not None:
            self.progress.note(f"{title}: ".removeprefix(": ") + f"run {run_id}, kept in {kept.store.name}")
        with self.progress.of(title, None if kept is None else kept.who_waits(run_id)) as observers:
            options = {"observers": observers, "deps": deps, "budget": self.budget}
            answer = await ask(self.app, question, state, self.wanted, kept, **options)
        self.show(answer, title)
        return answer

    def show(self, answer: Answer, title: str) -> None:
        """Show what came of a question."""
        self._show_text(answer) if self.wanted.text else self._show_json(answer)
        if self.many:
            self.progress.note(f"{title}: {_outcome(answer)}")
        elif answer.reason:
            complain(f"the run failed: {answer.reason}")

    def _show_text(self, answer: Answer) -> None:
        if self.many:
            print(visible(f"{answer.question.id}: {answer.question.text}"), end="\n\n")
        if answer.text is not None:
            usual = self.app.present is present_value
            print(f"{visible_text(answer.text) if usual else answer.text}\n")
        elif self.many:
            print(visible(f"(no answer: {answer.reason})"), end="\n\n")
        if answer.result is not None:
            print(*path_lines(answer.result.trace), f"  {_spent(answer.result)}", sep="\n")
        if self.many:
            print()
        sys.stdout.flush()

    def _show_json(self, answer: Answer) -> None:
        if self.many:
            write_out(json_text(answer.line))
        elif answer.result is not None:
            data = result_data(self.app.flow.name, answer.result)
            if self.kept is not None:
                data["run_id"] = answer.result.trace.run_id
            write_out(json_text(data, indent=2))


def _outcome(answer: Answer) -> str:
    if answer.result is None or answer.reason:
        return f"no answer: {answer.reason}"
    return f"{answer.result.status}, {_spent(answer.result)}"


def _spent(result: RunResult[Any]) -> str:
    return f"{result.usage}, ran out of {result.exhausted}" if result.exhausted else str(result.usage)


def limits_of(budget: Budget | None, arguments: argparse.Namespace) -> Budget | None:
    """Return the limits of a run: those of a budget, but for those that were given."""
    given = {"rounds": arguments.rounds, "seconds": arguments.seconds}
    limits = {name: limit for name, limit in given.items() if limit is not None}
    return replace(budget or Budget(), **limits) if limits else budget


def _path(text: str) -> Path:
    return Path(not_empty(text))


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of zero or more")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return seconds
