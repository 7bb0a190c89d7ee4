"""The Agent Kit: the loop of a model and its tools as a flow."""

from flowcore_agent.admit import admit
from flowcore_agent.flow import agent_flow
from flowcore_agent.limits import AgentLimits
from flowcore_agent.ports import (
    Class,
    Classifier,
    Delivery,
    Guard,
    Memory,
    Models,
    Observer,
    OutputSink,
    SkillCard,
    Skills,
)
from flowcore_agent.prompt import CustomPrompt, FilePrompt, PredefinedPrompt, Prompt
from flowcore_agent.reply import AgentReply, EndReason, GuardReport, Issue
from flowcore_agent.request import AgentRequest
from flowcore_agent.spec import AgentSpec, OwnTools
from flowcore_agent.state import AgentState, Todo

__all__ = [
    "AgentLimits",
    "AgentReply",
    "AgentRequest",
    "AgentSpec",
    "AgentState",
    "Class",
    "Classifier",
    "CustomPrompt",
    "Delivery",
    "EndReason",
    "FilePrompt",
    "Guard",
    "GuardReport",
    "Issue",
    "Memory",
    "Models",
    "Observer",
    "OutputSink",
    "OwnTools",
    "PredefinedPrompt",
    "Prompt",
    "SkillCard",
    "Skills",
    "Todo",
    "admit",
    "agent_flow",
]
