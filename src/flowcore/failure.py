"""What is known of a fault, as plain data: a problem of a declared flow, the failure of a visit."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Failure", "Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a declared flow.

    `code` is stable and listed in the reference; `where` is the path of the node, row or flow at fault;
    `message` says what is wrong and `remedy` what to do.
    """

    code: str
    where: str
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"[{self.code}] {self.where}: {self.message}. {self.remedy}."


@dataclass(frozen=True, slots=True)
class Failure:
    """What is known of a failed visit: what `step.error` and the trace hold.

    `exception` is there only in the process in which it was raised. No route may need it.
    """

    path: str
    type: str
    code: str
    message: str
    attempts: int = 1
    exception: Exception | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type
