"""The trace: a path to be read in one line, and a text that is equal for equal runs."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
import uuid
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from flowcore import Continue, Flow, Retry

from ..runs import Boom, chain, does, ends, raising
from ..states import Note


class Colour(Enum):
    RED = 1


class Inner(BaseModel):
    name: str = "x"
    size: float = 0.1 + 0.2


@dataclass
class Anything:
    value: Any = None
    other: Any = None


SAME = uuid.UUID(int=5)

PRINTED = [
    ("text", '"text"'),
    ('say "hi"\n\\', '"say \\"hi\\"\\n\\\\"'),
    (True, "True"),
    (0.1 + 0.2, "0.3"),
    (1234567.891, "1.23457e+06"),
    (Decimal("1.50"), "Decimal('1.50')"),
    (b"ab", "b'ab'"),
    (Colour.RED, "Colour.RED"),
    ({"b", "a", "c"}, '{"a", "b", "c"}'),
    (frozenset({2, 1}), "{1, 2}"),
    ({"b": 1, "a": [1, (2,)]}, '{"a": [1, (2,)], "b": 1}'),
    (datetime.datetime(2026, 1, 1), "<datetime>"),
    (datetime.timedelta(1), "<timedelta>"),
    ([SAME, uuid.UUID(int=6), SAME], "[<uuid 1>, <uuid 2>, <uuid 1>]"),
    (Inner(), 'Inner(name="x", size=0.3)'),
    ([Anything(1)], "[Anything(value=1, other=None)]"),
    (object(), "<object object>"),
    (Path.cwd() / "src" / "a.py", f'"{os.path.join("src", "a.py")}"'),
    (f"{Path.cwd()}{os.sep}a.py", '"a.py"'),
]


@pytest.mark.parametrize(("value", "printed"), PRINTED, ids=[printed[:20] for _, printed in PRINTED])
async def test_values_are_printed_the_same_way_in_every_run(value: Any, printed: str) -> None:
    flow = chain(Anything, lambda step: setattr(step.state, "value", value))
    text = (await flow.run(Anything(), check=False)).trace.to_text()
    assert f"  + value = {printed}\n" in text


async def test_a_long_text_is_cut_and_marked_with_its_length_and_a_hash() -> None:
    texts = []
    for tail in ("x", "y"):
        flow = chain(Anything, lambda step, tail=tail: setattr(step.state, "value", "a" * 300 + tail))
        texts.append((await flow.run(Anything(), check=False)).trace.to_text())
    line = next(line for line in texts[0].splitlines() if "+ value" in line)
    assert "(303 characters, " in line
    assert len(line) < 260
    assert texts[0] != texts[1]


async def test_the_text_of_a_run() -> None:
    def first(step: Any) -> Any:
        step.state.number += 1
        if step.attempt == 1:
            raise Boom("once")
        return Continue("go", why={"number": step.state.number})

    start = does(first, "start", Note, Continue[Literal["go"]], starts_round=False)
    bad = does(raising(error=KeyError("lost")), "bad", Note)
    end = ends(Note, lambda step: step.error.type if step.error else None)
    inner = Flow("inner", bad.to(end).on_error(end, KeyError), end).as_node("in")
    never = does(lambda step: None, "never", Note)
    flow = Flow(
        "story",
        start.to(go=inner).using(retry=Retry(attempts=2)),
        inner.to(never),
        never.to(end).using(max_visits=0).over_limit(end),
        end,
    )
    result = await flow.run(Note(), check=False)
    assert result.trace.path == "start > in(bad! > end) > never- > end"
    assert result.trace.to_text() == STORY


STORY = """\
flow story
result completed
value None

before round 1
  start  [2 attempts]
    retried after Boom: once
    + number = 1
    -> in  (go: number = 1)
  in
    round 1
      bad  [failed]
        error KeyError: 'lost'
        -> end  (error KeyError)
      end
        -> end
    -> never
  never
    -> end  (over limit)
  end
    -> end

used 1 round
"""


async def test_a_failed_run_says_what_failed_and_where() -> None:
    end = ends(Note)
    result = await Flow("f", does(raising(error=Boom("one\ntwo")), "bad", Note).to(end), end).run(
        Note(), check=False
    )
    lines = result.trace.to_text().splitlines()
    assert lines[:2] == ["flow f", "result failed"]
    assert "Boom: one two" in lines[2]
    assert "bad#1" in lines[2]
    assert result.trace.path == "bad!"


async def test_the_text_of_equal_runs_is_equal_whatever_their_ids_times_and_schedules() -> None:
    flow = chain(Anything, lambda step: setattr(step.state, "value", {uuid.uuid4(), datetime.datetime.now(), "a"}))
    texts = {
        (await flow.run(Anything(), run_id=run_id, check=False)).trace.to_text() for run_id in ("a", "b", "c")
    }
    assert len(texts) == 1


SCRIPT = """
import anyio
from dataclasses import dataclass, field
from flowcore import Complete, Continue, Flow, Step, node

@dataclass
class State:
    tags: set[str] = field(default_factory=set)
    table: dict[str, set[str]] = field(default_factory=dict)

@node
async def first(step: Step[State]) -> Continue:
    step.state.tags = {"pear", "apple", "fig", "plum", "kiwi"}
    step.state.table = {tag: {tag, "x", "y"} for tag in step.state.tags}
    return Continue(why={"tags": step.state.tags})

@node
async def last(step: Step[State]) -> Complete[set[str]]:
    return Complete(step.state.tags)

flow = Flow("f", first.to(last), last)
print(flow.signature)
print(anyio.run(lambda: flow.run(State(), check=False)).trace.to_text())
"""


def test_the_text_and_the_signature_are_equal_under_five_hash_seeds() -> None:
    texts = set()
    for seed in range(1, 6):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True, timeout=30
        )
        texts.add(done.stdout)
    assert len(texts) == 1
    assert '{"apple", "fig", "kiwi", "pear", "plum"}' in texts.pop()


async def test_a_visit_holds_what_happened_in_it() -> None:
    flow = chain(Note, lambda step: step.state.words.append("a"))
    result = await flow.run(Note(), check=False)
    first, last = result.trace
    assert (first.path, first.node, first.number, first.round, first.attempts) == ("n1#1", "n1", 1, 1, 1)
    assert (first.kind, first.target, dict(first.patch), first.failure) == ("next", "end", {"words": ["a"]}, None)
    assert 0 <= first.started <= first.ended <= last.started <= last.ended
    assert (last.kind, last.target, first.budget.rounds) == ("complete", "", 1)
    assert result.trace[:] == list(result.trace)
    assert result.trace[-1] == last


async def test_what_is_done_to_the_result_does_not_change_the_trace() -> None:
    flow = chain(Note, lambda step: step.state.words.append("a"))
    result = await flow.run(Note(), check=False)
    text = result.trace.to_text()
    result.state.words.append("mine")
    assert result.trace.to_text() == text


async def test_what_a_node_gave_as_its_reason_stays_as_it_was() -> None:
    reason: dict[str, Any] = {"seen": [1]}
    last = ends(Note)
    pick = does(lambda step: Continue("a", why=reason), "pick", Note, Continue[Literal["a"]])
    spoil = does(lambda step: reason["seen"].append(2), "spoil", Note)
    result = await Flow("f", pick.to(a=spoil), spoil.to(last), last).run(Note(), check=False)
    assert result.trace[0].why == {"seen": [1]}
