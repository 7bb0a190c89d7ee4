"""What a reviewer says about the draft of one item."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

__all__ = ["Review", "Verdict"]

Verdict = Literal["passed", "failed", "unavailable"]


class Review(BaseModel, frozen=True):
    """A verdict with its reason. `unavailable` means that nobody could look, not that nothing was found."""

    verdict: Verdict
    reason: str = ""

    @classmethod
    def passed(cls) -> Review:
        """The draft may be delivered."""
        return cls(verdict="passed")

    @classmethod
    def failed(cls, reason: str) -> Review:
        """The draft may not be delivered; `reason` is handed to the repairer."""
        return cls(verdict="failed", reason=reason)

    @classmethod
    def unavailable(cls, reason: str) -> Review:
        """The draft was not looked at, because of `reason`."""
        return cls(verdict="unavailable", reason=reason)
