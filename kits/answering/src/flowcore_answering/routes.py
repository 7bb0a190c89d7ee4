"""Decides which route follows, from how the items stand. It acts on nothing."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from flowcore_answering.standing import Rules, Standing

__all__ = ["after_check", "after_review", "wants_repair"]


def wants_repair(standings: Collection[Standing], *, repairs: int, rules: Rules) -> bool:
    """Say whether a repair is due, if there is quota for it: reviews come first, and repairs are bounded."""
    return "pending" not in standings and "failing" in standings and repairs < rules.max_repairs


def after_review(
    standings: Collection[Standing], *, may_repair: bool
) -> Literal["repair", "fallback", "finalize"]:
    """Choose the route from review."""
    if "failing" in standings and may_repair:
        return "repair"
    return "finalize" if all(standing == "accepted" for standing in standings) else "fallback"


def after_check(
    standings: Collection[Standing], *, may_repair: bool
) -> Literal["review", "repair", "fallback", "finalize"]:
    """Choose the route from check. Reviews come first, so that one repair redoes all that fails."""
    return "review" if "pending" in standings else after_review(standings, may_repair=may_repair)
