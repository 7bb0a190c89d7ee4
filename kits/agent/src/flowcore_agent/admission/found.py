"""What a step of admission found: a value, or faults, and issues that stop nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from flowcore_agent.errors import AdmissionFault
from flowcore_agent.reply import Issue

__all__ = ["Desk", "Found"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """What a step found. Where there are faults the value is a stand-in, so that later steps can still look."""

    value: T
    faults: tuple[AdmissionFault, ...] = ()
    issues: tuple[Issue, ...] = ()


class Desk:
    """Collects what the steps of one admission find, in the order in which they were taken."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.faults: list[AdmissionFault] = []
        self.issues: list[Issue] = []

    def take(self, step: str, found: Found[T]) -> T:
        """Note what a step found, and return its value."""
        self.steps.append(step)
        self.faults.extend(found.faults)
        self.issues.extend(found.issues)
        return found.value
