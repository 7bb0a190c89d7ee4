"""The app: what commands load to run a flow for a person."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from flowcore import App, Complete, Flow, Step, node


class Ask(BaseModel):
    text: str


@node
async def say(step: Step[Ask]) -> Complete[str]:
    return Complete(step.state.text)


one, other = Flow("one", say), Flow("other", say)


def make(text: str) -> Ask:
    return Ask(text=text)


def test_the_first_flow_is_the_one_that_runs() -> None:
    app = App(flows=[one, other], state=make)
    assert app.flow is one
    assert app.flow.run_sync(app.state("hello")) == "hello"


def test_an_app_is_a_value() -> None:
    app = App(flows=[one], state=make)
    with pytest.raises(FrozenInstanceError):
        app.state = make  # type: ignore[misc]


def test_an_app_without_flows_or_with_two_of_one_name_is_refused() -> None:
    with pytest.raises(ValueError, match="give at least one flow"):
        App(flows=[], state=make)
    with pytest.raises(ValueError, match="two flows are named 'one'"):
        App(flows=[one, Flow("one", say)], state=make)


@dataclass
class Point:
    x: int
    y: object


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n", "as it is\n"),
        (Ask(text="é"), '{\n  "text": "é"\n}'),
        (Point(1, [None, True]), '{\n  "x": 1,\n  "y": [\n    null,\n    true\n  ]\n}'),
        (7, "7"),
        (None, "null"),
    ],
)
def test_a_value_is_shown_as_it_is_or_as_json(value: Any, text: str) -> None:
    app: App[Ask, object, Any] = App(flows=[one], state=make)
    assert app.present(value) == text


def test_what_json_cannot_say_is_shown_by_its_repr() -> None:
    app: App[Ask, object, Any] = App(flows=[one], state=make)
    assert app.present({"flow": one}) == '{\n  "flow": "<flow one: 1 nodes>"\n}'
