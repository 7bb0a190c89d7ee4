"""The session: an app run for questions one after the other, each a run of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..app import App
from ..errors import FlowcoreError, TargetError
from ..result import RunResult
from .questions import Question
from .report import answered_line, blocked_line, json_text
from .words import error_words

__all__ = ["Answer", "ask", "make_deps", "make_states"]

AnyApp = App[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question: `text` for a person, `line` for programs; `reason` if there is no answer."""

    question: Question
    result: RunResult[Any] | None
    text: str
    line: Mapping[str, Any]
    reason: str = ""


def make_states(app: AnyApp, questions: Sequence[Question]) -> list[Any]:
    """Make the state of every question, before anything runs. Raises `TargetError` with a line for each fault."""
    states: list[Any] = []
    faults: list[str] = []
    for question in questions:
        try:
            states.append(app.state(question.text))
        except Exception as error:
            faults.append(f"{question.place}: the app makes no state of this: {error_words(error)}; ask otherwise")
    if faults:
        raise TargetError("\n".join(faults))
    return states


def make_deps(app: AnyApp) -> Any:
    """Make what the nodes get as `step.deps`. Raises `TargetError` if the app cannot."""
    if app.deps is None:
        return None
    try:
        return app.deps()
    except FlowcoreError as error:
        raise TargetError(error_words(error)) from error
    except Exception as error:
        raise TargetError(f"the deps of the app cannot be made: {error_words(error)}; mend that first") from error


async def ask(app: AnyApp, question: Question, state: Any, **options: Any) -> Answer:
    """Run the app's flow once and make an answer of how it ended. Raises nothing for a run that failed."""
    try:
        result = await app.flow.run(state, check=False, **options)
    except FlowcoreError as error:  # the state or the deps are not what the flow wants
        return _blocked(question, None, error_words(error))
    if result.status != "completed":
        return _blocked(question, result, _reason(result))
    try:
        text = app.present(result.value)
        made = app.line(question.id, result.value) if app.line is not None else answered_line(question.id, text)
        json_text(made)
    except Exception as error:
        return _blocked(question, result, f"the run completed, but the app cannot show it: {error_words(error)}")
    return Answer(question, result, text, made)


def _blocked(question: Question, result: RunResult[Any] | None, reason: str) -> Answer:
    return Answer(question, result, "", blocked_line(question.id, reason), reason)


def _reason(result: RunResult[Any]) -> str:
    failure = result.failure
    if failure is None:
        return f"the run was {result.status}: {result.reason}"
    words = error_words(failure.exception) if failure.exception is not None else str(failure)
    return f"{failure.path}: {words}" if failure.path else words
