"""The tool `send_message`: the model sends the user a text at once, in place of its final answer."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from flowcore import Step
from flowcore.errors import ToolError
from flowcore.tools import ToolContext, ToolOutput, tool
from flowcore_agent.delivery.clean import clean
from flowcore_agent.delivery.once import do_once
from flowcore_agent.guardrails.guardrail import Guardrail, look
from flowcore_agent.guardrails.telling import tell_checked
from flowcore_agent.own_tools.own import OwnTool, RunView
from flowcore_agent.ports import Delivery
from flowcore_agent.reply import GuardReport, Issue
from flowcore_agent.spec import AgentSpec
from flowcore_agent.state import AgentState

__all__ = ["message_tool"]


def message_tool(spec: AgentSpec, delivery: Delivery) -> OwnTool:
    """Return the tool. A message is cleaned, and looked at by the guardrails of the output, like any answer.

    It is sent at most once. Where nobody knows whether it was sent, the final answer is not sent either.
    """
    rails = tuple(Guardrail(each, "output", spec.limits.guard_timeout) for each in spec.output_guards)

    @tool(effects=True)
    async def send_message(context: ToolContext[RunView], text: str) -> ToolOutput:
        """Send the user a message now. What you answer at the end is not sent to him any more then.

        Args:
            text: The message, as he is to read it.
        """
        request, message = context.deps.request, clean(text)
        if not message:
            raise ToolError("the message is empty, and was not sent: say something")
        verdict = await look(rails, message, request.messages)
        reports = [asdict(report) for report in verdict.reports]
        if verdict.stopped_by:
            told = f"Not sent: {verdict.stopped_by} does not let it pass. Say it in another way."
            return ToolOutput(told, {"was_sent": False, "reports": reports})
        key = f"{context.run_id}/{context.path}/{context.call_id}"
        await do_once(delivery, key, math.inf, lambda: delivery.send(request, message, key))
        return ToolOutput("Sent.", {"was_sent": True, "reports": reports})

    return OwnTool(send_message, _apply, _tell, _doubt)


def _apply(state: AgentState, value: Any) -> None:
    state.was_delivered = state.was_delivered or value["was_sent"]


def _tell(step: Step[AgentState], value: Any) -> None:
    tell_checked(step, (GuardReport(**report) for report in value["reports"]))


def _doubt(state: AgentState) -> None:
    state.was_delivered = True
    unsure = "it was cut off, and may have been sent or not; nothing was sent after it"
    state.issues += (Issue("deliver", "send_message", unsure),)
