"""What goes in: items with ids of their own, frozen."""

from __future__ import annotations

from types import SimpleNamespace as Kit

import pytest
from pydantic import ValidationError

from flowcore_answering import AnswerState


def test_two_items_with_one_id_are_refused(kit: Kit) -> None:
    with pytest.raises(ValidationError, match="items share the id 'a', 'b'; give each item an id of its own"):
        kit.state("a", "b", "a", "c", "b")


def test_items_and_drafts_cannot_be_changed(kit: Kit) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        kit.item("a").readiness = "failed"
    with pytest.raises(ValidationError, match="frozen"):
        kit.draft("a").text = "other"


def test_a_state_needs_items_only(kit: Kit) -> None:
    assert AnswerState(items=()).ready() == ()
