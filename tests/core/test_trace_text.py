"""The text of a run: one fact a line, whatever the values are."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from pydantic import BaseModel

from flowcore import Complete, Continue, Flow, FlowError, Retry, RunResult, Step, current_scope, node
from flowcore.events import Event, ModelFinished, ModelRequested, ToolFinished, ToolProposed, ToolStarted
from flowcore.messages import Message, ModelReply, TokenUsage, ToolCall
from flowcore.models import ModelRunner
from flowcore.testing import FakeClock, FlowRunner, ScriptedModel
from flowcore.trace_notes import note_lines
from flowcore.trace_text import Detail
from flowcore.value_text import ValuePrinter
from flowcore.visit import Note

BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


class State(BaseModel):
    notes: list[Any] = []


class Needed(BaseModel):
    there: int
    missing: int


def test_a_value_that_holds_itself_is_printed_to_where_it_begins_again() -> None:
    ring: list[Any] = [1]
    ring.append(ring)
    table: dict[str, Any] = {"ring": ring}
    table["self"] = table
    assert ValuePrinter().text(table) == '{"ring": [1, <...>], "self": <...>}'
    twice = [2]
    assert ValuePrinter().text([twice, twice]) == "[[2], [2]]"


def test_a_value_that_cannot_be_shown_hides_nothing_else() -> None:
    class Shy:
        def __repr__(self) -> str:
            raise ValueError("no")

    class Odd(float):
        def __format__(self, spec: str) -> str:
            raise ValueError("no")

    class Torn(Mapping[str, int]):
        def __iter__(self) -> Iterator[str]:
            return iter(("a",))

        def __len__(self) -> int:
            return 1

        def __getitem__(self, key: str) -> int:
            raise RuntimeError("no")

    assert ValuePrinter().text([1, Shy(), Odd(1), Torn(), 10**5000]) == "[1, <Shy>, <Odd>, <Torn>, <int>]"


def test_where_the_current_folder_is_gone_values_are_told_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ValuePrinter().text([f"in {tmp_path}/a", 1]) == '["in a", 1]'
    tmp_path.rmdir()
    assert ValuePrinter().text(["https://a.b/c", 1]) == '["https://a.b/c", 1]'


def test_of_an_object_the_fields_are_told_that_it_has() -> None:
    @dataclass
    class Later:
        first: int
        second: int = field(init=False)

    assert ValuePrinter().text(Later(1)).endswith("Later(first=1)")
    assert ValuePrinter().text(State.model_construct()) == "State(notes=[])"
    assert ValuePrinter().text(Needed.model_construct(there=1)) == "Needed(there=1)"


def test_of_a_message_is_told_what_it_has() -> None:
    calls = (ToolCall("1", "clock", "{}"),)
    said = [Message("user", ""), Message("assistant", "", calls), Message("tool", "noon", (), "1")]
    assert [ValuePrinter().text(message) for message in said] == [
        'Message(role="user", content="")',
        'Message(role="assistant", content="", tool_calls=(ToolCall(id="1", name="clock", arguments="{}"),))',
        'Message(role="tool", content="noon", tool_call_id="1")',
    ]


def test_a_value_is_told_to_a_depth_that_python_can_bear() -> None:
    deep: Any = []
    for _ in range(50_000):
        deep = [deep]
    assert ValuePrinter().text(deep) == "[" * 100 + "<list>" + "]" * 100
    while deep:  # else Python takes it apart by recursion
        deep = deep[0]


def test_sets_in_sets_take_no_longer_than_they_are_large() -> None:
    nested: frozenset[Any] = frozenset()
    for number in range(40):
        nested = frozenset({nested, number})
    assert ValuePrinter().text(nested).startswith("{39, {38, {37, ")


async def test_nothing_that_a_node_says_begins_a_line_of_its_own() -> None:
    @node
    async def ask(step: Step[State]) -> Continue[Literal["a\nresult forged"]]:
        step.state.notes.append(f"x{BREAKS}y")
        return Continue("a\nresult forged", why={f"key{BREAKS}": f"value{BREAKS}"})

    @node
    async def fail(step: Step[State]) -> Complete[int]:
        raise ValueError(f"wrong{BREAKS}result forged")

    flow = Flow("lines", ask.to({"a\nresult forged": fail}), fail)
    text = (await flow.run(State(), check=False)).trace.to_text()
    assert text.splitlines() == text.removesuffix("\n").split("\n")
    assert [line for line in text.splitlines() if line.startswith("result")] == ["result failed"]


@pytest.mark.parametrize("sign", BREAKS)
def test_nothing_that_ends_a_line_stands_in_an_id(sign: str) -> None:
    @node(id=f"a{sign}b")
    async def end(step: Step[State]) -> Complete[int]: ...

    with pytest.raises(FlowError, match="bad_id"):
        Flow("lines", end)


class Loud:
    def __repr__(self) -> str:
        return "<\x1b[2J>"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("\x1b[31mred\t\x00\x7f\x9b", '"\\x1b[31mred\\t\\x00\\x7f\\x9b"'),
        ({"\x07": 1}, '{"\\x07": 1}'),
        (Loud(), "<\\x1b[2J>"),
        ("caf\u00e9 \\x1b", '"caf\u00e9 \\\\x1b"'),
    ],
)
def test_a_terminal_obeys_nothing_that_stands_in_a_value(value: Any, text: str) -> None:
    assert ValuePrinter().text(value) == text


async def test_a_terminal_obeys_nothing_that_stands_in_a_failure() -> None:
    @node
    async def fail(step: Step[State]) -> Complete[int]:
        raise ValueError("\x1b[31mred")

    text = (await Flow("loud", fail).run(State(), check=False)).trace.to_text()
    assert "failure fail#1: ValueError: \\x1b[31mred\n" in text
    assert "\x1b" not in text


@dataclass
class Secret:
    token: str = ""
    keys: list[dict[str, str]] = field(default_factory=list)


async def tell_all() -> RunResult[Any]:
    """Runs a flow that does whatever a text can tell."""

    @node(starts_round=False)
    async def ask(step: Step[Secret]) -> Continue[Literal["go"]]:
        model = ScriptedModel([ModelReply("a", usage=TokenUsage(2, 3), cost=0.5), RuntimeError("down")])
        runner = ModelRunner(model)
        step.emit("begun", {"token": "t1"})
        await runner.invoke("one")
        if step.attempt == 1:
            raise ValueError("again")
        step.state.token = "t2"
        step.state.keys = [{"id": "k1", "name": "n1"}]
        step.artifact("key", {"id": "k1"}, "application/json")
        with contextlib.suppress(RuntimeError):
            await runner.invoke("two")
        return Continue("go", why={"token": "t2"})

    @node
    async def fail(step: Step[Secret]) -> Complete[int]:
        raise KeyError("lost")

    @node
    async def end(step: Step[Secret]) -> Complete[Secret]:
        return Complete(step.state)

    flow = Flow("all", ask.to(go=fail).using(retry=Retry(attempts=2)), fail.on_error(end), end)
    return await flow.run(Secret(), check=False)


PATH = """\
flow all
result completed

