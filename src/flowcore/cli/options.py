"""The options of an app: the fields of what it is configured with, as flags of a command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Never, get_type_hints

from pydantic import TypeAdapter, ValidationError

from ..app import App
from ..errors import FlowcoreError, TargetError
from ..render import shown
from ..state.shape import is_state_type
from ..types import type_name
from .recorded import is_trace_file
from .target import Target, load_target
from .words import a, error_words

__all__ = ["add_options", "app_of", "app_to_run", "named_target"]

AnyApp = App[Any, Any, Any]
_MARK = "option of the app: "
_METAVARS = {"integer": "N", "number": "X"}
_MANY = ("array", "object")


def add_options(
    command: argparse.ArgumentParser,
    add_arguments: Callable[[argparse.ArgumentParser], None],
    words: Sequence[str],
) -> None:
    """Add the options of the app that is named, where one is given that is none of the command, or help is wanted.

    Raises `TargetError` if the app cannot be loaded, or has an option that no command can take.
    """
    scan = _Scan(add_help=False)
    scan.add_argument("target")
    add_arguments(scan)
    helped = [word for word in words if word in ("-h", "--help")]
    try:
        found, rest = scan.parse_known_args([word for word in words if word not in helped])
    except _Unreadable:  # the command says what is wrong with it
        return
    if not helped and not any(word.startswith("-") for word in rest):
        return
    try:
        target = None if is_trace_file(found.target) else load_target(found.target)
    except Exception:
        if helped:  # there is help for the command, at least
            return
        raise
    if target is not None and target.app is not None and target.app.options is not None:
        command.set_defaults(loaded=target)
        _add(command, target, target.app.options)


def app_to_run(arguments: argparse.Namespace) -> AnyApp:
    """Return the app that is named: as it stands, or with the options that were given.

    Raises `TargetError` if there is none, or if it cannot be made with them.
    """
    target = named_target(arguments)
    return app_of(target, target.app_to_run(), arguments)


def named_target(arguments: argparse.Namespace) -> Target:
    """Return what is named. Raises `TargetError` if it cannot be loaded."""
    return getattr(arguments, "loaded", None) or load_target(arguments.target)


def app_of(target: Target, app: AnyApp, arguments: argparse.Namespace) -> AnyApp:
    """Return the app as it stands, or with the options that were given. Raises `TargetError` as `app_to_run`."""
    given = {name.removeprefix(_MARK): value for name, value in vars(arguments).items() if name.startswith(_MARK)}
    return _configured(target, app.options, given) if given and app.options is not None else app


class _Unreadable(Exception):
    """The words of a command cannot be read."""


class _Scan(argparse.ArgumentParser):
    """Looks for the target, and complains about nothing."""

    def error(self, message: str) -> Never:
        raise _Unreadable(message)


def _add(command: argparse.ArgumentParser, target: Target, options: Callable[[Any], AnyApp]) -> None:
    group = command.add_argument_group("options of this app, behind TARGET")
    own = [flag for action in command._actions for flag in action.option_strings]
    for name, field in _fields(target, options).items():
        flag = f"--{name.replace('_', '-')}"
        if taken := next((each for each in own if each.startswith(flag)), None):
            raise TargetError(
                f"{target.text}: {flag} cannot be an option of the app, since the command has {taken};"
                f" give the field {name!r} another name"
            )
        kind = field.get("type", "")
        if kind in _MANY:
            raise TargetError(
                f"{target.text}: {flag} cannot be an option of the app: the field {name!r} is {a(kind)}, and a"
                " flag has one value; make it a text"
            )
        how: dict[str, Any] = {"metavar": _metavar(field)}
        if kind == "boolean":
            how = {"action": argparse.BooleanOptionalAction}
        group.add_argument(flag, dest=_MARK + name, default=argparse.SUPPRESS, help=_help(field), **how)


def _fields(target: Target, options: Callable[[Any], AnyApp]) -> Mapping[str, Mapping[str, Any]]:
    """Return the JSON Schema of each field."""
    schema = _adapter(target, options).json_schema()
    named = schema.get("$defs", {})
    return {name: _flat(field, named) for name, field in schema.get("properties", {}).items()}


def _flat(field: Mapping[str, Any], named: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a field with what it refers to, and without the None that it may be."""
    some: Mapping[str, Any] = next((each for each in field.get("anyOf", ()) if each.get("type") != "null"), {})
    field = {**some, **field}
    return {**named.get(str(field.get("$ref", "")).rpartition("/")[2], {}), **field}


def _adapter(target: Target, options: Callable[[Any], AnyApp]) -> TypeAdapter[Any]:
    hints = get_type_hints(options)
    hints.pop("return", None)
    kind: Any = next(iter(hints.values()), None)
    if len(hints) != 1 or not is_state_type(kind):
        raise TargetError(
            f"{target.text}: options= of the app is a function of one dataclass or pydantic model; annotate its"
            f" parameter{'' if kind is None else f' (now {type_name(kind)})'}"
        )
    return TypeAdapter(kind)


def _metavar(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return "|".join(map(str, field["enum"]))
    return _METAVARS.get(str(field.get("type")), "VALUE")


def _help(field: Mapping[str, Any]) -> str:
    words = str(field.get("description", ""))
    default = field.get("default")
    if default is not None and default is not False and default != "":
        words += f" (default: {default})"
    return " ".join(words.split()).replace("%", "%%")


def _configured(target: Target, options: Callable[[Any], AnyApp], given: Mapping[str, Any]) -> AnyApp:
    try:
        made: Any = options(_adapter(target, options).validate_python(given))
    except ValidationError as error:
        raise TargetError("\n".join(map(_fault, error.errors()))) from error
    except FlowcoreError:
        raise
    except Exception as error:
        raise TargetError(f"the app cannot be made with these options: {error_words(error)}") from error
    if isinstance(made, App):
        return made
    raise TargetError(f"{target.text}: options= of the app made {a(type(made).__name__)}; return an App")


def _fault(fault: Any) -> str:
    flag = f"--{str(next(iter(fault['loc']), '')).replace('_', '-')}" if fault["loc"] else "the options"
    if fault["type"] == "missing":
        return f"{flag} is missing: the app wants it beside the options that are given"
    return f"{flag}: {fault['msg']} (given: {shown(str(fault['input']))})"
