"""The spec of an agent: all that is said of it before a request comes. Frozen, and checked when it is made."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, Literal

from flowcore import ContractError
from flowcore.messages import ModelSettings
from flowcore.models import ModelRunner, Sink
from flowcore.tools import Allowed, Hook, Policy, ToolCatalog
from flowcore_agent.guardrails.entry import GuardEntry
from flowcore_agent.limits import AgentLimits
from flowcore_agent.ports import (
    Authenticate,
    Classifier,
    Delivery,
    Files,
    Guard,
    Memory,
    Models,
    Observer,
    Skills,
)
from flowcore_agent.prompt import CustomPrompt, FilePrompt, PredefinedPrompt, Prompt
from flowcore_agent.sections import PROMPT_PARTS, SECTIONS, PromptPart, Section

__all__ = ["AgentSpec", "OwnTools", "check_spec"]


@dataclass(frozen=True, slots=True)
class OwnTools:
    """Which of the loop's own tools the model gets. `message` sends the user a text at once."""

    todo: bool = False
    memory: bool = False
    skills: bool = False
    sub_agent: bool = False
    completion: bool = False
    message: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentSpec:
    """All that is said of an agent before a request comes.

    Args:
        name: The agent's name, in prompts, events and records.
        model: The runner of its model; or the models that it may choose from, by user and agent.
        default_model: Of several models the one that is used where the request names none.
        core: The core version, where neither request nor model name one: see `available_cores`.
        settings: How the model is to answer.
        authenticate: Says who asks, before anything else.
        prompt: What the model is told first.
        templates: The predefined prompts by name: `text`, and `variables` with their defaults.
        patchable: The templates that a request may patch.
        system_messages: What becomes of a client's system message: refused, or taken in place of the prompt.
        catalog: The tools there are; `allowed` says which of them a request may use.
        hooks: As those of `ToolExecutor`.
        policy: As that of `ToolExecutor`.
        own_tools: Which of the loop's own tools the model gets.
        limits: How far the loop may go.
        classify: Says how a request is worked on; without it, everything goes into the loop.
        plan: Whether a plan is made for a task of some depth; without `classify` every request is one.
        verify: Whether the answer to such a task is looked at, with one more go at what is missing.
        memory: What is remembered of users.
        skills: The skills there are.
        files: The files that a request may name.
        profile: What is known of the agent's surroundings, by heading; added to the system prompt.
        guidance: What the platform wants of every agent; added to the system prompt.
        prompt_parts: Which parts follow the prompt in the system prompt; all, where they have something to say.
        tells_time: Whether the model is told the time.
        required: Sections of the context without which a request fails. Of any other it is an issue.
        guards: Guardrails of what comes in.
        output_guards: Guardrails of what goes out: of the whole answer, and of the pieces of a stream in windows.
        refusal: What the user is told where a guardrail blocks; '' is nothing.
        sink: Where the pieces of the answer go.
        delivery: Where the answer goes.
        observers: Called after a run that completed.
        description: A sentence for readers and diagrams.

    Raises `ContractError` that lists everything that cannot be meant.
    """

    name: str
    model: ModelRunner | Models
    default_model: str = ""
    core: str = "default"
    settings: ModelSettings = field(default_factory=ModelSettings)
    authenticate: Authenticate | None = None
    prompt: Prompt = field(default_factory=lambda: CustomPrompt("You are a helpful assistant."))
    templates: Mapping[str, Mapping[str, object]] = field(default_factory=dict[str, Mapping[str, object]])
    patchable: Collection[str] = ()
    system_messages: Literal["refuse", "override"] = "refuse"
    catalog: ToolCatalog | None = None
    allowed: Allowed = None
    hooks: Sequence[Hook] = ()
    policy: Policy | None = None
    own_tools: OwnTools = field(default_factory=OwnTools)
    limits: AgentLimits = field(default_factory=AgentLimits)
    classify: Classifier | None = None
    plan: bool = False
    verify: bool = False
    memory: Memory | None = None
    skills: Skills | None = None
    files: Files | None = None
    profile: Mapping[str, str] = field(default_factory=dict[str, str])
    guidance: str = ""
    prompt_parts: Collection[PromptPart] = PROMPT_PARTS
    tells_time: bool = False
    required: Collection[Section] = ()
    guards: Sequence[Guard | GuardEntry] = ()
    output_guards: Sequence[Guard | GuardEntry] = ()
    refusal: str = ""
    sink: Sink | None = None
    delivery: Delivery | None = None
    observers: Sequence[Observer] = ()
    description: str = ""

    def __post_init__(self) -> None:
        faults = [
            f"{name} is a {type(getattr(self, name)).__name__}: give {words}"
            for name, (kinds, words) in _KINDS.items()
            if not isinstance(getattr(self, name), kinds)
        ]
        if self.system_messages not in ("refuse", "override"):
            faults.append(f"system_messages={self.system_messages!r}: give 'refuse' or 'override'")
        if not str(self.name).strip():
            faults.append("name is empty: give the agent a name")
        if unknown := sorted(set(self.patchable) - set(self.templates)):
            faults.append(
                f"patchable names {', '.join(unknown)}, and templates has {', '.join(self.templates) or 'none'}"
            )
        faults += self._wrong_sections()
        faults += [*self._wrong_own_tools(), *self._wrong_guards(), *self._wrong_ports()]
        if faults:
            raise ContractError(f"AgentSpec {self.name!r}: {'; '.join(faults)}")

    def _wrong_sections(self) -> Iterator[str]:
        for name, known in (("prompt_parts", PROMPT_PARTS), ("required", SECTIONS)):
            if unknown := sorted(set(getattr(self, name)) - set(known)):
                yield f"{name} names {', '.join(unknown)}: name some of {', '.join(known)}"
        for name in self.required:
            if getattr(self, "catalog" if name == "tools" else name, "") is None:
                yield f"required names {name}, and the agent has none"

    def _wrong_guards(self) -> Iterator[str]:
        for side in ("guards", "output_guards"):
            given: Sequence[Any] = getattr(self, side)
            if not isinstance(given, list | tuple):
                yield f"{side} is a {type(given).__name__}: give a list of guardrails"
                continue
            for place, guard in enumerate(given):
                works = isinstance(guard, GuardEntry) or (
                    callable(getattr(guard, "check", None))
                    and isinstance(getattr(guard, "fails_open", None), bool)
                )
                if not works or not isinstance(getattr(guard, "name", None), str):
                    yield f"{side}[{place}] is a {type(guard).__name__}: give name, fails_open and async check()"
            names = [getattr(guard, "name", None) for guard in given]
            if twice := sorted({str(name) for name in names if names.count(name) > 1}):
                yield f"{side} has {', '.join(twice)} more than once: give each a name of its own"

    def _wrong_own_tools(self) -> Iterator[str]:
        own = self.own_tools
        if not isinstance(own, OwnTools):  # pyright: ignore[reportUnnecessaryIsInstance] - what apps give
            return
        if own.memory and self.memory is None:
            yield "own_tools.memory is on, and there is no memory: give memory="
        if own.skills and self.skills is None:
            yield "own_tools.skills is on, and there are no skills: give skills="
        if own.message and self.delivery is None:
            yield "own_tools.message is on, and there is nowhere to send to: give delivery="

    def _wrong_ports(self) -> Iterator[str]:
        if self.sink is not None and not callable(getattr(self.sink, "output", self.sink)):
            yield f"sink is a {type(self.sink).__name__}: give an async function, or an object with async output()"
        for name, needed in _PORTS.items():
            port = getattr(self, name)
            missing = [method for method in needed if not callable(getattr(port, method, None))]
            if port is not None and missing:
                yield f"{name} is a {type(port).__name__} without {', '.join(missing)}: give these async methods"
        for name, words in _FUNCTIONS.items():
            given = getattr(self, name)
            if given is not None and not callable(given):
                yield f"{name} is a {type(given).__name__}: give {words}"
        for name, words in _LISTS.items():
            several: Sequence[object] = getattr(self, name)
            if not isinstance(several, list | tuple):
                yield f"{name} is a {type(several).__name__}: give a list of {words}"
            else:
                yield from (f"{name} has {each!r}: give {words}" for each in several if not callable(each))

    @property
    def system_prompt_supported(self) -> bool:
        """Whether a client may offer its user a field for a system prompt."""
        return self.system_messages == "override"


