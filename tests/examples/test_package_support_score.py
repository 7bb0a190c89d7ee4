"""Package support on everything that is installed: how many of its questions it answers rightly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from examples.package_support import measure
from examples.package_support.app import line
from examples.package_support.flow import support_flow
from examples.package_support.library import open_library
from examples.package_support.state import Asked

QUESTIONS = Path(measure.__file__).with_name("questions.jsonl")


@pytest.mark.timeout(300)
def test_the_questions_are_answered_rightly_or_not_at_all(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    cache = getattr(pytestconfig, "cache", None)  # absent under -p no:cacheprovider
    library = open_library((cache.mkdir("package_support") if cache else tmp_path) / "index.db")
    flow = support_flow(lambda: library)
    questions = measure.read_lines(QUESTIONS)
    lines: list[dict[str, Any]] = []

    async def ask_all() -> None:
        lines.extend([line(each["id"], await flow.run(Asked(question=each["question"]))) for each in questions])

    anyio.run(ask_all)
    library.knowledge.close()
    counts, faults = measure.measure(questions, lines)
    answerable = sum(question["answerable"] for question in questions)
    report = "\n".join([*faults, repr(counts)])
    assert counts["right"] >= 0.80 * answerable, report
    assert counts["invented"] <= 0.06 * (len(questions) - answerable), report
    assert counts["words"] < 120 * counts["right"], report


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([("answered", "It is 5.", "httpx")], "right"),
        ([("answered", "It is 5.", "trio")], "wrong"),
        ([("answered", "It is 6.", "httpx")], "wrong"),
        ([("fallback", "It is 5.", "httpx")], "missed"),
        ([], "missed"),
    ],
)
def test_the_measure_of_a_question_with_an_answer(answers: list[tuple[str, str, str]], said: str) -> None:
    given = [
        {"status": status, "text": text, "citations": [{"package": package, "where": "x"}]}
        for status, text, package in answers
    ]
    question = {"answerable": True, "items": [{"package": "httpx", "must_contain": [r"\b5\b"]}]}
    assert measure.verdict(question, given) == said


def test_the_measure_of_a_question_without_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions, answers = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    questions.write_text(
        '{"id": "1", "question": "Who?", "answerable": false, "items": []}\n'
        '{"id": "2", "question": "Why?", "answerable": false, "items": []}\n'
    )
    answers.write_text('{"id": "1", "answers": [{"status": "answered", "text": "He.", "citations": []}]}\n')
    measure.main([str(questions), str(answers)])
    assert capsys.readouterr().out == "invented 1 Who?\ndeclined 1, invented 1; 0 words\n"


def test_measuring_without_both_files_says_how_to() -> None:
    with pytest.raises(SystemExit, match=r"usage: measure\.py QUESTIONS\.jsonl ANSWERS\.jsonl"):
        measure.main([])
