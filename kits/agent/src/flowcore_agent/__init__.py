"""The Agent Kit: the loop of a model and its tools as a flow."""

from flowcore_agent.admission.chat import chat_request
from flowcore_agent.admission.cores import CoreVersion, available_cores, resolve_core
from flowcore_agent.admit import admit
from flowcore_agent.agent import Agent, AgentGraph, dispatch
from flowcore_agent.deployment import Deployment, Parameters
from flowcore_agent.errors import AdmissionError, AdmissionFault, AgentError, TurnLimitReached
from flowcore_agent.flow import agent_flow
from flowcore_agent.limits import AgentLimits
from flowcore_agent.models import ModelEntry, ModelTable
from flowcore_agent.ports import (
    Authenticate,
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
    "AdmissionError",
    "AdmissionFault",
    "Agent",
    "AgentError",
    "AgentGraph",
    "AgentLimits",
    "AgentReply",
    "AgentRequest",
    "AgentSpec",
    "AgentState",
    "Authenticate",
    "Class",
    "Classifier",
    "CoreVersion",
    "CustomPrompt",
    "Delivery",
    "Deployment",
    "EndReason",
    "FilePrompt",
    "Guard",
    "GuardReport",
    "Issue",
    "Memory",
    "ModelEntry",
    "ModelTable",
    "Models",
    "Observer",
    "OutputSink",
    "OwnTools",
    "Parameters",
    "PredefinedPrompt",
    "Prompt",
    "SkillCard",
    "Skills",
    "Todo",
    "TurnLimitReached",
    "admit",
    "agent_flow",
    "available_cores",
    "chat_request",
    "dispatch",
    "resolve_core",
]
