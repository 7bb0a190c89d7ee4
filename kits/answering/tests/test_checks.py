"""The deterministic check: what it finds in drafts, without a flow."""

from __future__ import annotations

from types import SimpleNamespace as Kit

import pytest

from flowcore_answering import CHECKS, AnswerItem, Citation, Evidence, ItemDraft
from flowcore_answering.checks import find_faults

PAGE = Evidence(source="book", where="p. 1", text="Water boils.")
HERE = Citation(source="book", where="p. 1")
GONE = Citation(source="book", where="p. 9")


def faults_of(draft: ItemDraft | None, *evidence: Evidence) -> tuple[str, ...]:
    item = AnswerItem(id="a", question="?", evidence=evidence)
    return find_faults([item], {} if draft is None else {"a": draft}, CHECKS).get("a", ())


@pytest.mark.parametrize(
    ("text", "citations", "evidence", "faults"),
    [
        ("It boils.", (HERE,), (PAGE,), ()),
        ("It boils.", (HERE, HERE), (PAGE, PAGE), ()),
        ("It boils.", (), (), ()),
        ("", (HERE,), (PAGE,), ("the text is empty",)),
        (" \n\t", (HERE,), (PAGE,), ("the text is empty",)),
        ("It boils.", (GONE,), (PAGE,), ("cites book p. 9, which is not its evidence",)),
        ("It boils.", (HERE, GONE), (PAGE,), ("cites book p. 9, which is not its evidence",)),
        ("It boils.", (HERE,), (), ("cites book p. 1, which is not its evidence",)),
        ("It boils.", (), (PAGE,), ("cites none of its evidence",)),
        ("", (), (PAGE,), ("the text is empty", "cites none of its evidence")),
    ],
)
def test_text_and_evidence(
    text: str, citations: tuple[Citation, ...], evidence: tuple[Evidence, ...], faults: tuple[str, ...]
) -> None:
    draft = ItemDraft(item_id="a", text=text, citations=citations)
    assert faults_of(draft, *evidence) == faults


def test_an_item_without_a_draft_is_missing() -> None:
    assert faults_of(None, PAGE) == ("missing from the reply",)


def test_evidence_of_another_item_is_no_evidence(kit: Kit) -> None:
    drafts = {"a": ItemDraft(item_id="a", text="Yes.", citations=kit.draft("b").citations)}
    assert list(find_faults([kit.item("a"), kit.item("b")], drafts | {"b": kit.draft("b")}, CHECKS)) == ["a"]


def test_checks_of_the_app_run_after_those_before_them(kit: Kit) -> None:
    def is_short(item: AnswerItem, draft: ItemDraft) -> list[str]:
        return ["too long"] if len(draft.text) > 5 else []

    drafts = {"a": kit.poor("a")}
    assert find_faults([kit.item("a")], drafts, (*CHECKS, is_short)) == {
        "a": ("cites none of its evidence", "too long")
    }
