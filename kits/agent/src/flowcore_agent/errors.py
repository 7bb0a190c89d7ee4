"""Every error of the Agent Kit.

    FlowcoreError
    └── AgentError            an agent cannot do what it was asked
        ├── AdmissionError        a request is not taken: every fault in one list
        ├── ContextUnavailable    what a request cannot do without could not be loaded
        ├── MemoryUnusable        the file of a memory cannot be used
        └── TurnLimitReached      the turns are used up, and the spec says that this is an error

Each class has a stable `code`, and each fault one of its own, that programs may compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from flowcore import FlowcoreError

__all__ = [
    "AdmissionError",
    "AdmissionFault",
    "AgentError",
    "ContextUnavailable",
    "MemoryUnusable",
    "TurnLimitReached",
]


@dataclass(frozen=True, slots=True)
class AdmissionFault:
    """One fault of a request.

    `code` is stable; `where` is the place in the request or the spec; `message` says what is wrong and `remedy`
    what to do. `is_clients` says that the client can mend it, and not the application alone.
    """

    code: str
    where: str
    message: str
    remedy: str
    is_clients: bool = True

    def __str__(self) -> str:
        return f"[{self.code}] {self.where}: {self.message}. {self.remedy}."


class AgentError(FlowcoreError):
    """An agent cannot do what it was asked."""

    code: ClassVar[str] = "agent"


class AdmissionError(AgentError):
    """A request is not taken, and nothing was run. `faults` has everything that is wrong with it.

    `status` is what a server answers with: 400 where the client can mend something, 500 where only the application
    can.
    """

    code: ClassVar[str] = "admission"

    def __init__(self, agent: str, faults: Sequence[AdmissionFault]) -> None:
        self.agent = agent
        self.faults = tuple(faults)
        super().__init__(agent, self.faults)

    @property
    def status(self) -> int:
        """What a server answers with."""
        return 400 if any(fault.is_clients for fault in self.faults) else 500

    def __str__(self) -> str:
        count = len(self.faults)
        lines = [
            f"agent {self.agent!r} does not take the request, which has {count} fault{'' if count == 1 else 's'}:"
        ]
        lines += [f"  {number}. {fault}" for number, fault in enumerate(self.faults, 1)]
        return "\n".join(lines)


class ContextUnavailable(AgentError):
    """What the spec requires for a request could not be loaded. `missing` has each with its reason."""

    code: ClassVar[str] = "context"

    def __init__(self, agent: str, missing: Sequence[str]) -> None:
        self.agent = agent
        self.missing = tuple(missing)
        super().__init__(agent, self.missing)

    def __str__(self) -> str:
        return f"agent {self.agent!r} cannot do without what could not be loaded: {'; '.join(self.missing)}"


class MemoryUnusable(AgentError):
    """The file of a memory cannot be used; `reason` is what was found."""

    code: ClassVar[str] = "memory_unusable"

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(path, reason)

    def __str__(self) -> str:
        return f"{self.path}: not a usable memory ({self.reason}): give another path, or mend the file"


class TurnLimitReached(AgentError):
    """There is no answer after the last turn of a loop with `on_limit="error"`."""

    code: ClassVar[str] = "turn_limit"

    def __init__(self, agent: str, turns: int) -> None:
        self.agent = agent
        self.turns = turns
        super().__init__(agent, turns)

    def __str__(self) -> str:
        return (
            f"agent {self.agent!r} has no answer after {self.turns} turns: raise AgentLimits(turns=...), or leave"
            ' on_limit at "wrap_up"'
        )
