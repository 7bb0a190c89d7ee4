"""The signature of a node: what its annotations say of state, deps, labels and result."""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Annotated, Any, Literal, Never, Union, get_args, get_origin

from ..outcome import Complete, Continue
from ..step import Step
from ..types import type_name

__all__ = ["Signature", "callers_names", "read_hints", "read_signature", "signature_of_outcome"]


@dataclass(frozen=True, slots=True)
class Signature:
    """What a node's annotations say. `fault` is set, and the rest empty, where they cannot be read."""

    state: Any = Any
    deps: Any = object
    labels: tuple[str, ...] = ()
    plain: bool = False
    results: tuple[Any, ...] = ()
    fault: str = ""
    missing: bool = False

    @property
    def completes(self) -> bool:
        """Whether the node may end the flow."""
        return bool(self.results)


def callers_names(depth: int) -> Mapping[str, Any]:
    """Return the local names at the place of declaration, for annotations that are written as text."""
    frame = sys._getframe(depth + 1)
    return {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)


def read_signature(fn: Callable[..., Any], names: Mapping[str, Any]) -> Signature:
    """Return what the annotations of a node function say."""
    first, fault = _first_parameter(fn)
    if fault:
        return Signature(fault=fault)
    hints = read_hints(fn, names, (first, "return"))
    if isinstance(hints, str):
        return Signature(fault=hints)
    for name, wanted in (
        (first, f"`{first}: Step[State]`"),
        ("return", "`-> Continue` or `-> Complete[Result]`"),
    ):
        if name not in hints:
            return Signature(fault=f"no annotation {wanted}", missing=True)
    try:
        return _parse(hints[first], hints["return"])
    except TypeError:  # an unhashable annotation cannot be cached
        return _parse.__wrapped__(hints[first], hints["return"])


def read_hints(fn: Callable[..., Any], names: Mapping[str, Any], wanted: tuple[str, ...]) -> dict[str, Any] | str:
    """Return the wanted annotations of `fn` as objects, or a sentence that says why they cannot be read."""
    target: Any = fn if hasattr(fn, "__annotations__") else type(fn).__call__
    while hasattr(target, "__wrapped__"):
        target = target.__wrapped__
    raw: Mapping[str, Any] = getattr(target, "__annotations__", {})
    space = getattr(target, "__globals__", {})
    hints: dict[str, Any] = {}
    for name in wanted:
        if name not in raw:
            continue
        hint = raw[name]
        try:
            hints[name] = eval(_compiled(hint), space, dict(names)) if isinstance(hint, str) else hint
        except Exception as error:  # any fault of user annotations is reported as the problem that it is
            return f"the annotation {hint!r} cannot be read ({error})"
    return hints


def signature_of_outcome(hint: Any) -> Signature:
    """Return what an outcome annotation says, for functions that have no step."""
    return _outcomes(hint)


@lru_cache(maxsize=4096)
def _compiled(text: str) -> CodeType:
    return compile(text, "<annotation>", "eval")


def _first_parameter(fn: Callable[..., Any]) -> tuple[str, str]:
    code = getattr(fn, "__code__", None)
    if code is not None and code.co_argcount >= 1 and not hasattr(fn, "__wrapped__"):
        defaults = len(fn.__defaults__ or ())
        if code.co_argcount - defaults > 1:
            return "", "takes more than one argument: a node takes one step"
        return str(code.co_varnames[0]), ""
    parameters = list(inspect.signature(fn).parameters.values())
    if not parameters:
        return "", "takes no argument: a node takes one step"
    return parameters[0].name, ""


@lru_cache(maxsize=4096)
def _parse(step: Any, outcome: Any) -> Signature:
    state, deps = _step_arguments(step)
    if state is None:
        return Signature(fault=f"the argument is annotated {type_name(step)}, not Step[State]")
    read = _outcomes(outcome)
    if read.fault:
        return read
    return Signature(state, deps, read.labels, read.plain, read.results)


def _step_arguments(step: Any) -> tuple[Any, Any]:
    step = _unaliased(step)
    if step is Step:
        return Any, object
    if get_origin(step) is not Step:
        return None, None
    arguments = get_args(step)
    return arguments[0], arguments[1] if len(arguments) > 1 else object


def _outcomes(hint: Any) -> Signature:
    labels: list[str] = []
    results: list[Any] = []
    plain = False
    for member in _union(hint):
        origin = get_origin(member) or member
        arguments = get_args(member)
        if origin is Complete:
            results.append(arguments[0] if arguments else Any)
        elif origin is Continue and (not arguments or arguments[0] in (None, type(None))):
            plain = True
        elif origin is Continue:
            found = _labels(arguments[0])
            if found is None:
                return Signature(fault=f"labels are annotated {type_name(arguments[0])}, not Literal[...]")
            labels += [label for label in found if label not in labels]
        elif member not in (Never, typing.NoReturn):
            return Signature(fault=f"{type_name(member)} is returned, which is neither Continue nor Complete")
    return Signature(labels=tuple(labels), plain=plain, results=tuple(results))


def _labels(hint: Any) -> list[str] | None:
    found: list[str] = []
    for member in _union(hint):
        if get_origin(member) is not Literal or not all(isinstance(label, str) for label in get_args(member)):
            return None
        found += get_args(member)
    return found


def _union(hint: Any) -> list[Any]:
    hint = _unaliased(hint)
    if get_origin(hint) in (Union, types.UnionType):
        return [inner for member in get_args(hint) for inner in _union(member)]
    return [hint]


def _unaliased(hint: Any) -> Any:
    while True:
        if get_origin(hint) is Annotated:
            hint = get_args(hint)[0]
        elif type(hint).__name__ == "TypeAliasType":
            hint = hint.__value__
        else:
            return hint
