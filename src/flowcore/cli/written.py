"""What is written of runs: their pages, the diagram of their flow, their traces and their answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import RenderError
from ..recording import Recording, dump_runs, recording_of
from ..render import Drawable, render, run_page, visible
from ..render.page.index import Entry, runs_page
from .files import OutputFolder
from .report import json_text
from .session import Answer
from .words import complain

__all__ = ["FILES", "PAGES", "write_runs"]

FILES = ("flow.mmd", "flow.svg", "trace.txt", "trace.json", "answers.jsonl", "run.html", "runs.html")
PAGES = re.compile(r"run-\d+\.html")
"""The names of pages where there are several runs: by the place of the question."""


def write_runs(folder: OutputFolder, flow: Drawable, answers: Sequence[Answer], *, many: bool) -> None:
    """Write everything that is to be seen of runs into a folder."""
    folder.write("flow.mmd", render(flow, "mermaid"))
    try:
        folder.write("flow.svg", render(flow, "svg"))
    except RenderError as error:
        complain(f"flow.svg was left out: {error}")
    runs = [_recording(answer) for answer in answers]
    folder.write("trace.txt", "\n".join(_text(answer, many) for answer in answers if answer.result is not None))
    folder.write("trace.json", dump_runs(run for run in runs if run is not None))
    folder.write("answers.jsonl", "".join(json_text(answer.line) for answer in answers))
    if not many:
        (run,) = runs
        if run is not None:
            folder.write("run.html", run_page(run))
        return
    entries: list[Entry] = []
    width = len(str(len(runs)))
    for number, (answer, run) in enumerate(zip(answers, runs, strict=True), 1):
        href = "" if run is None else f"run-{number:0{width}}.html"
        entries.append(
            Entry(answer.question.id, answer.question.text, run, href, answer.reason, answer.text or "")
        )
        if run is not None:
            folder.write(href, run_page(run))
    folder.write("runs.html", runs_page(flow.plan.name, entries))


def _recording(answer: Answer) -> Recording | None:
    if answer.result is None:
        return None
    return recording_of(answer.result.trace, name=answer.question.id, title=answer.question.text)


def _text(answer: Answer, many: bool) -> str:
    assert answer.result is not None  # chosen so
    text = answer.result.trace.to_text()
    return f"question {visible(answer.question.id)}\n\n{text}" if many else text
