"""The scripts: conversations that every loop is put through, each with what its model says and its tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.agents.reasons import REASONS

from flowcore.errors import ModelRequestError
from flowcore.messages import Message, ModelReply, ToolCall

__all__ = ["SCRIPTS", "Script"]


@dataclass(frozen=True)
class Script:
    """A conversation: what the model says to one request after the other, and what is asked of the loop.

    `turns` is the limit of the loop.
    """

    name: str
    lines: Sequence[ModelReply | Exception]
    tools: Sequence[str] = ("add", "look")
    before: Sequence[Message] = ()
    turns: int = 6

    @property
    def why(self) -> str:
        """What the loops do differently, explained; empty where they do not."""
        return REASONS.get(self.name, "")


def said(text: str = "", *calls: tuple[str, str] | tuple[str, str, str]) -> ModelReply:
    """Return a reply; of a call the name, its arguments, and an id, which is a number if none is given."""
    made = (ToolCall(each[2] if len(each) > 2 else f"c{at}", each[0], each[1]) for at, each in enumerate(calls))
    return ModelReply(text, tool_calls=tuple(made))


def asked(arguments: str, tool: str = "add") -> tuple[ModelReply, ModelReply]:
    """Return a reply with one call, and the answer."""
    return said("", (tool, arguments)), said("Done.")


ONE_TWO = '{"a": 1, "b": 2}'
SCRIPTS: tuple[Script, ...] = (
    Script("an answer", [said("Four.")]),
    Script("a call, then an answer", asked(ONE_TWO)),
    Script("words beside a call", [said("I add.", ("add", ONE_TWO)), said("Three.")]),
    Script(
        "two calls, the second is done first",
        [said("", ("first", "{}"), ("second", "{}")), said("Done.")],
        ["first", "second"],
    ),
    Script(
        "twelve calls in one reply",
        [said("", *(("add", f'{{"a": {n}, "b": 0}}') for n in range(12))), said("Done.")],
    ),
    Script(
        "three turns of calls",
        [*(said("", ("add", f'{{"a": {n}, "b": 0}}', f"t{n}")) for n in range(3)), said("Done.")],
    ),
    Script(
        "one id twice in a reply",
        [said("", ("add", ONE_TWO, "x"), ("look", "{}", "x")), said("Done.")],
    ),
    Script(
        "one id in two turns",
        [said("", ("add", ONE_TWO, "x")), said("", ("look", "{}", "x")), said("Done.")],
    ),
    Script(
        "a call without an id",
        [said("", ("look", "{}", "")), said("Done.")],
    ),
    Script(
        "a tool that is not there",
        [said("", ("vanish", "{}")), said("Sorry.")],
    ),
    Script(
        "one that is not there beside one that is",
        [said("", ("vanish", "{}"), ("look", "{}")), said("Done.")],
    ),
    Script(
        "only ever tools that are not there",
        [said("", ("vanish", f'{{"n": {n}}}', f"t{n}")) for n in range(3)] + [said("I give up.")],
        turns=3,
    ),
    Script(
        "no arguments at all",
        asked("", "look"),
    ),
    Script(
        "a comma too many",
        asked('{"a": 1, "b": 2,}'),
    ),
    Script("single quotes", asked("{'a': 1, 'b': 2}")),
    Script(
        "arguments that are cut off",
        asked('{"a": 1, "b"'),
    ),
    Script("arguments that are a list", asked("[1, 2]")),
    Script(
        "an argument is missing",
        asked('{"a": 1}'),
    ),
    Script("an argument of another type", asked('{"a": "one", "b": 2}')),
    Script("a number as a text", asked('{"a": "1", "b": 2}')),
    Script(
        "an argument that nobody wants",
        asked('{"a": 1, "b": 2, "c": 3}'),
    ),
    Script(
        "an empty answer",
        [said(""), said("Four."), said("Four.")],
    ),
    Script("an empty answer after a call", [said("", ("look", "{}")), said(""), said("Seen.")]),
    Script(
        "a tool that raises",
        asked("{}", "broken"),
        ["broken"],
    ),
    Script(
        "one that raises beside one that does not",
        [said("", ("broken", "{}"), ("look", "{}")), said("Done.")],
        ["broken", "look"],
    ),
    Script(
        "a tool that is late",
        asked("{}", "late"),
        ["late"],
    ),
    Script(
        "a result of 100,000 characters",
        asked("{}", "long"),
        ["long"],
    ),
    Script(
        "a tool that returns nothing",
        asked("{}", "nothing"),
        ["nothing"],
    ),
    Script("an empty text as a result", asked("{}", "blank"), ["blank"]),
    Script(
        "rows as a result",
        asked("{}", "rows"),
        ["rows"],
    ),
    Script(
        "letters of all kinds",
        [said("日本 👩‍👩‍👧", ("blue", "{}")), said("青い \u200b")],
        ["blue"],
    ),
    Script(
        "the turns are used up",
        [*(said("I add.", ("add", f'{{"a": {n}, "b": 0}}', f"t{n}")) for n in range(2)), said("Two of three.")],
        turns=2,
    ),
    Script(
        "the same call for ever",
        [said("", ("look", "{}", f"t{n}")) for n in range(4)] + [said("Seen.")],
    ),
    Script("the model fails at once", [ModelRequestError("the model refused it", status=400)]),
    Script(
        "the model fails after words and a call",
        [said("I look.", ("look", "{}")), ModelRequestError("the model refused it", status=400)],
    ),
    Script(
        "an earlier turn with calls",
        [said("Three, as before.")],
        before=(
            Message("user", "1 + 2?"),
            Message("assistant", "", (ToolCall("old", "add", ONE_TWO),)),
            Message("tool", "3", tool_call_id="old"),
            Message("assistant", "Three."),
        ),
    ),
)
