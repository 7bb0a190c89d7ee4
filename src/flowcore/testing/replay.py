"""Replay: today's flow walked with the outcomes of a recorded run, to see whether it goes the same way."""

from __future__ import annotations

from collections.abc import Coroutine
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from ..flow import Flow
from ..frame import Frame
from ..recording import Recording
from ..result import RunResult
from ..runtime import Place, WalkStopped
from ..scope import Budget, Scope
from ..state import shape_of
from ..trace import Trace
from ..types import as_class, is_a
from .replay_file import replay_routes
from .replay_host import Elsewhere, ReplayHost, ReplayWalk

__all__ = ["Replayed", "replay"]


@dataclass(frozen=True, slots=True)
class Replayed:
    """What was compared: how many visits, and whether today's flow was walked with the values of the run.

    `walked` is False for a run from a file: of its values only texts are left, so that its routes alone were
    compared.
    """

    visits: int
    walked: bool


def replay(record: RunResult[Any] | Trace | Recording, flow: Flow[Any, Any, Any], *, deps: Any = None) -> Replayed:
    """Walk today's flow with the outcomes of a recorded run, and hold each route that it takes against the record.

    No node function runs. Of a result or a trace, `enter`, `leave`, `over`, `collect`, `deps` and merge rules of
    today's flow run with the values of then. A recording has no values: each of its routes is looked for in
    today's declaration.

    Args:
        record: A result, a trace, or a recording (`flowcore.recording.read_runs` reads them from a file).
        flow: The flow as it is today.
        deps: What `deps=` of embedded flows are made from.

    Raises:
        AssertionError: Today's flow would go elsewhere; it names the visit, and both ways.
        TypeError: `record` is none of these.
    """
    if isinstance(record, Recording):
        return Replayed(replay_routes(record, flow), walked=False)
    trace = record.trace if isinstance(record, RunResult) else record
    if not is_a(trace, Trace):
        raise TypeError(f"replay: give a result, a trace or a recording, not a {type(record).__name__}")
    return Replayed(copy_context().run(_walk, trace, flow, deps), walked=True)


def _walk(trace: Trace, flow: Flow[Any, Any, Any], deps: Any) -> int:
    host = ReplayHost(trace, flow.name)
    start = dict(trace.root.start)
    if not start:
        return 0
    state = as_class(flow.plan.state)
    if state is None:
        raise AssertionError(f"flow {flow.name!r} has no state class to replay a run with")
    shape = shape_of(state)
    if gone := [name for name in start if name not in shape.names]:
        raise AssertionError(f"the state of flow {flow.name!r} has no field {gone[0]!r} today")
    entry, finish = flow.plan.entry, trace.root.finish
    began = next((record for record in trace.ordered() if record.frame is trace.root), None)
    at_once = began is not None and finish is not None and finish[:2] == (began.node, began.number)
    if began is not None and entry is not None and began.node != entry.id and not at_once:
        raise AssertionError(
            f"the run began with {began.node}, and flow {flow.name!r} begins with {entry.id} today"
        )
    scope = Scope(Budget(rounds=None), reserve=flow.plan.reserve)
    walk = ReplayWalk(flow.plan, Place(Frame(flow.name), shape, scope, deps), host)
    _to_the_end(walk.to_the_end(start))
    return host.visits


def _to_the_end(walk: Coroutine[Any, Any, Any]) -> None:
    """Drive a coroutine that waits for nothing."""
    try:
        walk.send(None)
    except (StopIteration, WalkStopped):
        return
    except Elsewhere as elsewhere:
        raise AssertionError(str(elsewhere)) from None
    walk.close()
    raise AssertionError("the walk waited for something that was not recorded")
