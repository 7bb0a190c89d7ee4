"""The parameters of a tool: the JSON Schema of a function's arguments, and the check of what is given for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic.fields import FieldInfo, ModelPrivateAttr
from pydantic.json_schema import GenerateJsonSchema

from ..errors import ContractError
from ..graph import read_hints
from ..types import type_name
from .definition import Arguments, ToolContext
from .faults import ArgumentFault, fault_text

__all__ = ["Parameters", "output_check"]

_NO_SCHEMA = (
    "has no JSON Schema: use str, int, float, bool, list, dict, Literal, an enum, a dataclass or a pydantic model"
)


class Parameters:
    """What a function takes as a tool. Raises `ContractError` for what a model could not be told."""

    def __init__(
        self, name: str, fn: Callable[..., Any], described: Mapping[str, str], names: Mapping[str, Any]
    ) -> None:
        self._name = name
        given = list(inspect.signature(fn).parameters.values())
        hints = _hints(name, fn, names, [parameter.name for parameter in given])
        self.wants_context = bool(given) and _is_context(hints.get(given[0].name))
        own = given[1:] if self.wants_context else given
        if self.wants_context and given[0].kind not in _BY_POSITION:
            raise ContractError(f"{self._where(given[0].name)} {_CONTEXT}")
        self._names = {f"p{index}": parameter.name for index, parameter in enumerate(own)}
        fields = {
            key: (hints.get(parameter.name), self._field(parameter, hints, described))
            for key, parameter in zip(self._names, own, strict=True)
        }
        self._model = self._made(fields)
        self.schema = self._schema(fields)
        self.returns = hints.get("return", Any)

    def check(self, arguments: Arguments) -> dict[str, Any]:
        """Return the arguments as the function wants them. Raises `ArgumentFault`, for the model to read."""
        try:
            checked = self._model.model_validate(dict(arguments))
        except ValidationError as error:
            raise ArgumentFault(fault_text(error, list(self._names.values()))) from None
        return {name: getattr(checked, key) for key, name in self._names.items()}

    def _field(self, parameter: inspect.Parameter, hints: Mapping[str, Any], described: Mapping[str, str]) -> Any:
        where = self._where(parameter.name)
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ContractError(f"{where} cannot be given by name: a tool takes no *args, **kwargs or `/`")
        if parameter.name not in hints:
            raise ContractError(f"{where} has no annotation: say its type, as in `{parameter.name}: str`")
        if _OF_CLASSES & {hints[parameter.name], get_origin(hints[parameter.name])}:
            raise ContractError(f"{where}: ClassVar and Final are for attributes; say its type alone")
        if _holds_context(hints[parameter.name]):
            raise ContractError(f"{where} {_CONTEXT}")
        if isinstance(parameter.default, FieldInfo | ModelPrivateAttr):
            raise ContractError(f"{where} has a Field as its default: write Annotated[..., Field(...)] instead")
        default = ... if parameter.default is parameter.empty else parameter.default
        annotated = [item.description for item in _annotated(hints[parameter.name]) if isinstance(item, FieldInfo)]
        says = next(filter(None, annotated), None) or described.get(parameter.name)
        return Field(default, alias=parameter.name, description=says)

    def _where(self, parameter: str) -> str:
        return f"tool {self._name!r}, parameter {parameter!r}"

    def _made(self, fields: dict[str, Any]) -> type[BaseModel]:
        try:
            made: type[BaseModel] = create_model(self._name, __config__=_FORBID, **fields)
        except Exception as error:  # whatever an annotation of the user's makes of it
            raise self._refusal(fields, error) from error
        return made

    def _schema(self, fields: dict[str, Any]) -> dict[str, Any]:
        try:
            schema = self._model.model_json_schema(schema_generator=_Schema)
        except Exception as error:
            raise self._refusal(fields, error) from error
        return {key: value for key, value in schema.items() if key != "title"}

    def _refusal(self, fields: dict[str, Any], error: Exception) -> ContractError:
        """Return the error that names the parameter whose annotation is at fault."""
        for key, (annotation, _) in fields.items():
            try:
                TypeAdapter(annotation).json_schema(schema_generator=_Schema)
            except (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema):
                shown = type_name(annotation)
                return ContractError(f"{self._where(self._names[key])}: its annotation {shown} {_NO_SCHEMA}")
            except Exception as fault:
                shown, said = type_name(annotation), _last_words(fault)
                return ContractError(
                    f"{self._where(self._names[key])}: its annotation {shown} cannot be used: {said}"
                )
        return ContractError(f"tool {self._name!r}: its parameters have no JSON Schema: {_last_words(error)}")


_CONTEXT = "is a ToolContext: it is the first parameter, is given by position, and has no other annotation"
_OF_CLASSES: Any = {ClassVar, Final}
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_FORBID = ConfigDict(extra="forbid")


class _Schema(GenerateJsonSchema):
    """JSON Schema without titles that only repeat the name."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - pydantic's own name

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def output_check(name: str, returns: Any) -> Callable[[Any], Any] | None:
    """Return what checks that a tool returned what it promised; None where it promised nothing.

    Raises `ContractError` for a type that cannot be checked.
    """
    if returns is Any or returns is inspect.Signature.empty:
        return None
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(returns)
    except Exception:  # whatever an annotation of the user's makes of it
        adapter = _instance_check(name, returns)

    def check(value: Any) -> Any:
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            raise ValueError(fault_text(error, [])) from None

    return check


def _instance_check(name: str, returns: Any) -> TypeAdapter[Any]:
    """Return a check for a class that pydantic knows nothing of."""
    try:
        return TypeAdapter(returns, config=ConfigDict(arbitrary_types_allowed=True))
    except Exception as error:
        raise ContractError(
            f"tool {name!r}: what it returns cannot be checked; give output=: {_last_words(error)}"
        ) from error


def _last_words(error: Exception) -> str:
    """Return what is at fault, of all that pydantic says."""
    lines = [line.strip() for line in str(error).splitlines() if not line.startswith("For further information")]
    return next(filter(None, reversed(lines)), type_name(type(error)))


def _hints(name: str, fn: Callable[..., Any], names: Mapping[str, Any], own: list[str]) -> dict[str, Any]:
    hints: dict[str, Any] = {}
    for parameter in (*own, "return"):
        read = read_hints(fn, names, (parameter,))
        if isinstance(read, str):
            where = f"tool {name!r}, {f'parameter {parameter!r}' if parameter != 'return' else 'what it returns'}"
            raise ContractError(f"{where}: {read}; name types that are at hand where it is declared")
        hints |= read
    return hints


def _annotated(hint: Any) -> tuple[Any, ...]:
    return tuple(getattr(hint, "__metadata__", ()))


def _holds_context(hint: Any) -> bool:
    """Return whether an annotation is a `ToolContext`, or has one inside, such as `ToolContext | None`."""
    return _is_context(hint) or any(map(_is_context, get_args(hint)))


def _is_context(hint: Any) -> bool:
    return hint is ToolContext or (get_origin(hint) is ToolContext and bool(get_args(hint)))
