"""An app composes three contracts, Knowledge, Answering and Presentation, and brings the ports."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

import flowcore_answering
from flowcore_answering import (
    AnswerItem,
    AnswerResult,
    AnswerState,
    Citation,
    Evidence,
    ItemDraft,
    answer_flow,
)

LOADS_ALL = """
import pkgutil, sys
import flowcore_answering
for item in pkgutil.walk_packages(flowcore_answering.__path__, "flowcore_answering."):
    __import__(item.name)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


class Knowledge(Protocol):
    """What the app wants of a knowledge source."""

    def find(self, question: str) -> Sequence[Evidence]: ...


class Presentation(Protocol):
    """What the app wants of a presenter."""

    def __call__(self, result: AnswerResult) -> str: ...


@dataclass
class Shelf:
    """A double of a knowledge source."""

    pages: Mapping[str, str]

    def find(self, question: str) -> Sequence[Evidence]:
        return [
            Evidence(source="shelf", where=where, text=text)
            for where, text in self.pages.items()
            if where in question
        ]


async def quote(items: Sequence[AnswerItem]) -> Sequence[ItemDraft]:
    """A generator that answers with the first piece of evidence."""
    return [
        ItemDraft(
            item_id=item.id,
            text=item.evidence[0].text,
            citations=(Citation(source=item.evidence[0].source, where=item.evidence[0].where),),
        )
        for item in items
        if item.evidence
    ]


def plainly(result: AnswerResult) -> str:
    return " / ".join(f"{each.status}: {each.text}" for each in result.items)


async def answer(questions: Sequence[str], knowledge: Knowledge, present: Presentation) -> str:
    items = [
        AnswerItem(id=str(number), question=question, evidence=tuple(knowledge.find(question)))
        for number, question in enumerate(questions)
    ]
    run = await answer_flow(generate=quote).run(AnswerState(items=tuple(items)))
    return present(run)


@pytest.mark.behaviour("S2-69")
async def test_three_contracts_are_composed_by_the_app() -> None:
    shelf = Shelf({"tea": "Tea steeps for three minutes."})
    shown = await answer(["How long does tea steep?", "Who was here?"], shelf, plainly)
    assert shown == "answered: Tea steeps for three minutes. / blocked: "


@pytest.mark.behaviour("S2-69")
def test_the_kit_imports_no_other_kit() -> None:
    folder = Path(flowcore_answering.__file__).parent
    sources = [file.read_text("utf-8") for file in folder.rglob("*.py")]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    imported = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    ours = {module.partition(".")[0] for module in imported if module.startswith("flowcore")}
    assert ours == {"flowcore", "flowcore_answering"}
    public = {"flowcore.errors", "flowcore.messages", "flowcore.models"}
    assert {module for module in imported if module.startswith("flowcore.")} == public
    for way in ("importlib", "__import__", "flowcore_knowledge", "flowcore_presentation"):
        assert [source for source in sources if way in source] == []


@pytest.mark.behaviour("S2-69")
def test_the_kit_whole_loads_no_other_kit() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADS_ALL], capture_output=True, text=True, check=True, timeout=30
    )
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.startswith("flowcore_")} == {"flowcore_answering"}
