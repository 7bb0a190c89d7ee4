"""A proofreader: three checks side by side, then each paragraph measured, four at a time. No network, no key.

python examples/side_by_side.py README.md
flowcore render examples/side_by_side.py -o side_by_side.svg
"""

import re
import sys
from pathlib import Path

from pydantic import BaseModel

from flowcore import Budget, Complete, Continue, Flow, ItemFailure, Log, Step, each, node, parallel

DICTIONARY = Path("/usr/share/dict/words")


class Text(BaseModel):
    text: str
    findings: Log[str] = Log()  # the branches all append to it


class Paragraph(BaseModel):
    text: str


@node
async def repeats(step: Step[Text]) -> Continue:
    step.state.findings.extend(f"twice: {word}" for word in re.findall(r"\b([a-z]+) \1\b", step.state.text))
    return Continue()


@node
async def brackets(step: Step[Text]) -> Continue:
    for left, right in ("()", "[]", "{}"):
        if step.state.text.count(left) != step.state.text.count(right):
            step.state.findings.append(f"not as many {left} as {right}")
    return Continue()


@node
def spelling(step: Step[Text]) -> Continue:  # a plain function runs in a thread: reading a file may block
    known = set(DICTIONARY.read_text("utf-8").lower().split())
    words = dict.fromkeys(re.findall(r"\b[a-z]{4,}\b", step.state.text))
    step.state.findings.extend(f"unknown: {word}" for word in words if word not in known)
    return Continue()


@node
async def no_spelling(step: Step[Text]) -> Continue:
    step.state.findings.append(f"spelling not checked: there is no {DICTIONARY}")
    return Continue()


@node(starts_round=False)  # no loop here: an item costs no round
async def measure(step: Step[Paragraph]) -> Complete[float]:
    sentences = re.findall(r"\w[^.!?]*[.!?]", step.state.text)
    return Complete(len(step.state.text.split()) / len(sentences))  # fails where no sentence is


def paragraphs(text: Text) -> list[Paragraph]:
    return [Paragraph(text=part) for part in text.text.split("\n\n")]


def collect(text: Text, results: list[float | ItemFailure]) -> Complete[list[str]]:
    for number, words in enumerate(results, 1):
        if isinstance(words, float) and words > 25:
            text.findings.append(f"paragraph {number}: {words:.0f} words a sentence")
    return Complete(list(text.findings))


checks = parallel("checks", repeats, brackets, spelling.on_error(no_spelling, FileNotFoundError))
lengths = each("lengths", over=paragraphs, do=Flow("length", measure), collect=collect, on_item_error="collect")
proofreader = Flow("proofreader", checks.to(lengths), lengths)

if __name__ == "__main__":
    source = Path(sys.argv[1] if sys.argv[1:] else __file__)
    for finding in proofreader.run_sync(Text(text=source.read_text("utf-8")), budget=Budget(rounds=0)):
        print(finding)
