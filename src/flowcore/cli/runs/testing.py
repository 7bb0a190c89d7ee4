"""`flowcore runs test`: a test made of a stored run, printed."""

from __future__ import annotations

import argparse
import re

from ...errors import TargetError
from ...render import shown
from ...store import RunRow, Stored, dump_record
from ..codes import OK
from ..files import write_out
from ..stored import load_run
from ..stores import need_store, with_store
from ..target import Target, load_target
from .options import add_own_store, add_run, add_target
from .resuming import flow_of

__all__ = ["add_arguments", "execute"]

_TEST = '''\
"""Run {run_id} of {flow_name}{title}: made by `flowcore runs test`.

Today's flow is walked with what its nodes did then, and must go the same way. No node runs.
"""

from {module} import {name}

from flowcore.testing import replay, stored_run

FLOW = {flow}
PATH = {path!r}
RECORD = r"""
{record}"""


def test_{test}() -> None:
    run = stored_run(RECORD, FLOW)
    assert run.path == PATH
    assert replay(run, FLOW).visits == {visits}
'''


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this action takes."""
    add_target(parser)
    add_own_store(parser)
    add_run(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the test. It passes today, or is not printed."""
    target = load_target(arguments.target)
    store = need_store(arguments.store, target.app)
    stored = with_store(store, lambda store: load_run(store, arguments.run))
    write_out(_test(target, stored))
    return OK


def _test(target: Target, stored: Stored) -> str:
    from ...testing import replay, stored_run  # noqa: PLC0415 - it loads models and tools, which take a while

    run, flow = stored.run, flow_of(target, stored.run)
    record = dump_record(stored)
    trace = stored_run(record, flow)
    try:
        visits = replay(trace, flow).visits
    except AssertionError as error:
        raise TargetError(f"run {run.run_id} went another way than {target.text} goes today: {error}") from error
    return _TEST.format(
        run_id=shown(run.run_id),
        flow_name=run.flow,
        title=f" ({_quiet(run)})" if run.title else "",
        module=target.module,
        name=target.name.partition(".")[0],
        flow=_flow_in_code(target, run),
        path=trace.path,
        record=record,
        test=re.sub(r"\W+", "_", f"{run.flow}_{run.run_id}", flags=re.ASCII).lower(),
        visits=visits,
    )


def _quiet(run: RunRow) -> str:
    """Return the title as it can stand in a docstring."""
    return shown(run.title).replace("\\", "/").replace('"', "'")


def _flow_in_code(target: Target, run: RunRow) -> str:
    if target.app is None:
        return target.name
    index = [flow.name for flow in target.flows].index(run.flow)
    return f"{target.name}.flow" if index == 0 else f"{target.name}.flows[{index}]"
