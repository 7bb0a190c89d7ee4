"""The text of a run: one fact a line, whatever the values are."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel

from flowcore import Complete, Continue, Flow, FlowError, Step, node
from flowcore.trace_text import ValuePrinter

BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


class State(BaseModel):
    notes: list[Any] = []


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

    assert ValuePrinter().text([1, Shy()]) == "[1, <Shy>]"


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
