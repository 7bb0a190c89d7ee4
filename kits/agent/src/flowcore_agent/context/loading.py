"""Loading: sections are loaded side by side, and each fails on its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import anyio

from flowcore import BudgetExhausted, ContractError
from flowcore_agent.reply import Issue
from flowcore_agent.sections import Section

__all__ = ["Load", "Loaded", "load_all", "stage_of"]


@dataclass(frozen=True, slots=True)
class Load:
    """Something to be loaded: to which section it belongs, what it is, by which name, and what returns it.

    `timeout` says how many seconds it may take.
    """

    section: Section
    kind: str
    name: str
    fetch: Callable[[], Awaitable[Any]]
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was loaded, in the order of the loads, None where it failed; and each failure with its section."""

    values: tuple[Any, ...]
    failures: tuple[tuple[Section, Issue], ...] = ()


async def load_all(loads: Sequence[Load]) -> Loaded:
    """Load everything, side by side. Raises only what says that the run cannot go on."""
    values: list[Any] = [None] * len(loads)
    errors: list[Exception | None] = [None] * len(loads)

    async def fetch(place: int, load: Load) -> None:
        try:
            with anyio.fail_after(load.timeout):
                values[place] = await load.fetch()
        except TimeoutError as error:
            errors[place] = error if str(error) else TimeoutError(f"it took longer than {load.timeout:g} seconds")
        except Exception as error:
            errors[place] = error

    async with anyio.create_task_group() as group:
        for place, load in enumerate(loads):
            group.start_soon(fetch, place, load)
    for error in errors:
        if isinstance(error, BudgetExhausted | ContractError):
            raise error
    failures: Iterable[tuple[Section, Issue]] = (
        (load.section, Issue(stage_of(load.section), load.name, f"{type(error).__name__}: {error}"))
        for load, error in zip(loads, errors, strict=True)
        if error is not None
    )
    return Loaded(tuple(values), tuple(failures))


def stage_of(section: Section) -> Literal["memory", "skills", "tools", "prepare"]:
    """Return the stage of the issues of a section."""
    return "prepare" if section == "files" else section
