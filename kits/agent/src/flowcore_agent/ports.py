"""The ports: what an agent asks of the app around it. Small protocols; some have a default in this kit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from flowcore.messages import Message
from flowcore.models import ModelRunner
from flowcore_agent.reply import AgentReply
from flowcore_agent.request import AgentRequest

__all__ = [
    "Authenticate",
    "Class",
    "Classifier",
    "Delivery",
    "Extractor",
    "Files",
    "Guard",
    "Memory",
    "MemoryChange",
    "MemoryStore",
    "Models",
    "Observer",
    "Reconciled",
    "Reconciler",
    "Remembered",
    "SkillCard",
    "Skills",
]


@dataclass(frozen=True, slots=True)
class Class:
    """How a request is to be worked on.

    `direct` is answered at once, without tools; a `task` goes into the loop. `depth` says how much is planned.
    """

    route: Literal["direct", "task"] = "task"
    depth: Literal["none", "short", "full"] = "none"


class Authenticate(Protocol):
    """Says who asks. It is called before anything else is looked at."""

    async def __call__(self, request: AgentRequest, /) -> str:
        """Return the user that a request is from. Raises whatever refuses it: nothing is run then."""
        ...


class Classifier(Protocol):
    """Says how a request is to be worked on."""

    async def __call__(self, messages: Sequence[Message], tools: Sequence[str], /) -> Class:
        """Return the class of the request in these messages, for an agent with these tools."""
        ...


@runtime_checkable
class Models(Protocol):
    """The models that there are for a user and an agent."""

    def enabled(self, user: str, agent: str, /) -> Sequence[str]:
        """Return the names of the models that may be used, the default first."""
        ...

    def runner(self, name: str, /) -> ModelRunner:
        """Return the runner of a model. Raises `LookupError` for one that is not there."""
        ...

    def core(self, name: str, /) -> str:
        """Return the core version that a model is to be run by; `"default"` leaves it to the agent."""
        ...


class Guard(Protocol):
    """A guardrail: looks at a text, and says why it is not to pass."""

    @property
    def name(self) -> str:
        """What it is known by."""
        ...

    @property
    def fails_open(self) -> bool:
        """Whether a text passes when the guardrail itself fails."""
        ...

    async def check(self, text: str, messages: Sequence[Message], /) -> str:
        """Return why the text is blocked, '' if it may pass. `messages` are the conversation."""
        ...


class Memory(Protocol):
    """What is remembered of a user between conversations."""

    async def core(self, user: str, agent: str, /) -> str:
        """Return what is always known: the core memory and the profile."""
        ...

    async def generation(self, user: str, agent: str, /) -> int:
        """Return a number that is another one whenever `core` may return something else: until then it is kept."""
        ...

    async def recall(self, user: str, agent: str, query: str, most: int, /) -> Sequence[str]:
        """Return what fits a query, the best first."""
        ...

    async def save(self, user: str, agent: str, text: str, /) -> None:
        """Remember a text. Raises `ValueError` for one that cannot be remembered."""
        ...


@dataclass(frozen=True, slots=True)
class Remembered:
    """A text that is remembered, with its id."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """A text to remember, in the place of another one where `replaces` has its id.

    Without a text that one is forgotten.
    """

    text: str = ""
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What is to become of a memory: the changes, and the core memory anew, None where it stays."""

    changes: tuple[MemoryChange, ...] = ()
    core: str | None = None


class MemoryStore(Memory, Protocol):
    """A memory that can be reconciled with what a conversation has brought."""

    async def core_memory(self, user: str, agent: str, /) -> str:
        """Return the core memory alone, without the profile."""
        ...

    async def search(self, user: str, agent: str, query: str, most: int, /) -> Sequence[Remembered]:
        """Return what fits a query, the best first, each with its id."""
        ...

    async def latest(self, user: str, agent: str, most: int, /) -> Sequence[Remembered]:
        """Return what was remembered last, the newest first."""
        ...

    async def apply(self, user: str, agent: str, reconciled: Reconciled, /) -> None:
        """Make all changes or none, and begin a new generation."""
        ...


class Extractor(Protocol):
    """Says what is worth remembering of a conversation."""

    async def __call__(self, request: AgentRequest, reply: AgentReply, /) -> Sequence[str]:
        """Return facts, each a text of its own."""
        ...


class Reconciler(Protocol):
    """Says what becomes of a memory with new facts."""

    async def __call__(self, facts: Sequence[str], known: Sequence[Remembered], core: str, /) -> Reconciled:
        """Return what is to change, given what is known beside the facts, and the core memory."""
        ...


@dataclass(frozen=True, slots=True)
class SkillCard:
    """What the model is told of a skill before it reads it. `fault` says why it cannot be read."""

    name: str
    description: str
    fault: str = ""


class Skills(Protocol):
    """Texts that say how something is done, read when they are needed."""

    async def cards(self) -> Sequence[SkillCard]:
        """Return what there is."""
        ...

    async def read(self, name: str, /) -> str:
        """Return a skill. Raises `LookupError` for one that is not there."""
        ...


class Files(Protocol):
    """The files that a request may name to be read along."""

    async def read(self, name: str, /) -> str:
        """Return the text of a file. Raises `LookupError` for one that is not there."""
        ...


class Delivery(Protocol):
    """Where the answer goes: a store of conversations, a messenger.

    Each call has a key of its own, the same whenever it is made again: hand it to a service that knows such keys.
    """

    async def store(self, request: AgentRequest, reply: AgentReply, key: str, /) -> object:
        """Keep the answer, cleaned, with its conversation."""
        ...

    async def send(self, request: AgentRequest, text: str, key: str, /) -> object:
        """Send a text to the user. Called at most once for the final response."""
        ...

    async def was_done(self, key: str, /) -> bool | None:
        """Return whether what was begun under a key, and then interrupted, was done; None if nobody can tell."""
        ...


class Observer(Protocol):
    """Called after a run that completed: it can neither delay the answer nor change it."""

    async def __call__(self, request: AgentRequest, reply: AgentReply, /) -> object:
        """Do what is to be done afterwards: metrics, summaries, consolidation of memory."""
        ...
