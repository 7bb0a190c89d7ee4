"""The table of models: which there are, and who may use them with which agent."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from flowcore import ContractError
from flowcore.models import ModelRunner
from flowcore_agent.admission.cores import PLATFORM_DEFAULT

__all__ = ["ModelEntry", "ModelTable"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelEntry:
    """A model and who may use it. Of users and agents None means all of them.

    `core` is the core version that the model wants; `"default"` leaves it to the agent.
    """

    runner: ModelRunner
    is_enabled: bool = True
    users: Collection[str] | None = None
    agents: Collection[str] | None = None
    core: str = PLATFORM_DEFAULT

    def is_for(self, user: str, agent: str) -> bool:
        """Return whether a user may use the model with an agent."""
        for name, known in ((user, self.users), (agent, self.agents)):
            if known is not None and name not in known:
                return False
        return self.is_enabled


class ModelTable:
    """The models that an app has, by name, the default first. A runner alone is enabled for everybody.

    Raises `ContractError` for what is neither.
    """

    def __init__(self, models: Mapping[str, ModelRunner | ModelEntry]) -> None:
        self._entries: dict[str, ModelEntry] = {}
        for name, given in models.items():
            entry = ModelEntry(runner=given) if isinstance(given, ModelRunner) else given
            if not isinstance(entry, ModelEntry):  # pyright: ignore[reportUnnecessaryIsInstance] - what apps give
                raise ContractError(f"ModelTable({name!r}): give a ModelRunner or a ModelEntry, no {given!r}")
            self._entries[name] = entry

    def enabled(self, user: str, agent: str, /) -> tuple[str, ...]:
        """Return the names of the models that a user may use with an agent, the default first."""
        return tuple(name for name, entry in self._entries.items() if entry.is_for(user, agent))

    def runner(self, name: str, /) -> ModelRunner:
        """Return the runner of a model. Raises `LookupError` for one that is not there."""
        return self._entry(name).runner

    def core(self, name: str, /) -> str:
        """Return the core version that a model wants. Raises `LookupError` for one that is not there."""
        return self._entry(name).core

    def _entry(self, name: str) -> ModelEntry:
        if name not in self._entries:
            raise LookupError(f"there is no model {name!r}: there are {', '.join(self._entries) or 'none'}")
        return self._entries[name]
