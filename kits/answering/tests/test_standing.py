"""The decisions, as pure functions: how items stand, which route follows, what is delivered."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace as Kit
from typing import Any

import pytest

from flowcore_answering import ItemDraft, Review
from flowcore_answering.delivery import answer_in_place, why_not
from flowcore_answering.routes import after_check, after_review, wants_repair
from flowcore_answering.standing import Rules, Standing, judge, standing_of

PASSED, FAILED, AWAY = Review.passed(), Review.failed("wrong"), Review.unavailable("closed")


@pytest.mark.behaviour("S2-63", "S2-64")
@pytest.mark.parametrize(
    ("rejected", "review", "unreviewed", "standing"),
    [
        (False, PASSED, "fallback", "accepted"),
        (False, PASSED, "accept", "accepted"),
        (False, FAILED, "fallback", "failing"),
        (False, FAILED, "accept", "failing"),
        (False, AWAY, "fallback", "declined"),
        (False, AWAY, "accept", "accepted"),
        (True, PASSED, "fallback", "accepted"),
        (True, PASSED, "accept", "accepted"),
        (True, FAILED, "fallback", "failing"),
        (True, FAILED, "accept", "failing"),
        (True, AWAY, "fallback", "failing"),
        (True, AWAY, "accept", "failing"),
    ],
)
def test_every_history_meets_every_result(
    rejected: bool, review: Review, unreviewed: Any, standing: Standing
) -> None:
    assert judge(review, rejected=rejected, unreviewed=unreviewed) == standing


@pytest.mark.parametrize(
    ("found", "reviewed", "standing"),
    [
        ({}, False, "failing"),
        ({"drafts": True}, False, "accepted"),
        ({"drafts": True}, True, "pending"),
        ({"drafts": True, "faults": ("empty",)}, False, "failing"),
        ({"drafts": True, "faults": ("empty",), "reviews": PASSED}, True, "failing"),
        ({"drafts": True, "reviews": PASSED}, True, "accepted"),
        ({"drafts": True, "reviews": AWAY}, True, "declined"),
        ({"drafts": True, "rejected": "wrong"}, True, "pending"),
        ({"drafts": True, "rejected": "wrong", "reviews": AWAY}, True, "failing"),
    ],
)
def test_how_an_item_stands(kit: Kit, found: dict[str, Any], reviewed: bool, standing: Standing) -> None:
    state = kit.state("a")
    for field, value in found.items():
        setattr(state, field, {"a": kit.draft("a") if field == "drafts" else value})
    assert standing_of(state.items[0], state, Rules(1, reviewed, "fallback")) == standing


@pytest.mark.behaviour("S2-62")
@pytest.mark.parametrize("readiness", ["pending", "failed", "denied"])
def test_an_item_that_is_not_ready_never_stands_better(kit: Kit, readiness: Any) -> None:
    state = kit.state(kit.item("a", readiness))
    state.drafts = {"a": kit.draft("a")}
    state.reviews = {"a": PASSED}
    assert standing_of(state.items[0], state, Rules(1, True, "accept")) == "unready"
    assert state.ready() == ()


STANDINGS: list[Standing] = ["unready", "failing", "pending", "declined", "accepted"]


@pytest.mark.parametrize("standings", [set(pair) for pair in product(STANDINGS, STANDINGS)])
@pytest.mark.parametrize("may_repair", [True, False])
def test_the_routes(standings: set[Standing], may_repair: bool) -> None:
    settled = standings - {"pending"} or {"declined"}
    if "failing" in settled and may_repair:
        after = "repair"
    else:
        after = "finalize" if settled == {"accepted"} else "fallback"
    assert after_review(settled, may_repair=may_repair) == after
    if "pending" in standings:
        assert after_check(standings, may_repair=may_repair) == "review"
    else:
        assert after_check(standings, may_repair=may_repair) == after


@pytest.mark.behaviour("S2-59")
@pytest.mark.parametrize(
    ("standings", "repairs", "most", "wanted"),
    [
        ({"failing"}, 0, 1, True),
        ({"failing"}, 1, 1, False),
        ({"failing"}, 0, 0, False),
        ({"failing", "accepted", "unready"}, 1, 2, True),
        ({"failing", "pending"}, 0, 1, False),
        ({"accepted", "declined", "unready"}, 0, 1, False),
    ],
)
def test_when_a_repair_is_due(standings: set[Standing], repairs: int, most: int, wanted: bool) -> None:
    assert wants_repair(standings, repairs=repairs, rules=Rules(most, True, "fallback")) is wanted


@pytest.mark.behaviour("S2-73")
@pytest.mark.parametrize("draft", [None, ItemDraft(item_id="a", text=""), ItemDraft(item_id="a", text=" \n")])
def test_no_words_are_blocked(kit: Kit, draft: ItemDraft | None) -> None:
    answer = answer_in_place(kit.item("a"), draft, "source denied")
    assert (answer.status, answer.text, answer.citations) == ("blocked", "", ())
    assert answer.reason == "source denied"


@pytest.mark.parametrize(
    ("found", "failed", "reason"),
    [
        ({}, None, "no quota"),
        ({}, "ValueError", "ended by ValueError"),
        ({"faults": ("empty", "odd")}, None, "empty; odd"),
        ({"faults": ("empty",)}, "ValueError", "empty; ended by ValueError"),
        ({"rejected": "wrong"}, None, "review failed: wrong"),
        ({"rejected": "wrong", "reviews": AWAY}, None, "review failed: wrong"),
        ({"reviews": AWAY}, None, "review unavailable: closed"),
    ],
)
def test_why_an_item_was_not_answered(kit: Kit, found: dict[str, Any], failed: str | None, reason: str) -> None:
    state = kit.state("a")
    for field, value in found.items():
        setattr(state, field, {"a": value})
    assert why_not(state.items[0], state, failed) == reason


def test_why_an_item_was_not_ready(kit: Kit) -> None:
    state = kit.state(kit.item("a", "denied"))
    assert why_not(state.items[0], state, "ValueError") == "source denied"
