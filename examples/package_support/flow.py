"""Flow: a question is read, looked up, answered by the Answering Kit's seven nodes, and replied to."""

from __future__ import annotations

from typing import Never

from flowcore import Complete, Continue, Flow, Node, Step, node
from flowcore_answering import CHECKS, AnswerItem, AnswerResult, AnswerState, Evidence, ItemAnswer, answer_flow
from flowcore_knowledge import KnowledgeError, Passage

from .answerable import unclear
from .generator import Opened, Quoting
from .guard import refusal
from .question import plain
from .state import Asked, Reply

_EVIDENCE = 8


Answering = Flow[AnswerState, object, AnswerResult]


def quoted(quoting: Quoting) -> Answering:
    """Make the answering flow that quotes."""
    return answer_flow(
        generate=quoting.generate,
        repair=quoting.repair,
        fallback=quoting.fall_back,
        checks=(*CHECKS, quoting.check),
        propagate=(PermissionError, KnowledgeError),
    )


def support_flow(opened: Opened, answering: Answering | None = None) -> Flow[Asked, object, Reply]:
    """Make the flow that answers from the library that `opened` returns: by quoting, if nothing else is given."""
    answering = answering or quoted(Quoting(opened))
    read, look_up = _read_node(opened), _look_up_node(opened)
    answer = answering.as_node("answer", state=Asked, enter=_enter, leave=_leave)
    return Flow(
        "package_support",
        read.to(look_up),
        look_up.to(answer),
        answer.to(present),
        present,
        description="Answers questions about the installed packages from their own texts.",
    )


def _read_node(opened: Opened) -> Node[Asked, object, None, Never]:
    @node(starts_round=False)
    def read(step: Step[Asked]) -> Continue:
        """Refuse the question, or split it into items."""
        question = plain(step.state.question)
        step.state.refusal = refusal(question)
        step.state.parts = (question,) if step.state.refusal else tuple(opened().reader.split(question))
        return Continue()

    return read


def _look_up_node(opened: Opened) -> Node[Asked, object, None, Never]:
    def evidence(part: str) -> tuple[Evidence, ...]:
        library = opened()
        item = library.reader.read(part)
        return () if unclear(item) else tuple(map(_as_evidence, library.find(item, _EVIDENCE)))

    @node
    def look_up(step: Step[Asked]) -> Continue:
        """Find evidence for each item; a refused question gets none, and an unclear one has nothing to find."""
        step.state.items = tuple(
            AnswerItem(id=str(number), question=part, readiness="denied")
            if step.state.refusal
            else AnswerItem(id=str(number), question=part, evidence=evidence(part))
            for number, part in enumerate(step.state.parts, 1)
        )
        return Continue()

    return look_up


@node
def present(step: Step[Asked]) -> Complete[Reply]:
    """Put questions and answers together."""
    questions = {item.id: item.question for item in step.state.items}
    return Complete(Reply(questions=questions, result=step.state.result))


def _as_evidence(passage: Passage) -> Evidence:
    return Evidence(source=passage.source, where=passage.where, text=f"{passage.title}\n{passage.text}")


def _enter(asked: Asked) -> AnswerState:
    return AnswerState(items=asked.items)


def _leave(asked: Asked, result: AnswerResult) -> Continue:
    """Keep the result; a refused question says why."""
    asked.result = AnswerResult(items=tuple(_with_reason(answer, asked.refusal) for answer in result.items))
    return Continue()


def _with_reason(answer: ItemAnswer, refusal: str) -> ItemAnswer:
    return answer.model_copy(update={"reason": refusal}) if refusal else answer
