"""The session: an app run for questions one after the other, each a run of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..app import App
from ..errors import ContractError, FlowcoreError, TargetError
from ..result import RunResult
from ..run import Run
from ..types import as_class, type_name
from .keeping import Kept, wait_for
from .questions import Question
from .report import answered_line, blocked_line, json_text
from .words import a, error_words

__all__ = ["Answer", "Wanted", "answer_of", "ask", "make_deps", "make_states"]

AnyApp = App[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question: `text` for a person, `line` for programs, where wanted; `reason` if it failed."""

    question: Question
    result: RunResult[Any] | None
    text: str | None
    line: Mapping[str, Any]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is made of a value: only what somebody will see."""

    text: bool
    line: bool


def make_states(app: AnyApp, questions: Sequence[Question]) -> list[Any]:
    """Make the state of every question, before anything runs. Raises `TargetError` with a line for each fault."""
    states: list[Any] = []
    faults: list[str] = []
    for question in questions:
        try:
            state = app.state(question.text)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            faults.append(f"{question.place}: the app makes no state of this: {error_words(error)}; ask otherwise")
        else:
            states.append(state)
            if misfit := _misfit(app, state):
                faults.append(f"{question.place}: {misfit}")
    if faults:
        raise TargetError("\n".join(faults))
    return states


def make_deps(app: AnyApp, start: Callable[[Any], object]) -> Any:
    """Make what the nodes get as `step.deps`, and try it: `start` makes a run with it, which does not begin.

    Raises `TargetError` if the app cannot, or if the flow wants others.
    """
    try:
        deps = None if app.deps is None else app.deps()
    except FlowcoreError as error:
        raise TargetError(error_words(error)) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise TargetError(f"the deps of the app cannot be made: {error_words(error)}; mend that first") from error
    try:
        start(deps)
    except ContractError as error:
        raise TargetError(f"the app cannot run: {error_words(error)}; mend state= or deps= of the app") from error
    return deps


async def ask(
    app: AnyApp, question: Question, state: Any, wanted: Wanted, kept: Kept | None = None, **options: Any
) -> Answer:
    """Run the app's flow once and make an answer of how it ended. Raises nothing for a run that failed."""
    if kept is not None:
        options |= kept.options(question)
    try:
        run = app.flow.start(state, **options)
        await run.prepare()
    except FlowcoreError as error:
        return _blocked(question, None, error_words(error))
    run.begin()
    return await answer_of(app, question, run, wanted, kept)


async def answer_of(
    app: AnyApp, question: Question, run: Run[Any], wanted: Wanted, kept: Kept | None = None
) -> Answer:
    """Wait for the end of a run that has begun, and make an answer of how it ended."""
    result = await wait_for(run, kept)
    if result.status != "completed":
        return _blocked(question, result, _reason(run, result))
    text: str | None = None
    try:
        if wanted.text or (wanted.line and app.line is None):
            text = app.present(result.value)
        made = _line(app, question, result.value, text) if wanted.line else {}
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return _blocked(
            question, result, f"the run completed, but the app cannot show it: {error_words(error)}", text
        )
    return Answer(question, result, text, made)


def _misfit(app: AnyApp, state: Any) -> str:
    wanted = as_class(app.flow.plan.state)
    if wanted is None or isinstance(state, wanted):
        return ""
    if inspect.iscoroutine(state):
        state.close()
    given = type_name(type(state))
    return f"the app makes {a(given)} of this, and its flow wants {a(type_name(wanted))}; mend state= of the app"


def _line(app: AnyApp, question: Question, value: Any, text: str | None) -> Mapping[str, Any]:
    made = answered_line(question.id, text or "") if app.line is None else app.line(question.id, value)
    json_text(made)
    return made


def _blocked(question: Question, result: RunResult[Any] | None, reason: str, text: str | None = None) -> Answer:
    return Answer(question, result, text, blocked_line(question.id, reason), reason)


def _reason(run: Run[Any], result: RunResult[Any]) -> str:
    failure = result.failure
    if failure is None:
        return _reason_of_cancelled(run, result)
    words = error_words(failure.exception) if failure.exception is not None else str(failure)
    return f"{failure.path}: {words}" if failure.path and not words.startswith(failure.path) else words


def _reason_of_cancelled(run: Run[Any], result: RunResult[Any]) -> str:
    words = f"the run was {result.status}"
    try:
        run.value()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # such as SystemExit: a node let out what no flow may keep
        words = error_words(error)
    return words
