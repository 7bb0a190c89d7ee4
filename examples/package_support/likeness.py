"""Likeness: how much of what is asked a text speaks about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flowcore_knowledge import terms

from .alike import ALIKE

_LIKE = 0.6

Covered = dict[str, float]
"""For each term that a text speaks about how well: 1 by the term itself, less by one that means the same."""


def covering(text: str, weights: Mapping[str, float]) -> Covered:
    """How a text covers the terms of an item."""
    there = set(terms(text))
    covered: Covered = {}
    for term in weights:
        if term in there:
            covered[term] = 1.0
        elif there & ALIKE.get(term, frozenset()):
            covered[term] = _LIKE
    return covered


def joined(these: Iterable[Covered]) -> Covered:
    """How several texts together cover the terms of an item."""
    union: Covered = {}
    for covered in these:
        for term, part in covered.items():
            union[term] = max(union.get(term, 0.0), part)
    return union


def share(covered: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The covered part of an item, from 0 to 1; rare terms count for more."""
    total = sum(weights.values())
    return sum(weights[term] * part for term, part in covered.items()) / total if total else 0.0