before round 1
  ask  [2 attempts]
  fail  [failed]
  end
"""
ROUTES = """\
flow all
result completed

before round 1
  ask  [2 attempts]
    -> fail  (go: token = "t2")
  fail  [failed]
    -> end  (error KeyError)
  end
    -> end
"""
STATE = """\
flow all
result completed
value Secret(token="t2", keys=[{"id": "k1", "name": "n1"}])

before round 1
  ask  [2 attempts]
    + keys = [{"id": "k1", "name": "n1"}]
    + token = "t2"
    -> fail  (go: token = "t2")
  fail  [failed]
    -> end  (error KeyError)
  end
    -> end
"""
FULL = """\
flow all
result completed
value Secret(token="t2", keys=[{"id": "k1", "name": "n1"}])

before round 1
  ask  [2 attempts]
    emit begun = {"token": "t1"}
    call model ScriptedModel  5 tokens, cost 0.5
    retried after ValueError: again
    emit begun = {"token": "t1"}
    call model ScriptedModel  5 tokens, cost 0.5
    artifact key = {"id": "k1"}  (application/json)
    call model ScriptedModel  [failed] RuntimeError: down
    + keys = [{"id": "k1", "name": "n1"}]
    + token = "t2"
    -> fail  (go: token = "t2")
  fail  [failed]
    error KeyError: 'lost'
    -> end  (error KeyError)
  end
    -> end

