"""Requests: what a run asks a person, and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

__all__ = ["Answer", "Approval", "OpenRequest"]


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """A question to a person that has no answer yet.

    `kind` is `tool`: may this call run? It is answered by True, False or an `Approval`. `arguments` are those the
    tool will run with, as JSON text. An answer counts until `expires`; after that it is a no.
    """

    id: str
    kind: Literal["tool"]
    path: str
    question: str
    tool: str
    call_id: str
    arguments: str
    opened: datetime
    expires: datetime


@dataclass(frozen=True, slots=True)
class Approval:
    """Whether a call may run; `reason` is told to the model where it may not."""

    approved: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered, and by whom. `expired` says that nobody did in time."""

    approval: Approval
    by: str = ""
    expired: bool = False
