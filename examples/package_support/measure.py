"""Measure: how many questions with known answers were answered rightly.

    flowcore run examples/package_support --questions examples/package_support/questions.jsonl --out out
    python examples/package_support/measure.py examples/package_support/questions.jsonl out/answers.jsonl

A question is right when each of its items is met: the answers that cite the item's package contain its facts.
One that cannot be answered from the texts is declined when nothing is answered, and invented otherwise.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]


def verdict(question: Row, answers: Sequence[Row]) -> str:
    """Return right, wrong or missed for a question with an answer, declined or invented for one without."""
    answered = [answer for answer in answers if answer["status"] == "answered"]
    if not question["answerable"]:
        return "invented" if answered else "declined"
    if not answered:
        return "missed"
    return "right" if all(_met(item, answered) for item in question["items"]) else "wrong"


def measure(questions: Sequence[Row], lines: Sequence[Row]) -> tuple[Counter[str], list[str]]:
    """Count the verdicts, `words` being the words of all right answers; name each question that went wrong."""
    answers = {line["id"]: line["answers"] for line in lines}
    counts: Counter[str] = Counter()
    faults: list[str] = []
    for question in questions:
        given = answers.get(question["id"], [])
        said = verdict(question, given)
        counts[said] += 1
        if said == "right":
            counts["words"] += sum(len(one["text"].split()) for one in given if one["status"] == "answered")
        elif said != "declined":
            faults.append(f"{said:8} {question['id']} {question['question']}")
    return counts, faults


def read_lines(path: Path) -> list[Row]:
    """Return the objects of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _met(item: Row, answered: Sequence[Row]) -> bool:
    texts = [
        one["text"] for one in answered if item["package"] in {cited["package"] for cited in one["citations"]}
    ]
    return all(re.search(fact, "\n".join(texts), re.I | re.S) for fact in item["must_contain"])


def main(arguments: Sequence[str]) -> None:
    """Print what went wrong, then the counts."""
    if len(arguments) != 2:
        sys.exit("usage: measure.py QUESTIONS.jsonl ANSWERS.jsonl")
    questions, lines = arguments
    counts, faults = measure(read_lines(Path(questions)), read_lines(Path(lines)))
    words = counts.pop("words", 0) / max(counts["right"], 1)
    print(*faults, sep="\n")
    print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())) + f"; {words:.0f} words")


if __name__ == "__main__":
    main(sys.argv[1:])
