"""The person: a definition that asks somebody, waits for the answer, and goes on by it."""

from __future__ import annotations

import dataclasses
import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal

from pydantic import ValidationError

from ..errors import ContractError
from ..outcome import Continue
from ..requests import Answer, Approval, OpenRequest, answer_word, read_approval
from ..state import snapshot
from ..state.shape import is_state_type
from ..step import Step
from ..types import adapter_of, type_name
from ..visit import path_of
from ..visit_host import inside
from .signature import Signature

__all__ = ["Approve", "Asking", "Person", "form_schema"]


@dataclass(frozen=True, slots=True)
class Person:
    """A node that waits for a person. What is the same for consent and for questions."""

    kind: ClassVar[str] = "person"
    asks: ClassVar[Literal["approve", "ask"]]
    is_composite: ClassVar[bool] = False

    show: Callable[[Any], Any]
    form: Any = None
    take: Callable[[Any, Any], Any] | None = None
    expires: float = 300.0
    starts_round: bool | None = False
    description: str = ""
    signature: Signature = field(default_factory=Signature, compare=False)

    @property
    def fn(self) -> Callable[[Step[Any, Any]], Any]:
        """What a visit of it does."""
        return partial(_wait, self)

    @property
    def is_async(self) -> bool:
        """It waits."""
        return True

    @property
    def effects(self) -> bool:
        """It changes nothing outside."""
        return False

    @property
    def writes(self) -> tuple[str, ...] | None:
        """Any field."""
        return None

    @property
    def passable(self) -> bool:
        """It pays by itself, or not at all."""
        return True

    def wanted_deps(self) -> Iterator[tuple[str, Any]]:
        """Yield nothing: `show` and `take` are given the state alone."""
        yield from ()

    def read(self, raw: object) -> Any:
        """Return the answer that was meant. Raises `ContractError` for what is none."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Approve(Person):
    """A node that asks a person for consent."""

    kind: ClassVar[str] = "approve"
    asks: ClassVar[Literal["approve", "ask"]] = "approve"

    def read(self, raw: object) -> Approval[Any]:
        """Return whether a person agrees, with the form."""
        return read_approval(raw, None if self.form is None else partial(_filled_in, self.form))


@dataclass(frozen=True, slots=True)
class Asking(Person):
    """A node that asks a person a question, which is answered by a form."""

    kind: ClassVar[str] = "ask"
    asks: ClassVar[Literal["approve", "ask"]] = "ask"

    def read(self, raw: object) -> Any:
        """Return the form as it was filled in."""
        assert self.form is not None  # `ask` wants one
        return _filled_in(self.form, raw)


@lru_cache(maxsize=512)
def form_schema(form: Any) -> str:
    """Return the JSON Schema of a form as text, '' for none. Raises what pydantic does where there can be none."""
    return "" if form is None else json.dumps(adapter_of(form).json_schema())


async def _wait(person: Person, step: Step[Any, Any]) -> Continue[str]:
    """Ask, wait, and take the answer. The visit may be made again: nothing before the wait depends on chance."""
    visit = inside(step.scope)
    if visit is None:
        raise ContractError(f"{step.path or person.kind}: a person is asked inside of a run alone: run the flow")
    host, where = visit
    opened = host.clock.utcnow()
    shown = person.show(snapshot(step.state))
    request = OpenRequest(
        id=uuid.uuid4().hex,
        kind=person.asks,
        path=step.path,
        question=person.description or (shown if isinstance(shown, str) else "") or _node_of(path_of(where)),
        opened=opened,
        expires=opened + timedelta(seconds=person.expires),
        shown=_as_text(shown, step.path),
        form=form_schema(person.form),
    )
    answer = await host.wait(step.scope, where, request, person.read)
    if not answer.expired and person.take is not None:
        person.take(step.state, answer.value)
    return Continue(answer_word(answer), why=_why(person, answer))


def _why(person: Person, answer: Answer) -> dict[str, object]:
    if answer.expired:
        return {"expired after": person.expires}
    reason = answer.value.reason if isinstance(answer.value, Approval) and person.asks == "approve" else ""
    return {"by": answer.by, **({"reason": reason} if reason else {})}


def _node_of(path: str) -> str:
    return path.rpartition("/")[2].partition("#")[0]


def _as_text(shown: object, path: str) -> str:
    if isinstance(shown, str):
        return shown
    kind: Any = type(shown)
    if is_state_type(kind):
        return adapter_of(kind).dump_json(shown).decode()
    raise ContractError(f"{path}: show returned a {type_name(kind)}: return text, a model or a dataclass")


def _filled_in(form: Any, raw: object) -> Any:
    """Return a form as it was filled in: an instance, or plain data of JSON. Raises `ContractError`."""
    adapter = adapter_of(form)
    try:
        if isinstance(raw, form):
            return snapshot(adapter.validate_python(_fields(raw) if _is_unchecked(raw, form) else raw))
        try:
            text = json.dumps(raw)
        except (TypeError, ValueError):  # no plain data, though it may hold what the form wants
            return snapshot(adapter.validate_python(raw))
        return adapter.validate_json(text)
    except ValidationError as error:
        name = "text" if form is str else type_name(form)
        raise ContractError(f"is answered by {name}: {_faults(error)}") from None


def _is_unchecked(raw: object, form: Any) -> bool:
    """Return whether nobody checked what an instance holds: a plain dataclass takes anything."""
    return type(raw) is form and dataclasses.is_dataclass(form) and not hasattr(form, "__pydantic_validator__")


def _fields(raw: Any) -> dict[str, Any]:
    return {entry.name: getattr(raw, entry.name) for entry in dataclasses.fields(raw) if entry.init}


def _faults(error: ValidationError) -> str:
    found: list[str] = []
    for fault in error.errors(include_url=False, include_input=False):
        place = ".".join(map(str, fault["loc"]))
        found.append(f"{place}: {fault['msg']}" if place else fault["msg"])
    return "; ".join(found)
