"""The words that stand around the answers: the presenter's own, and the only ones it adds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Words"]


@dataclass(frozen=True, slots=True)
class Words:
    """The labels in the language of the reader."""

    answered: str = "Answer"
    fallback: str = "No answer; said instead"
    blocked: str = "No answer"
    sources: str = "Sources"

    def of(self, status: str) -> str:
        """Return the label of a status; raises ValueError for a status that is none."""
        match status:
            case "answered":
                return self.answered
            case "fallback":
                return self.fallback
            case "blocked":
                return self.blocked
            case _:
                raise ValueError(f"no status {status!r}; expected answered, fallback or blocked")
