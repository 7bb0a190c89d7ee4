"""The record of a run as text: the same rows come back, and other texts are refused."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from flowcore import Complete, Continue, Flow, Step, node
from flowcore.errors import StoreError
from flowcore.store import MemoryRunStore, dump_record, load_record
from flowcore.testing import replay, stored_run
from flowcore.trigger import Trigger


@dataclass
class Note:
    text: str


@node
async def write(step: Step[Note]) -> Continue:
    step.state.text += " \u2028 \"quoted\" '''"
    return Continue()


@node
async def end(step: Step[Note]) -> Complete[str]:
    return Complete(step.state.text)


FLOW = Flow("notes", write.to(end), end)


async def record() -> str:
    store = MemoryRunStore()
    await FLOW.run(Note("ä"), store=store, run_id="r", title="a note", trigger=Trigger(user="ann"))
    text = dump_record(await store.load("r"))
    assert load_record(text) == await store.load("r")
    return text


async def test_a_record_comes_back_row_by_row_and_can_be_replayed() -> None:
    text = await record()
    run = stored_run(text, FLOW)
    assert run.path == "write > end"
    assert replay(run, FLOW).visits == 2


async def test_a_damaged_record_is_refused() -> None:
    store = MemoryRunStore()
    await FLOW.run(Note("a"), store=store, run_id="r")
    stored = await store.load("r")
    text = dump_record(stored).replace('"end": {', '"end": null, "was": {', 1)
    with pytest.raises(StoreError, match="the record of a run in this text is damaged"):
        load_record(text)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": "flowcore trace", "version": 1}', "null", "[" * 9999])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(StoreError, match="this text is no record of a run"):
        load_record(text)


async def test_a_later_version_is_refused() -> None:
    text = (await record()).replace('"version": 1', '"version": 2', 1)
    with pytest.raises(StoreError, match="that this flowcore reads: 'flowcore record' 2"):
        load_record(text)
