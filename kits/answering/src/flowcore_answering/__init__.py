"""The Answering Kit: answers a set of items with evidence, checks, reviews, repairs, and falls back."""

from flowcore_answering.answers import AnswerResult, AnswerStatus, ItemAnswer
from flowcore_answering.checks import CHECKS, Check, cites_its_evidence, has_text
from flowcore_answering.drafts import ItemDraft
from flowcore_answering.flow import answer_flow
from flowcore_answering.items import AnswerItem, Citation, Evidence, Readiness
from flowcore_answering.ports import CanInvoke, Fallback, Generator, Repairer, Reviewer
from flowcore_answering.reviews import Review, Verdict
from flowcore_answering.state import AnswerState

__all__ = [
    "CHECKS",
    "AnswerItem",
    "AnswerResult",
    "AnswerState",
    "AnswerStatus",
    "CanInvoke",
    "Check",
    "Citation",
    "Evidence",
    "Fallback",
    "Generator",
    "ItemAnswer",
    "ItemDraft",
    "Readiness",
    "Repairer",
    "Review",
    "Reviewer",
    "Verdict",
    "answer_flow",
    "cites_its_evidence",
    "has_text",
]
