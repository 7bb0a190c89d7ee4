"""App: an agent that works on the Python packages that are installed here.

flowcore run examples/package_agent "Which installed packages need anyio?"
flowcore run examples/package_agent --model NAME --base-url URL "Which of them can do HTTP/2, and how?"

Without a model a script stands in its place, which knows a few kinds of question.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from flowcore import App
from flowcore.messages import Message
from flowcore.models import ChatModel, ModelRunner
from flowcore.render import visible
from flowcore.tools import Proposal
from flowcore_agent import AgentReply, AgentRequest, AgentState, admit, agent_flow

from .agent import BUDGET, agent_of
from .packages import Packages
from .script import Script

KEY = "PACKAGE_AGENT_API_KEY"
_PATIENCE = 300.0
"""Seconds that a model may think about one turn: a small machine takes its time."""
_SHOWN = 100


def told(proposal: Proposal) -> None:
    """Say on standard error what the model has a tool do: the agent's progress."""
    words = visible(f"{proposal.tool.name}({_given(proposal)})")
    line = words if len(words) <= _SHOWN else f"{words[: _SHOWN - 1]}…"
    with suppress(OSError):  # whom nobody reads may work on
        print(f"\r\x1b[K{line}" if sys.stderr.isatty() else line, file=sys.stderr, flush=True)


def _given(proposal: Proposal) -> str:
    if proposal.tool.name == "todo":
        items = proposal.arguments["items"]
        return f"{sum(item['is_done'] for item in items)} of {len(items)} done"
    return " ".join(", ".join(f"{name}={value!r}" for name, value in proposal.arguments.items()).split())


def shown(reply: AgentReply) -> str:
    """Show the answer, how it ended if that was no answer, and what could not be had."""
    lines = [reply.text or "(no answer)"]
    if reply.reason not in ("answer", "completed"):
        lines.append(f"\nThe agent ended early: {reply.reason}.")
    lines += [f"\nNot available: {issue.name}: {issue.message}" for issue in reply.issues]
    return "\n".join(map(visible, "\n".join(lines).split("\n")))


def line(id: str, reply: AgentReply) -> dict[str, Any]:
    """The answer as a line for programs."""
    status = "answered" if reply.text and not reply.is_partial else "fallback"
    return {"id": id, "answers": [{"text": reply.text, "citations": [], "status": status}]}


def app_of(runner: ModelRunner, packages: Packages) -> App[AgentState, object, AgentReply]:
    """Make the app of a model."""
    spec = agent_of(runner, packages, (told,))

    def asked(text: str) -> AgentState:
        return admit(spec, AgentRequest((Message("user", text),)))

    return App(flows=[agent_flow(spec)], state=asked, budget=BUDGET, present=shown, line=line)


@dataclass(frozen=True, slots=True)
class Options:
    """What may be chosen on the command line."""

    model: Annotated[str, Field(description="the model that works in place of the script", min_length=1)]
    base_url: Annotated[str, Field(description="where its OpenAI-compatible API is")] = "https://api.openai.com/v1"
    window: Annotated[int | None, Field(description="how many tokens it can read; more is summed up", ge=500)] = (
        None
    )


def with_model(options: Options) -> App[AgentState, object, AgentReply]:
    """The app with a model. Its API key is read from the environment, if there is one."""
    key = os.environ.get(KEY) or None
    model = ChatModel(options.model, base_url=options.base_url, api_key=key, timeout=_PATIENCE)
    runner = ModelRunner(model, timeout=_PATIENCE, context_limit=options.window)
    return app_of(runner, Packages())


_scripted = app_of(ModelRunner(Script()), Packages())
app = App(
    flows=_scripted.flows,
    state=_scripted.state,
    budget=_scripted.budget,
    present=shown,
    line=line,
    options=with_model,
)