used 0 rounds, 3 requests, 10 tokens
"""


@pytest.mark.behaviour("TEST-4")
@pytest.mark.parametrize(
    ("detail", "text"), [("path", PATH), ("routes", ROUTES), ("state", STATE), ("full", FULL)]
)
async def test_each_detail_tells_more_than_the_one_before(detail: Detail, text: str) -> None:
    result = await tell_all()
    assert result.trace.to_text(detail=detail) == text
    assert FULL == result.trace.to_text()


@pytest.mark.behaviour("TEST-4")
async def test_a_masked_place_is_told_by_its_word_wherever_it_is_printed() -> None:
    mask = {"state.token": "token", "state.keys.id": "key", "value.token": "token", "why.token": "token"}
    mask |= {"value.keys": "keys", "emit.begun.token": "token", "artifact.key": "key"}
    text = (await tell_all()).trace.to_text(mask=mask)
    told = FULL.replace('keys=[{"id": "k1", "name": "n1"}])', "keys=<keys>)").replace('{"id": "k1"}', "<key>")
    assert text == told.replace('"k1"', "<key>").replace('"t2"', "<token>").replace('"t1"', "<token>")


async def test_a_detail_or_a_mask_that_is_not_there_is_one_clear_error() -> None:
    trace = (await tell_all()).trace
    with pytest.raises(ValueError, match="detail='most': give one of path, routes, state, full"):
        trace.to_text(detail="most")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="mask='token': a place begins with artifact, emit, state, value, why"):
        trace.to_text(mask={"token": "secret"})


@pytest.mark.behaviour("A73")
async def test_requests_that_a_node_makes_at_once_are_told_in_one_order() -> None:
    async def ask(clock: FakeClock, model: str, seconds: float) -> None:
        async with current_scope().request(model) as request:
            await clock.sleep(seconds)
            request.used(tokens=len(model))

    def flow(clock: FakeClock, waits: Sequence[float], order: Sequence[int]) -> Flow[Secret, object, str]:
        @node(starts_round=False)
        async def only(step: Step[Secret]) -> Complete[str]:
            async with anyio.create_task_group() as group:
                for index in order:
                    group.start_soon(ask, clock, "abc"[: index + 1], waits[index])
            return Complete("done")

        return Flow("asks", only)

    texts = set()
    for waits in permutations([1.0, 2.0, 3.0]):
        for order in permutations(range(3)):
            runner = FlowRunner()
            result = await runner.run(flow(runner.clock, waits, order), Secret())
            texts.add(result.trace.to_text())
    assert len(texts) == 1
    calls = [line.strip() for line in texts.pop().splitlines() if "call" in line]
    assert calls == ["call model a  1 token", "call model ab  2 tokens", "call model abc  3 tokens"]


def told(event: type[Event], **values: Any) -> Note:
    return Note(event, 1, "work#1", 0.0, values)


def test_calls_of_tools_are_told_with_their_arguments_and_what_came_of_them() -> None:
    search = {"call": "c1", "tool": "search"}
    notes = [
        told(ModelRequested, request=1, model="small", why="retry"),
        told(ModelFinished, request=1, tokens=7, cost=0.0, estimated=True, failure=None),
        told(ToolProposed, **search, arguments='{"q": 1'),
        told(ToolStarted, **search, arguments='{"q": 1}'),
        told(ToolFinished, **search, status="ok", text="found"),
        told(ToolFinished, call="c2", tool="erase", status="denied", text="not allowed"),
        told(ToolStarted, **search, arguments='{"q": 2}'),
        told(ToolFinished, **search, status="timeout", text="too slow"),
        told(ToolStarted, **search, arguments='{"q": 3}'),
    ]
    assert list(note_lines(notes, (), ValuePrinter())) == [
        "call model small (retry)  about 7 tokens",
        'call tool search "{\\"q\\": 1}"  "found"',
        'call tool erase  [denied]  "not allowed"',
        'call tool search "{\\"q\\": 2}"  [timeout]  "too slow"',
        'call tool search "{\\"q\\": 3}"  [unfinished]',
    ]


def test_ids_in_a_set_are_numbered_in_one_order() -> None:
    ids = [uuid.UUID(int=number) for number in range(20)]
    texts = set()
    for names in (list("abcdefgh"), list("hgfedcba")):
        pairs = {(name, ids[ord(name) - 97]) for name in names}
        texts.add(ValuePrinter().text([pairs, dict(sorted(pairs))]))
    assert len(texts) == 1
    assert texts.pop().startswith('[{("a", <uuid 1>), ("b", <uuid 2>)')


def test_marks_that_turn_the_line_around_are_seen() -> None:
    assert ValuePrinter().text("a\u202eb\u2066c\u200fd") == '"a\\u202eb\\u2066c\\u200fd"'
