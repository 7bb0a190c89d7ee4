"""The Answering Kit: answers a set of items with evidence, checks, reviews, repairs, and falls back."""

from flowcore_answering.answers import AnswerResult, AnswerStatus, ItemAnswer
from flowcore_answering.checks import CHECKS, Check, cites_its_evidence, has_text
from flowcore_answering.drafts import ItemDraft
from flowcore_answering.flow import answer_flow
from flowcore_answering.items import AnswerItem, Citation, Evidence, Readiness
from flowcore_answering.models import ModelGenerator, ModelRepairer, ModelReviewer
from flowcore_answering.ports import CanInvoke, Fallback, Generator, Repairer, Reviewer
from flowcore_answering.quotes import MODEL_CHECKS, names_nothing_new, quotes_its_evidence
from flowcore_answering.reviews import Review, Verdict
from flowcore_answering.state import AnswerState

__all__ = [
    "CHECKS",
    "MODEL_CHECKS",
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
    "ModelGenerator",
    "ModelRepairer",
    "ModelReviewer",
    "Readiness",
    "Repairer",
    "Review",
    "Reviewer",
    "Verdict",
    "answer_flow",
    "cites_its_evidence",
    "has_text",
    "names_nothing_new",
    "quotes_its_evidence",
]
