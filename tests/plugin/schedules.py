"""A flow with everything that chance could get into, under shuffled schedules; a script that prints the texts."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable
from random import Random
from typing import Annotated, Any

from pydantic import BaseModel

from flowcore import Complete, Continue, Flow, Log, Merge, Node, Retry, Step, each, node, parallel
from flowcore.scope import current_scope
from flowcore.testing import FlowRunner

WORDS = ("pear", "apple", "fig", "plum", "kiwi", "lime")


class Page(BaseModel):
    tags: Annotated[set[str], Merge(lambda before, written: set[str]().union(*written))] = set()
    table: Annotated[
        dict[str, set[str]], Merge(lambda before, written: {k: v for w in written for k, v in w.items()})
    ] = {}
    told: Log[str] = Log()
    ids: Annotated[list[tuple[str, uuid.UUID]], Merge.append] = []
    found: list[str] = []


class Word(BaseModel):
    word: str
    id: uuid.UUID


Sleep = Callable[[], Any]
"""Sleeps for as long as chance wants."""


def branch(name: str, sleep: Sleep) -> Node[Page, object, None, Any]:
    async def work(step: Step[Page]) -> Continue:
        await sleep()
        if name == "b" and step.attempt == 1:
            raise OSError("once")
        async with current_scope().request(f"model-{name}") as request:
            await sleep()
            request.used(tokens=len(name))
        step.emit("found", dict.fromkeys(WORDS, name))
        step.state.tags |= {name, *WORDS}
        step.state.table[name] = {f"{name}{word}" for word in WORDS}
        step.state.told.append(name)
        step.state.ids = [*step.state.ids, (name, uuid.uuid4())]
        return Continue(why={"tags": set(WORDS)})

    made = node(id=name, starts_round=False)(work)
    return made.using(retry=Retry(attempts=2))


def make(sleep: Sleep) -> Flow[Page, object, set[str]]:
    @node(starts_round=False)
    async def read(step: Step[Word]) -> Continue:
        await sleep()
        return Continue(why={"id": step.state.id})

    @node
    async def give(step: Step[Word]) -> Complete[str]:
        await sleep()
        return Complete(step.state.word.upper())

    def over(page: Page) -> list[Word]:
        return [Word(word=word, id=page.ids[0][1]) for word in sorted(page.tags)]

    def collect(page: Page, results: list[str]) -> Continue:
        page.found = results
        return Continue()

    @node
    async def end(step: Step[Page]) -> Complete[set[str]]:
        return Complete(step.state.tags)

    words = each("words", over=over, do=Flow("word", read.to(give), give), collect=collect, limit=3)
    fan = parallel("fan", *(branch(name, sleep) for name in "abc"))
    race = parallel("race", branch("fast", no_sleep), branch("slow", sleep), join="any")
    return Flow("page", fan.to(race), race.to(words), words.to(end), end)


async def no_sleep() -> None: ...


def text_of(seed: int, backend: str) -> str:
    """Returns the text of a run in which everything takes as long as chance wants."""
    chance, runner = Random(seed), FlowRunner(backend=backend)
    flow = make(lambda: runner.clock.sleep(chance.choice([0.5, 1, 2, 3, 5, 8])))
    result = runner(flow, Page())
    assert result.status == "completed", result.failure
    return result.trace.to_text()


def main(count: int) -> None:
    for seed in range(count):
        sys.stdout.write(text_of(seed, "trio" if seed % 2 else "asyncio") + "\0")


if __name__ == "__main__":
    main(int(sys.argv[1]))
