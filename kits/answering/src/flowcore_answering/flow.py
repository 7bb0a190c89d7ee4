"""The answer flow: seven nodes, and every way between them."""

from __future__ import annotations

from collections.abc import Sequence

from flowcore import Flow
from flowcore_answering.absent import no_fallback, no_repair, no_review
from flowcore_answering.answers import AnswerResult
from flowcore_answering.checks import CHECKS, Check
from flowcore_answering.nodes import (
    check_node,
    fallback_node,
    finalize_node,
    generate_node,
    prepare_node,
    repair_node,
    review_node,
)
from flowcore_answering.ports import CanInvoke, Fallback, Generator, Repairer, Reviewer
from flowcore_answering.standing import Rules, Unreviewed
from flowcore_answering.state import AnswerState
from flowcore_answering.work import Work

__all__ = ["answer_flow"]


def answer_flow(
    *,
    generate: Generator,
    repair: Repairer | None = None,
    review: Reviewer | None = None,
    fallback: Fallback | None = None,
    max_repairs: int = 1,
    unreviewed: Unreviewed = "fallback",
    requests: int = 0,
    checks: Sequence[Check] = CHECKS,
    can_invoke: CanInvoke | None = None,
    propagate: Sequence[type[Exception]] = (PermissionError,),
) -> Flow[AnswerState, object, AnswerResult]:
    """Make a flow that answers items: it drafts, checks, reviews, repairs, falls back, and delivers.

    A run costs one round for the generation and one for each repair, and nothing of its own besides.

    Args:
        generate: Drafts all ready items in one call.
        repair: Redoes failing drafts; without it nothing is repaired.
        review: Judges drafts that passed the check; without it the check is enough.
        fallback: The app's own words for items without an accepted draft; without it they are blocked.
        max_repairs: How many repairs a run may make at most.
        unreviewed: What becomes of a draft that no review ever failed and none could pass: accept it, or not.
        requests: How many model requests one generation or repair makes; 0 without a model.
        checks: What a draft must stand; see `CHECKS`.
        can_invoke: Asked before each generation and repair if it can be paid; by default the run's scope.
        propagate: Errors of generate and repair that leave the run as they are, past the fallback.

    Raises ContractError for a port that does not take its arguments, ValueError for a negative number.
    """
    if max_repairs < 0 or requests < 0:
        raise ValueError(f"max_repairs={max_repairs}, requests={requests}: give zero or more")
    rules = Rules(max_repairs if repair is not None else 0, review is not None, unreviewed)
    work = Work(
        generate=generate,
        repair=no_repair if repair is None else repair,
        review=no_review if review is None else review,
        fallback=no_fallback if fallback is None else fallback,
        checks=tuple(checks),
        rules=rules,
        requests=requests,
        can_invoke=can_invoke,
    )
    return _wire(work, tuple(propagate))


def _wire(work: Work, propagate: tuple[type[Exception], ...]) -> Flow[AnswerState, object, AnswerResult]:
    prepare, generate, check = prepare_node(work), generate_node(work), check_node(work)
    review, repair = review_node(work), repair_node(work)
    fallback, finalize = fallback_node(work), finalize_node()
    drafting, redoing = generate.to(check), repair.to(check)
    if propagate:
        drafting, redoing = drafting.on_error(None, *propagate), redoing.on_error(None, *propagate)
    return Flow(
        "answer",
        prepare.to(generate=generate, fallback=fallback),
        drafting.on_error(fallback),
        check.to(review=review, repair=repair, fallback=fallback, finalize=finalize),
        review.to(finalize=finalize, repair=repair, fallback=fallback),
        redoing.on_error(fallback),
        fallback.to(finalize),
        finalize,
        description="Answers items with evidence: drafts, checks, reviews, repairs, falls back.",
    )
