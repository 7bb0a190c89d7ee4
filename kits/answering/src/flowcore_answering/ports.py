"""What the app plugs in: generator, repairer, reviewer, fallback, and the question for quota.

What a port raises, and where it goes: an ordinary error of `Generator` or `Repairer` leads to the fallback
node; an error of `Reviewer` or `Fallback` leaves the run as it is. The cancellation of the run and
`ContractError` leave it from every port. A cancellation that nobody asked of the run (a port awaits a task that
somebody else cancelled) is an error of that port like any other: `NodeCancelled`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from flowcore_answering.drafts import ItemDraft
from flowcore_answering.items import AnswerItem
from flowcore_answering.reviews import Review

__all__ = ["CanInvoke", "Fallback", "Generator", "Repairer", "Reviewer"]


class Generator(Protocol):
    """Drafts answers for ready items, all in one call.

    An item that it cannot answer is left out of the reply: the check finds it missing, and it goes to repair
    and then to the fallback like any other failing item.
    """

    async def __call__(self, items: Sequence[AnswerItem], /) -> Sequence[ItemDraft]:
        """Return a draft of each item that can be answered, in any order."""
        ...


class Repairer(Protocol):
    """Drafts failing items anew.

    Gets the failing items only, their last drafts (none for an item that was missing) and what is wrong with
    each. An item left out of the reply keeps its old draft and stays failing.
    """

    async def __call__(
        self,
        items: Sequence[AnswerItem],
        drafts: Mapping[str, ItemDraft],
        faults: Mapping[str, Sequence[str]],
        /,
    ) -> Sequence[ItemDraft]:
        """Return a new draft of each item that can be repaired, in any order."""
        ...


class Reviewer(Protocol):
    """Judges drafts that passed the check.

    An item left out of the reply counts as unavailable. A reviewer that cannot be reached says
    `Review.unavailable(reason)`; an error that it raises leaves the run.
    """

    async def __call__(
        self, items: Sequence[AnswerItem], drafts: Mapping[str, ItemDraft], /
    ) -> Mapping[str, Review]:
        """Return a verdict on each draft by item id."""
        ...


class Fallback(Protocol):
    """The app's own evidence and wording for items without an accepted answer; None means nothing to say."""

    async def __call__(self, items: Sequence[AnswerItem], /) -> Mapping[str, ItemDraft | None]:
        """Return what may be said instead, by item id."""
        ...


class CanInvoke(Protocol):
    """Tells whether the quota that the app watches over still allows so much, now."""

    def __call__(self, *, requests: int, rounds: int) -> bool:
        """Return whether so many requests and rounds are left."""
        ...
