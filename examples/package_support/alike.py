"""Alike: the words that programmers use in the place of one another, from the groups in `alike.txt`."""

from __future__ import annotations

from pathlib import Path

from flowcore_knowledge import terms


def _neighbours(groups: list[str]) -> dict[str, frozenset[str]]:
    known: dict[str, set[str]] = {}
    for group in groups:
        members = set(terms(group))
        for term in members:
            known.setdefault(term, set()).update(members - {term})
    return {term: frozenset(others) for term, others in known.items()}


ALIKE = _neighbours(Path(__file__).with_name("alike.txt").read_text(encoding="utf-8").splitlines())
"""For a term, the terms that may stand for it."""
