"""The app: what a command needs to run a flow for a person."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from .flow import Flow
from .scope import Budget
from .store import RunStore
from .types import DepsT, ResultT, StateT, adapter_of

__all__ = ["App", "StoreSource", "present_value"]

StoreSource = RunStore | str | os.PathLike[str] | Callable[[], RunStore | str | os.PathLike[str]]
"""A store, the path of its file, or a function that makes one of these."""


def present_value(value: object) -> str:
    """Return a value as text: a text as it stands, everything else as JSON, what JSON cannot say as `repr`."""
    if isinstance(value, str):
        return value
    return adapter_of(Any).dump_json(value, indent=2, fallback=repr).decode()


@dataclass(frozen=True, kw_only=True, eq=False)
class App(Generic[StateT, DepsT, ResultT]):
    """Flows, with what it takes to run them from a text and to show what came out.

    `flowcore run` and `flowcore check` load it by its place: `module:name`, or the `app.py` of a folder.

    Args:
        flows: The flows for one kind of state. The first one is the one that runs; all are checked.
        state: Makes the state of a run from what a person typed. It may raise: then nothing runs.
        deps: Makes what the nodes get as `step.deps`. Called once for each command that runs something, before
            its first run and outside of the event loop; not at all by commands that only look.
        budget: The limits of each run; by default 25 rounds and nothing else.
        present: Makes the text for a person from the value that a run completed with. By default a text stands
            as it is, and everything else as JSON; on a terminal control characters stand as escapes.
        line: Makes the line for programs from the id of a question and the value: data for JSON. It is called
            only where its line is written. By default
            `{"id": id, "answers": [{"text": ..., "citations": [], "status": "answered"}]}`.
        store: Where the runs are kept: a store, the path of a file for `SQLiteRunStore`, or a function that makes
            one of these, called once for each command. Without it `flowcore run` keeps nothing, unless it is given
            `--store FILE`.
        options: Makes another app of what a person may choose: a function of one dataclass or pydantic model. Its
            fields become options of `flowcore run` and `flowcore watch`. It is called where one of them is given;
            otherwise this app runs as it stands.

    Raises:
        ValueError: There is no flow, or two have the same name.
    """

    flows: Sequence[Flow[StateT, DepsT, ResultT]]
    state: Callable[[str], StateT]
    deps: Callable[[], DepsT] | None = None
    budget: Budget | None = None
    present: Callable[[ResultT], str] = present_value
    line: Callable[[str, ResultT], Mapping[str, Any]] | None = None
    store: StoreSource | None = None
    options: Callable[[Any], App[StateT, DepsT, ResultT]] | None = None

    def __post_init__(self) -> None:
        names = [flow.name for flow in self.flows]
        if not names:
            raise ValueError("App(flows=[]): give at least one flow; the first is the one that runs")
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"App(flows=...): two flows are named {twice[0]!r}; give each a name of its own")

    @property
    def flow(self) -> Flow[StateT, DepsT, ResultT]:
        """The flow that runs: the first one."""
        return self.flows[0]
