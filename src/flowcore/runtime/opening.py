"""Opening: the record of a new run, and what is known of a plan's values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache
from typing import Any

from ..frame import Frame
from ..graph import Plan, plan_data, signature_of_data
from ..scope import Budget
from ..state import Codec, Shape, Values
from ..store import RunRow, Write
from ..store.writing import frame_row
from ..trigger import Trigger
from .tenure import LEASE

__all__ = ["codec_of", "lenient_codec_of", "new_record"]


@lru_cache(maxsize=128)
def codec_of(plan: Plan) -> Codec:
    """Return the codec that knows the types of a flow: its states, results and forms, those of sub-flows too."""
    return Codec(*dict.fromkeys(_hints(plan)))


@lru_cache(maxsize=128)
def lenient_codec_of(plan: Plan) -> Codec:
    """Return a codec that reads what happened, even of classes that are gone: for looking at it."""
    return Codec(*dict.fromkeys(_hints(plan)), lenient=True)


def _hints(plan: Plan) -> Iterator[Any]:
    yield plan.state
    for _, item in plan.walk():
        yield item.signature.state
        yield from item.signature.results
        if item.inner is not None:
            yield item.inner.state


def new_record(
    plan: Plan,
    run_id: str,
    shape: Shape,
    values: Values,
    budget: Budget,
    trigger: Trigger,
    *,
    owner: str,
    began: datetime,
    deadline: datetime | None = None,
    title: str = "",
    forked: str = "",
) -> tuple[RunRow, Write]:
    """Return what is written of a run before it begins. Raises `NotSerialisable` for a state that cannot be."""
    codec, declared = codec_of(plan), plan_data(plan)
    root = Frame(plan.name)
    root.shape, root.start = shape, values
    now = began.timestamp()
    row = RunRow(
        run_id=run_id,
        flow=plan.name,
        signature=signature_of_data(declared),
        declared=json.dumps(declared, ensure_ascii=False),
        state_type=codec.name_of(shape.cls),
        trigger=trigger,
        budget=json.dumps(asdict(budget)),
        began=now,
        deadline=None if deadline is None else deadline.timestamp(),
        owner=owner,
        lease=now + LEASE,
        title=title,
        forked=forked,
    )
    return row, Write(run_id, owner, frames=(frame_row(codec, root, {root: 0}, 0.0),))
