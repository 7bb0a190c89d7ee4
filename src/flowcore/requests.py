"""Requests: what a run asks a person, and the answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Generic, Literal, Self

from typing_extensions import TypeVar

from .errors import ContractError
from .types import is_a

__all__ = [
    "Answer",
    "Approval",
    "FormT",
    "OpenRequest",
    "Verification",
    "answer_word",
    "read_approval",
    "read_verification",
]

FormT = TypeVar("FormT", covariant=True, default=Any)
"""What a person fills in."""

_TIMES = ("opened", "expires")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequest:
    """A question to a person that has no answer yet. An answer counts until `expires`.

    `kind` says what is asked. `tool`: may this call run, with these `arguments` (JSON text)? It is answered by
    True, False or an `Approval`, and so is `approve`. `ask` is answered by what its form wants, `verify` by a
    `Verification`. `shown` is what the person is shown beside the question, `form` the JSON Schema of what is to
    be filled in; both are '' where there is none. The times are aware of their zone.
    """

    id: str
    kind: Literal["tool", "approve", "ask", "verify"]
    path: str
    question: str
    opened: datetime
    expires: datetime
    tool: str = ""
    call_id: str = ""
    arguments: str = ""
    shown: str = ""
    form: str = ""

    def to_json(self) -> str:
        """Return the request as JSON text."""
        return json.dumps(asdict(self) | {name: getattr(self, name).isoformat() for name in _TIMES})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the request that `to_json` made text of."""
        values = json.loads(text)
        return cls(**values | {name: datetime.fromisoformat(values[name]) for name in _TIMES})


@dataclass(frozen=True)
class Approval(Generic[FormT]):
    """Whether a person agrees, and why. The reason of a no is told to whoever asked.

    `form` is what the person filled in, where there was a form; None if a person who does not agree left it.
    """

    approved: bool
    reason: str = ""
    form: FormT | None = None


@dataclass(frozen=True, slots=True)
class Verification:
    """What a person found out about work whose outcome was unknown.

    `done` is True with the outcome as `value`, False if it was not done, and None if it is to count as failed.
    """

    done: bool | None
    value: object = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered, and by whom. `expired` says that nobody did in time; then there is no value."""

    value: Any
    by: str = ""
    expired: bool = False


def answer_word(answer: Answer) -> str:
    """Return the word for an answer: approved, denied, done, not_done, failed, answered, or expired."""
    if answer.expired:
        return "expired"
    if isinstance(answer.value, Approval):
        return "approved" if answer.value.approved else "denied"
    if isinstance(answer.value, Verification):
        return "failed" if answer.value.done is None else "done" if answer.value.done else "not_done"
    return "answered"


def read_approval(raw: object, read_form: Callable[[object], Any] | None = None) -> Approval[Any]:
    """Return what True, False, an `Approval`, or an object of JSON that has its fields says.

    A form that was left out is empty: whoever agrees must do so to the form, too. Raises `ContractError`.
    """
    given = Approval[Any](raw) if isinstance(raw, bool) else _from_fields(raw)
    if not isinstance(given, Approval) or not is_a(given.approved, bool) or not is_a(given.reason, str):
        raise ContractError(f"is answered by True, False or Approval, not {raw!r}")
    if read_form is None:
        if given.form is not None:
            raise ContractError("is answered without a form: it has none")
        return given
    if given.form is None and not given.approved:
        return given
    return Approval(given.approved, given.reason, read_form({} if given.form is None else given.form))


def read_verification(raw: object, read_value: Callable[[object], Any]) -> Verification:
    """Return what True, False, a `Verification`, or an object of JSON that has its fields says.

    `read_value` reads the outcome of what was done. Raises `ContractError`.
    """
    given: Any = Verification(raw) if isinstance(raw, bool) else raw
    if isinstance(raw, Mapping) and {"done"} <= set(raw) <= {"done", "value", "reason"}:
        given = Verification(**raw)
    known = isinstance(given, Verification) and (given.done is None or is_a(given.done, bool))
    if not known or not is_a(given.reason, str):
        raise ContractError(f"is answered by True, False or Verification, not {raw!r}")
    if given.done:
        return Verification(True, read_value(given.value), given.reason)
    if given.value is not None:
        raise ContractError("is answered with a value only where it was done")
    return Verification(given.done, None, given.reason)


def _from_fields(raw: object) -> Any:
    if isinstance(raw, Mapping) and {"approved"} <= set(raw) <= {"approved", "reason", "form"}:
        return Approval[Any](**raw)
    return raw
