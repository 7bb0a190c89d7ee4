"""The state of an agent's run: everything its nodes share, and nothing that cannot be written down."""

from __future__ import annotations

from dataclasses import dataclass, field

from flowcore import Log
from flowcore.messages import Attachment, Message, ModelSettings, ToolCall
from flowcore_agent.reply import EndReason, GuardReport, Issue
from flowcore_agent.request import AgentRequest

__all__ = ["AgentState", "Todo"]


@dataclass(frozen=True, slots=True)
class Todo:
    """One item of the list that the model keeps of its work."""

    text: str
    is_done: bool = False


@dataclass
class AgentState:
    """Where an agent's run stands.

    What admission found: `model` and `core`, `settings` with everything merged, `prompt` (the configured one with
    its variables filled in, or the client's words in its place where `is_client_prompt`), and its steps in
    `admitted`. `prepared` is what a request is made of before the loop: the system prompt, then `messages` in
    front of the turns. Routing says the `route`, the `depth`, and the `tools` of the agent that are shown, where
    not all of them are; `plan` and `missing` are what a plan and a check of the answer came to. `turns` is what
    the loop has added: replies with their calls, and results. `calls` are those of the last reply, to be run
    next. `said` keeps every text of the model, so that something is left after a failure, and `thoughts` what it
    reasoned. `cleared` is the mark of the text that has passed the gate of a stream last.
    """

    request: AgentRequest
    model: str = ""
    core: str = ""
    settings: ModelSettings = field(default_factory=ModelSettings)
    prompt: str = ""
    is_client_prompt: bool = False
    admitted: tuple[str, ...] = ()
    system: str = ""
    prepared: Log[Message] = field(default_factory=Log[Message])
    turns: Log[Message] = field(default_factory=Log[Message])
    compacted: int = 0
    tools: tuple[str, ...] | None = None
    route: str = ""
    depth: str = ""
    plan: str = ""
    missing: str = ""
    was_checked: bool = False
    turn: int = 0
    calls: tuple[ToolCall, ...] = ()
    text: str = ""
    attachments: tuple[Attachment, ...] = ()
    said: Log[str] = field(default_factory=Log[str])
    thoughts: Log[str] = field(default_factory=Log[str])
    todo: tuple[Todo, ...] = ()
    reason: EndReason = "no_answer"
    is_partial: bool = False
    was_delivered: bool = False
    issues: tuple[Issue, ...] = ()
    guards: tuple[GuardReport, ...] = ()
    cleared: str = ""
