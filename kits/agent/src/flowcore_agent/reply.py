"""The reply: how an agent's work ended, and everything that the caller may want to know of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from flowcore import Usage
from flowcore.messages import Attachment, Message

__all__ = ["AgentReply", "EndReason", "GuardReport", "Issue", "Stage"]

EndReason = Literal["answer", "completed", "limit", "repetition", "blocked", "failed", "exhausted", "no_answer"]
"""Why the loop ended: the model answered, said that it is done, or was brought to an end."""
Stage = Literal[
    "resolve", "templates", "tools", "skills", "memory", "prepare", "route", "plan", "model", "verify", "deliver"
]
"""Where something could not be had."""


@dataclass(frozen=True, slots=True)
class Issue:
    """Something that could not be had and did not stop the request: a template, a tool, a skill, a memory."""

    stage: Stage
    name: str
    message: str


@dataclass(frozen=True, slots=True)
class GuardReport:
    """What a guardrail did. Only `passed` and `blocked` say that it has looked.

    `off`: it is switched off. `skipped`: it could not be loaded, and lets pass. `failed_open`: it failed, and lets
    pass. `failed_closed`: it failed or could not be loaded, and lets nothing pass.
    """

    side: Literal["input", "output"]
    name: str
    status: Literal["passed", "blocked", "off", "skipped", "failed_open", "failed_closed"]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AgentReply:
    """What came of a request.

    `text` is the cleaned answer; '' where there is none, since an answer in words is not guaranteed. `is_partial`
    says that it was made before the work was cut short. `turn` is what to keep of this turn: the assistant's
    messages with their calls, and the results; given back with the next request they are its history.
    `was_delivered` says that the user was sent a message,
    or may have been: then an issue says so. `usage` is what was spent, without the time.
    """

    text: str
    reason: EndReason
    is_partial: bool = False
    model: str = ""
    turn: tuple[Message, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    issues: tuple[Issue, ...] = ()
    guards: tuple[GuardReport, ...] = ()
    was_delivered: bool = False
    usage: Usage = field(default_factory=Usage)
