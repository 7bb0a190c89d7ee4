"""Keeping: the store that the runs of a command are written into, what they are called there, and how they end."""

from __future__ import annotations

import argparse
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import anyio

from ..app import App
from ..errors import RunNotFound, TargetError
from ..events import Event, RequestOpened, RunPaused
from ..render import shown
from ..result import RunResult
from ..run import Run
from ..runtime import Observer
from ..runtime.opening import codec_of
from ..state import Codec
from ..store import RunStore
from ..store.reading import read_trace
from ..trace import Trace
from .questions import Question
from .signals import say_at_the_end, was_interrupted
from .stores import add_store, open_store
from .words import complain

__all__ = ["Kept", "add_keeping", "kept_runs", "wait_for"]

T = TypeVar("T")
AnyApp = App[Any, Any, Any]
_LONGEST = 200
_LETTERS = 12


@dataclass(frozen=True, slots=True)
class Kept:
    """The store that runs are written into, and the id of the run of each question."""

    store: RunStore
    codec: Codec
    target: str
    ids: Mapping[str, str]

    def options(self, question: Question) -> dict[str, Any]:
        """Return what a run of this question is started with."""
        title = question.text.encode("utf-8", "backslashreplace").decode()
        return {"store": self.store, "run_id": self.ids[question.id], "title": title}

    async def check(self) -> None:
        """Raise `TargetError` with a line for each run that the store holds already."""
        faults: list[str] = []
        for run_id in self.ids.values():
            try:
                await self.store.run(run_id)
            except RunNotFound:
                continue
            faults.append(
                f"{self.store.name}: there is a run {shown(run_id)} already; go on with it by"
                f" `{self.resume(run_id)}`, or give another --run-id"
            )
        if faults:
            raise TargetError("\n".join(faults))

    def resume(self, run_id: str) -> str:
        """Return the command that goes on with a run."""
        return f"flowcore runs resume {self.target} {run_id} --store {self.store.name}"

    def who_waits(self, run_id: str) -> Observer:
        """Return an observer that says how a request is answered, and how a paused run goes on."""

        def say(event: Event) -> None:
            if isinstance(event, RequestOpened):
                left = (event.expires - event.at).total_seconds()
                complain(
                    f"{event.path}: {shown(event.question or event.tool)} waits for a person, {left:.0f} s:"
                    f" `flowcore runs answer {run_id} {event.request} VALUE --store {self.store.name}`"
                )
            elif isinstance(event, RunPaused):
                by = f" by {shown(event.by)}" if event.by else ""
                complain(f"run {run_id} is paused{by}; it goes on with `{self.resume(run_id)}`")

        return say

    async def close(self) -> None:
        """Close the store."""
        with anyio.CancelScope(shield=True):
            await self.store.aclose()

    async def wait_for(self, run: Run[T]) -> RunResult[T]:
        """Return the result of a run.

        Who interrupts ends it, as cancelled. Where the process is told to end, the run is left paused, and anybody
        may go on with it.
        """
        try:
            await run.wait()
        except BaseException:
            with anyio.CancelScope(shield=True):
                if was_interrupted():
                    await run.cancel("interrupt")
                else:
                    await _leave(run, self.store)
                say_at_the_end(await self._left(run.run_id))
            raise
        result = await run.for_caller()
        return replace(result, trace=await self._whole(run)) if result.trace.forgotten else result

    async def _whole(self, run: Run[Any]) -> Trace:
        """Return the trace of a run of which the memory keeps the last visits only."""
        return read_trace(await self.store.load(run.run_id), self.codec)

    async def _left(self, run_id: str) -> str:
        status = (await self.store.run(run_id)).status
        if status == "paused":
            return f"run {run_id} is paused; go on with `{self.resume(run_id)}`"
        where = f"--store {self.store.name}"
        return (
            f"run {run_id} has ended as {status}, and is kept: `flowcore runs show {run_id} {where}`; begin again"
            " from a place in it with `flowcore runs fork`; `flowcore runs pause` stops one for a while"
        )


async def wait_for(run: Run[T], kept: Kept | None) -> RunResult[T]:
    """Return the result of a run, which is kept or not."""
    return await (run.for_caller() if kept is None else kept.wait_for(run))


def add_keeping(parser: argparse.ArgumentParser) -> None:
    """Add what says where runs are kept."""
    add_store(
        parser,
        "keep the run in this file, made if it is not there: it can be looked at, answered and resumed with"
        " `flowcore runs`, whatever becomes of this process (default: store= of the app, if it has one)",
    )
    parser.add_argument(
        "--run-id",
        metavar="ID",
        type=_run_id,
        help="what the run is called in the store (default: a new name); of --questions each run is ID-question",
    )


def kept_runs(app: AnyApp, arguments: argparse.Namespace, asked: Sequence[Question], *, many: bool) -> Kept | None:
    """Return where the runs of a command are kept, and as what; None if they are not.

    Raises:
        TargetError: An id is none, or there is one and no store.
        StoreError: The store cannot be used.
    """
    given: str | None = arguments.run_id
    source = app.store if arguments.store is None else arguments.store
    if source is None:
        if given is not None:
            raise TargetError("--run-id names a run in a store; name its file too, with --store FILE")
        return None
    ids = {question.id: _id_of(question, given, many) for question in asked}
    if faults := [_fault(question, ids[question.id]) for question in asked if not _is_id(ids[question.id])]:
        raise TargetError("\n".join(faults))
    return Kept(open_store(source, makes=True), codec_of(app.flow.plan), arguments.target, ids)


def _id_of(question: Question, given: str | None, many: bool) -> str:
    if given is None:
        return uuid.uuid4().hex[:_LETTERS]
    return f"{given}-{question.id}" if many else given


def _fault(question: Question, run_id: str) -> str:
    return f"{question.place}: {shown(run_id)} can be no id of a run: give a shorter one, that can be printed"


async def _leave(run: Run[Any], store: RunStore) -> None:
    """Leave a run paused in its store, so that anybody may take it."""
    await run.pause()
    if run.is_paused:
        row = await store.run(run.run_id)
        await store.release(run.run_id, row.owner)
        await run.cancel("shutdown")  # in this process only: nothing is written by who has let go


def _run_id(text: str) -> str:
    if not _is_id(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no id: give a text that can be printed, of 1 to 200 characters"
        )
    return text


def _is_id(text: str) -> bool:
    return 0 < len(text) <= _LONGEST and text.isprintable() and bool(text.strip())
