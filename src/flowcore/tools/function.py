"""The decorator `@tool`: makes a tool of a typed function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, ParamSpec, Protocol, TypeVar, overload

from ..errors import ContractError
from ..graph import callers_names
from .definition import Arguments, Tool, ToolContext, check_tool_name
from .docstring import read_docstring
from .parameters import Parameters, output_check

__all__ = ["FunctionTool", "made_tool", "tool"]

P = ParamSpec("P")
ReturnT = TypeVar("ReturnT", covariant=True)
OnFailure = Literal["tell", "fail"]


@dataclass(frozen=True, kw_only=True)
class FunctionTool(Tool, Generic[P, ReturnT]):
    """A tool that is a function. Called by your own code, it is that function."""

    fn: Callable[P, ReturnT] = field(repr=False)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ReturnT:
        """Call the function as it stands: no check, no budget, no event."""
        return self.fn(*args, **kwargs)


class _Decorator(Protocol):
    """`@tool(...)` with options."""

    def __call__(self, fn: Callable[P, ReturnT], /) -> FunctionTool[P, ReturnT]: ...


@overload
def tool(fn: Callable[P, ReturnT], /) -> FunctionTool[P, ReturnT]: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    effects: bool = False,
    verify: Callable[..., bool | Awaitable[bool | None] | None] | None = None,
    timeout: float | None = None,
    on_failure: OnFailure = "tell",
    output: Any = ...,
) -> _Decorator: ...
def tool(fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a tool of a typed function, async or not. A plain function works in a thread.

    Its name, the annotations of its parameters and its docstring are what a model is told; a first parameter
    annotated `ToolContext` is not.

        >>> @tool
        ... def add(a: int, b: int = 0) -> int:
        ...     "Add two numbers."
        ...     return a + b
        >>> add.name, add.parameters["required"]
        ('add', ['a'])

    Args:
        fn: The function.
        name: Another name than the function's.
        description: Another description than the docstring's.
        effects: It changes something outside: dispatched at most once, and unknown if it was interrupted.
        verify: A function of the same arguments that says whether an interrupted call was done: True, False, or
            None if nobody can tell. Tried once.
        timeout: Seconds a call may take.
        on_failure: `tell` the model, or `fail` the visit with a `ToolError`.
        output: The type that its results are checked against; by default the annotation.

    Raises:
        ContractError: A parameter has no annotation, or one without a JSON Schema; it names the remedy.
    """
    names = callers_names(1)
    if fn is None:
        return functools.partial(made_tool, names=names, **options)
    return made_tool(fn, names=names)


def made_tool(
    fn: Callable[..., Any],
    /,
    *,
    names: Mapping[str, Any],
    name: str | None = None,
    description: str | None = None,
    effects: bool = False,
    verify: Callable[..., Any] | None = None,
    timeout: float | None = None,
    on_failure: OnFailure = "tell",
    output: Any = ...,
) -> FunctionTool[..., Any]:
    """Return a function as a tool; `names` are those at hand where it is declared."""
    if isinstance(fn, type | Tool) or not callable(fn):
        raise ContractError(f"@tool makes a tool of a function, not of {fn!r}")
    known = name if name is not None else str(getattr(fn, "__name__", type(fn).__name__))
    check_tool_name(known)
    if any(map(_yields, (fn, type(fn).__call__))):
        told = "what happens meanwhile is told with `context.emit`"
        raise ContractError(f"tool {known!r} yields: a tool returns its result, once; {told}")
    said = read_docstring(fn.__doc__)
    parameters = Parameters(known, fn, said.parameters, names)
    is_async = inspect.iscoroutinefunction(fn)

    def call(context: ToolContext[Any], arguments: Arguments) -> Any:
        return fn(context, **arguments) if parameters.wants_context else fn(**arguments)

    return FunctionTool(
        name=known,
        description=description if description is not None else said.description,
        parameters=parameters.schema,
        call=call,
        is_async=is_async,
        check=parameters.check,
        check_output=output_check(known, parameters.returns if output is ... else output),
        effects=effects,
        verify=None if verify is None else _by_name(verify),
        timeout=timeout,
        on_failure=on_failure,
        fn=fn,
    )


def _yields(fn: object) -> bool:
    return inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn)


def _by_name(verify: Callable[..., Any]) -> Callable[[Arguments], Any]:
    """Return a function of the arguments that gives them by name, async if the one inside is."""
    if not inspect.iscoroutinefunction(verify):
        return lambda arguments: verify(**arguments)

    async def look(arguments: Arguments) -> Any:
        return await verify(**arguments)

    return look
