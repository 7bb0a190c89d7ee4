"""The prepared request: a snapshot of all that is sent beside the messages, to be measured and used once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

from typing_extensions import TypeVar

from ..errors import ContractError
from ..messages import Message, ModelRequest, ModelSettings, ToolSchema
from .measure import Measure
from .model import Feature
from .output import OutputForm

__all__ = ["Frame", "Prepared", "as_messages"]

ValueT = TypeVar("ValueT", default=str)
Said = str | Sequence[Message]


def as_messages(said: Said) -> tuple[Message, ...]:
    """Return messages; a text is one user message. Raises `ContractError` for anything else."""
    if isinstance(said, str):
        return (Message("user", said),)
    given: Any = said
    if isinstance(given, Message) or not isinstance(given, Iterable):
        raise ContractError(f"the messages are a {type(given).__name__}: give a text, or a list of messages")
    messages = tuple(given)
    for message in messages:
        if not isinstance(message, Message):
            raise ContractError(f'a message is a {type(message).__name__}: give Message("user", "...")')
    return messages


def _as_tools(given: Any) -> tuple[ToolSchema, ...]:
    """Return what a model is told of tools; a `Tool` says it as well. Raises `ContractError` for anything else."""
    remedy = "give what `await catalog.for_request()` returns"
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ContractError(f"the tools are a {type(given).__name__}: {remedy}")
    tools: tuple[Any, ...] = tuple(given)
    for tool in tools:
        if not all(hasattr(tool, name) for name in ("name", "description", "parameters")):
            raise ContractError(f"a tool is a {type(tool).__name__}: {remedy}")
    return tools


@dataclass(frozen=True, slots=True)
class Frame:
    """What goes around the messages of a request."""

    before: tuple[Message, ...]
    tools: tuple[ToolSchema, ...]
    form: OutputForm[Any] | None
    takes_schema: bool
    settings: ModelSettings
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        features: frozenset[Feature],
        instructions: str,
        form: OutputForm[Any] | None,
        tools: Sequence[ToolSchema],
        settings: ModelSettings,
        before: Said = (),
    ) -> Frame:
        """Return what goes around messages to a model with these features.

        Raises `ContractError` for what is no tool or no settings, for two tools of one name, and for tools where
        the model takes none.
        """
        tools = _as_tools(tools)
        names = [tool.name for tool in tools]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ContractError(f"two tools are called {twice!r}: a model tells tools apart by their names")
        if tools and "tools" not in features:
            raise ContractError(f"the model takes no tools, and {len(tools)} are given: leave them out")
        takes_schema = "output_schema" in features
        warnings: tuple[str, ...] = ()
        if settings.reasoning_effort is not None and "reasoning_effort" not in features:
            settings = replace(settings, reasoning_effort=None)
            warnings = ("reasoning_effort was left out: the model has no such setting",)
        said = [instructions] if instructions else []
        if form is not None and not takes_schema:
            said.append(form.instructions)
        leading = (Message("system", "\n\n".join(said)),) if said else ()
        return cls((*leading, *as_messages(before)), tools, form, takes_schema, settings, warnings)

    def request(self, messages: tuple[Message, ...]) -> ModelRequest:
        """Return the whole request. Raises `ContractError` if there is nothing in it to answer."""
        said = (*self.before, *messages)
        if not said:
            raise ContractError("there is no message to send")
        schema = self.form.schema if self.form is not None and self.takes_schema else None
        return ModelRequest(said, self.tools, schema, self.settings)

    def snapshot(self) -> Frame:
        """Return a copy that no later change of what it was made from can reach."""
        tools = tuple(replace(tool, parameters=copy.deepcopy(dict(tool.parameters))) for tool in self.tools)
        return replace(
            self, tools=tools, settings=replace(self.settings, extra=copy.deepcopy(dict(self.settings.extra)))
        )


class Prepared(Generic[ValueT]):
    """A request that lacks only its messages, as it stood when it was prepared.

    Made by `ModelRunner.prepare`. Measuring is free and may be repeated; `invoke(..., prepared=...)` uses it up.
    """

    def __init__(self, frame: Frame, owner: object, measure: Callable[[ModelRequest, bool], Measure]) -> None:
        self._frame = frame
        self._owner = owner
        self._measure = measure
        self._is_used = False

    def measure(self, messages: Said = (), *, streaming: bool = False) -> Measure:
        """Return how large the request with these messages is. Sends nothing, charges nothing, keeps nothing back.

        `streaming` says that a sink will be given, since a body that asks for a stream differs by a few bytes.
        """
        return self._measure(self._frame.request(as_messages(messages)), streaming)

    def used_by(self, owner: object) -> Frame:
        """Return what goes around the messages. Raises `ContractError` the second time, and for another runner."""
        if self._owner is not owner:
            raise ContractError(
                "this request was prepared by another runner: prepare it with the one that sends it"
            )
        if self._is_used:
            raise ContractError("this prepared request was used already: prepare another one for each invoke")
        self._is_used = True
        return self._frame
