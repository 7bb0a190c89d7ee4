"""The signature of a node: what its annotations say of state, deps, labels and result."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType, SimpleNamespace
from typing import Annotated, Any, Literal, Never, Union, get_args, get_origin

from ..outcome import Complete, Continue
from ..step import Step
from ..types import type_name

__all__ = [
    "Signature",
    "callers_names",
    "innermost",
    "parameter_names",
    "read_hints",
    "read_signature",
    "signature_of_outcome",
    "state_hint",
]


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
    awaited: bool = False
    """Whether a plain function is annotated to return an awaitable of its outcome."""
    stand_ins: tuple[tuple[str, str], ...] = ()
    """Labels that need no route of their own, each with the label whose route is taken then."""

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
    hints = _evaluated(fn, names, (first, "return"))
    if isinstance(hints, str):
        return Signature(fault=hints)
    for name, wanted in (
        (first, f"`{first}: Step[State]`"),
        ("return", "`-> Continue` or `-> Complete[Result]`"),
    ):
        if name not in hints:
            return Signature(fault=f"no annotation {wanted}", missing=True)
    read = _parsed(hints[first], hints["return"])
    if read is None:
        resolved = read_hints(fn, names, (first, "return"))
        if isinstance(resolved, str):
            return Signature(fault=resolved)
        read = _parsed(resolved[first], resolved["return"])
        assert read is not None  # nothing is left to resolve
    if read.awaited and inspect.iscoroutinefunction(innermost(fn)):
        return Signature(
            fault="an async function is annotated with what comes of awaiting it, not with an awaitable"
        )
    return read


def read_hints(fn: Callable[..., Any], names: Mapping[str, Any], wanted: tuple[str, ...]) -> dict[str, Any] | str:
    """Return the wanted annotations of `fn` as objects, or a sentence that says why they cannot be read."""
    hints = _evaluated(fn, names, wanted)
    if isinstance(hints, str) or not any(map(_has_quotes, hints.values())):
        return hints
    holder: Any = SimpleNamespace(__annotations__=hints)
    try:
        return typing.get_type_hints(holder, getattr(innermost(fn), "__globals__", {}), dict(names), True)
    except Exception as error:  # any fault of user annotations is reported as the problem that it is
        quoted = next(hint for hint in hints.values() if _has_quotes(hint))
        return f"the annotation {type_name(quoted)} cannot be read ({error})"


def parameter_names(fn: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters that a caller of `fn` gives, whatever kind of callable it is."""
    try:
        return tuple(inspect.signature(fn).parameters)
    except ValueError:  # written in C, without a signature
        return ()


def state_hint(*fns: Callable[..., Any] | None) -> Any:
    """Return what the first function that says so takes as its state; `Any` where none does."""
    for fn in fns:
        names = () if fn is None else parameter_names(fn)[:1]
        hints = read_hints(fn, {}, names) if fn is not None else {}
        if isinstance(hints, dict) and hints:
            return next(iter(hints.values()))
    return Any


def innermost(fn: Any) -> Any:
    """Return the function with the annotations: inside a method, a partial, a decorator or a callable object."""
    while not _is_bare(fn) and not inspect.isclass(fn):
        if isinstance(fn, functools.partial):
            fn = fn.func
        elif inspect.ismethod(fn):
            fn = fn.__func__
        elif hasattr(fn, "__wrapped__"):
            fn = fn.__wrapped__
        elif inspect.isroutine(fn):
            break
        else:
            fn = type(fn).__call__
    return fn


def signature_of_outcome(hint: Any) -> Signature:
    """Return what an outcome annotation says, for functions that have no step."""
    return _outcomes(hint)


def _is_bare(fn: Any) -> bool:
    return type(fn) is FunctionType and "__wrapped__" not in fn.__dict__


def _evaluated(fn: Callable[..., Any], names: Mapping[str, Any], wanted: tuple[str, ...]) -> dict[str, Any] | str:
    function = innermost(fn)
    raw, space = getattr(function, "__annotations__", {}), getattr(function, "__globals__", {})
    hints: dict[str, Any] = {}
    for name in wanted:
        if name not in raw:
            continue
        hint = raw[name]
        try:
            hints[name] = eval(_compiled(hint), space, names) if isinstance(hint, str) else hint
        except Exception as error:  # any fault of user annotations is reported as the problem that it is
            return f"the annotation {hint!r} cannot be read ({error})"
    return hints


def _has_quotes(hint: Any) -> bool:
    """Return whether a name is still written as text inside: `Complete["Reply"]`, `Complete[list["Reply"]]`."""
    if isinstance(hint, typing.ForwardRef):
        return True
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return False
    if origin is Annotated:
        return _has_quotes(arguments[0])
    return any(isinstance(argument, str) or _has_quotes(argument) for argument in arguments)


@lru_cache(maxsize=4096)
def _compiled(text: str) -> CodeType:
    return compile(text, "<annotation>", "eval")


_GENERATOR = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR


def _first_parameter(fn: Callable[..., Any]) -> tuple[str, str]:
    """Return the name of the parameter that takes the step, and what is wrong with the parameters."""
    if _is_bare(fn):
        code = fn.__code__
        plain = code.co_argcount == 1 and not code.co_kwonlyargcount and not code.co_flags & _GENERATOR
        if plain:
            return code.co_varnames[0], ""
    try:
        inspect.signature(fn, follow_wrapped=False).bind(None)
    except TypeError as error:
        count = "no" if "too many" in str(error) else "more than one"
        return "", f"takes {count} argument: a node takes one step"
    except ValueError:
        return "", "has no signature that can be read: wrap it in a function of one step"
    function = innermost(fn)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return "", "is a generator: a node returns one outcome"
    names = parameter_names(fn)
    return (names[0], "") if names else ("", "takes no argument: a node takes one step")


def _parsed(step: Any, outcome: Any) -> Signature | None:
    """Return what two annotations say; None where names inside them are still text."""
    try:
        return _parse(step, outcome)
    except TypeError:  # an unhashable annotation cannot be cached
        return _parse.__wrapped__(step, outcome)


@lru_cache(maxsize=4096)
def _parse(step: Any, outcome: Any) -> Signature | None:
    if _has_quotes(step) or _has_quotes(outcome):
        return None
    state, deps = _step_arguments(step)
    if state is None:
        return Signature(fault=f"the argument is annotated {type_name(step)}, not Step[State]")
    outcome = _unaliased(outcome)
    awaited = get_origin(outcome) in (collections.abc.Awaitable, collections.abc.Coroutine)
    read = _outcomes(get_args(outcome)[-1] if awaited else outcome)
    if read.fault:
        return read
    return Signature(state, deps, read.labels, read.plain, read.results, awaited=awaited)


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
