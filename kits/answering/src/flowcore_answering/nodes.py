"""The seven nodes: they ask the ports and write down what came back; `routes` decides what follows."""

from __future__ import annotations

from typing import Literal, Never

from flowcore import Complete, Continue, Node, Step, node
from flowcore_answering.answers import AnswerResult
from flowcore_answering.checks import find_faults
from flowcore_answering.delivery import answer_in_place, deliver, why_not
from flowcore_answering.replies import drafts_of, fallbacks_of, reply_of, reviews_of
from flowcore_answering.reviews import Review
from flowcore_answering.routes import after_check, after_review
from flowcore_answering.standing import faults_for_repair, items_that_are, standings_of, tally
from flowcore_answering.state import AnswerState
from flowcore_answering.work import Work

__all__ = [
    "check_node",
    "fallback_node",
    "finalize_node",
    "generate_node",
    "prepare_node",
    "repair_node",
    "review_node",
]


def prepare_node(work: Work) -> Node[AnswerState, object, Literal["generate", "fallback"], Never]:
    """Make the node that looks at the sources."""

    @node(starts_round=False)
    async def prepare(step: Step[AnswerState]) -> Continue[Literal["generate", "fallback"]]:
        """Part the items by the readiness of their sources."""
        ready = len(step.state.ready())
        go_on = ready > 0 and work.may_invoke(step)
        why = {"items": len(step.state.items), "ready": ready, "may_generate": go_on}
        return Continue("generate" if go_on else "fallback", why=why)

    return prepare


def generate_node(work: Work) -> Node[AnswerState, object, None, Never]:
    """Make the node that asks the generator."""

    @node(starts_round=True)
    async def generate(step: Step[AnswerState]) -> Continue:
        """Draft an answer for every ready item, in one call."""
        items = step.state.ready()
        reply = await reply_of("generate", work.generate(items))
        step.state.drafts = drafts_of("generate", reply, items)
        return Continue()

    return generate


def check_node(
    work: Work,
) -> Node[AnswerState, object, Literal["review", "repair", "fallback", "finalize"], Never]:
    """Make the node that finds faults."""

    @node
    async def check(
        step: Step[AnswerState],
    ) -> Continue[Literal["review", "repair", "fallback", "finalize"]]:
        """Find missing and faulty drafts, by rules alone."""
        state = step.state
        state.faults = find_faults(state.ready(), state.drafts, work.checks)
        # A reviewer that was away may be back by now, so it is asked again.
        state.reviews = {id: made for id, made in state.reviews.items() if made.verdict != "unavailable"}
        standings = standings_of(state, work.rules)
        may_repair = work.may_repair(step, standings.values())
        why = {**tally(standings), "may_repair": may_repair}
        return Continue(after_check(standings.values(), may_repair=may_repair), why=why)

    return check


def review_node(work: Work) -> Node[AnswerState, object, Literal["finalize", "repair", "fallback"], Never]:
    """Make the node that asks the reviewer."""

    @node
    async def review(step: Step[AnswerState]) -> Continue[Literal["finalize", "repair", "fallback"]]:
        """Have the drafts judged that wait for it."""
        state = step.state
        items = items_that_are("pending", state, work.rules)
        drafts = {item.id: state.drafts[item.id] for item in items}
        reply = await reply_of("review", work.review(items, drafts))
        for item_id, made in reviews_of(reply, items).items():
            _take_review(state, item_id, made)
        standings = standings_of(state, work.rules)
        may_repair = work.may_repair(step, standings.values())
        why = {**tally(standings), "may_repair": may_repair}
        return Continue(after_review(standings.values(), may_repair=may_repair), why=why)

    return review


def repair_node(work: Work) -> Node[AnswerState, object, None, Never]:
    """Make the node that asks the repairer."""

    @node(starts_round=True)
    async def repair(step: Step[AnswerState]) -> Continue:
        """Redo the failing drafts and leave the others as they are."""
        state = step.state
        items = items_that_are("failing", state, work.rules)
        drafts = {item.id: state.drafts[item.id] for item in items if item.id in state.drafts}
        faults = {item.id: faults_for_repair(item, state) for item in items}
        redone = drafts_of("repair", await reply_of("repair", work.repair(items, drafts, faults)), items)
        state.drafts.update(redone)
        for item_id in redone:
            state.reviews.pop(item_id, None)
        state.repairs += 1
        return Continue()

    return repair


def fallback_node(work: Work) -> Node[AnswerState, object, None, Never]:
    """Make the node that asks the app for its own words."""

    @node
    async def fallback(step: Step[AnswerState]) -> Continue:
        """Take the app's words for every item without an accepted draft, or block it."""
        state = step.state
        standings = standings_of(state, work.rules)
        items = tuple(item for item in state.items if standings[item.id] != "accepted")
        if items:
            words = fallbacks_of(await reply_of("fallback", work.fallback(items)), items)
            failed = None if step.error is None else step.error.type
            state.substitutes = {
                item.id: answer_in_place(item, words.get(item.id), why_not(item, state, failed)) for item in items
            }
        return Continue()

    return fallback


def finalize_node() -> Node[AnswerState, object, Never, AnswerResult]:
    """Make the node that delivers."""

    @node
    async def finalize(step: Step[AnswerState]) -> Complete[AnswerResult]:
        """Put the answers together in the order of the items."""
        return Complete(deliver(step.state))

    return finalize


def _take_review(state: AnswerState, item_id: str, made: Review) -> None:
    state.reviews[item_id] = made
    if made.verdict == "passed":
        state.rejected.pop(item_id, None)
    elif made.verdict == "failed":
        state.rejected[item_id] = made.reason