_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "name": ((str,), "a text"),
    "model": ((ModelRunner, Models), "ModelRunner(...), or ModelTable({...}) for several"),
    "settings": ((ModelSettings,), "ModelSettings(...)"),
    "prompt": (
        (CustomPrompt, FilePrompt, PredefinedPrompt),
        "CustomPrompt('...'), FilePrompt(...) or PredefinedPrompt(...)",
    ),
    "own_tools": ((OwnTools,), "OwnTools(...)"),
    "limits": ((AgentLimits,), "AgentLimits(...)"),
    "catalog": ((ToolCatalog, NoneType), "ToolCatalog([...])"),
}
_PORTS: dict[str, tuple[str, ...]] = {
    "memory": ("core", "generation", "recall", "save"),
    "skills": ("cards", "read"),
    "files": ("read",),
    "delivery": ("store", "send", "was_done"),
}
_FUNCTIONS = {
    "authenticate": "an async function of the request",
    "classify": "RuleClassifier(), or a function",
    "policy": "a function of the proposal",
}
_LISTS = {
    "hooks": "functions of a proposal",
    "observers": "async functions of a request and its reply",
}


def check_spec(name: str, spec: object) -> None:
    """Return if this is a spec. Raises `ContractError` that names the place otherwise."""
    if not isinstance(spec, AgentSpec):
        raise ContractError(f"{name}({spec!r}): give an AgentSpec(name=..., model=...)")
