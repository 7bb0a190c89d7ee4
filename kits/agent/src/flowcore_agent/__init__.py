"""The Agent Kit: the loop of a model and its tools as a flow."""

from flowcore_agent.admission.chat import chat_request
from flowcore_agent.admission.cores import CoreVersion, available_cores, resolve_core
from flowcore_agent.admit import admit
from flowcore_agent.after import after_run
from flowcore_agent.agent import Agent, AgentGraph, dispatch
from flowcore_agent.consolidation import Consolidation
from flowcore_agent.context.folder import FileFolder
from flowcore_agent.deployment import Deployment, Parameters
from flowcore_agent.errors import (
    AdmissionError,
    AdmissionFault,
    AgentError,
    ContextUnavailable,
    MemoryUnusable,
    TurnLimitReached,
)
from flowcore_agent.flow import agent_flow
from flowcore_agent.guardrails.entry import GuardEntry
from flowcore_agent.limits import AgentLimits
from flowcore_agent.memory import ModelExtractor, ModelReconciler, SQLiteMemory
from flowcore_agent.models import ModelEntry, ModelTable
from flowcore_agent.ports import (
    Authenticate,
    Class,
    Classifier,
    Delivery,
    Extractor,
    Files,
    Guard,
    Memory,
    MemoryChange,
    MemoryStore,
    Models,
    Observer,
    Reconciled,
    Reconciler,
    Remembered,
    SkillCard,
    Skills,
)
from flowcore_agent.prompt import CustomPrompt, FilePrompt, PredefinedPrompt, Prompt
from flowcore_agent.reply import AgentReply, EndReason, GuardReport, Issue, Stage
from flowcore_agent.request import AgentRequest
from flowcore_agent.routing.classifiers import ModelClassifier, RuleClassifier
from flowcore_agent.sections import PROMPT_PARTS, PromptPart, Section
from flowcore_agent.skills import SkillFolder
from flowcore_agent.spec import AgentSpec, OwnTools
from flowcore_agent.state import AgentState, Todo
from flowcore_agent.stream import StreamKind, StreamPiece
from flowcore_agent.sub_agents.events import SubAgentEvent
from flowcore_agent.sub_agents.flow import sub_agent_flow

__all__ = [
    "PROMPT_PARTS",
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
    "Consolidation",
    "ContextUnavailable",
    "CoreVersion",
    "CustomPrompt",
    "Delivery",
    "Deployment",
    "EndReason",
    "Extractor",
    "FileFolder",
    "FilePrompt",
    "Files",
    "Guard",
    "GuardEntry",
    "GuardReport",
    "Issue",
    "Memory",
    "MemoryChange",
    "MemoryStore",
    "MemoryUnusable",
    "ModelClassifier",
    "ModelEntry",
    "ModelExtractor",
    "ModelReconciler",
    "ModelTable",
    "Models",
    "Observer",
    "OwnTools",
    "Parameters",
    "PredefinedPrompt",
    "Prompt",
    "PromptPart",
    "Reconciled",
    "Reconciler",
    "Remembered",
    "RuleClassifier",
    "SQLiteMemory",
    "Section",
    "SkillCard",
    "SkillFolder",
    "Skills",
    "Stage",
    "StreamKind",
    "StreamPiece",
    "SubAgentEvent",
    "Todo",
    "TurnLimitReached",
    "admit",
    "after_run",
    "agent_flow",
    "available_cores",
    "chat_request",
    "dispatch",
    "resolve_core",
    "sub_agent_flow",
]
