"""Three things that are not one another: the state of a run, the node of a visit, the item of an answer."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from flowcore import Complete, Flow, FlowError, Node, Step, node


class Item(BaseModel):
    id: str


class Question(BaseModel):
    text: str
    items: list[Item] = []


@node
async def answer(step: Step[Question]) -> Complete[dict[str, str]]:
    return Complete({item.id: f"about {step.state.text}" for item in step.state.items})


@pytest.mark.behaviour("S2-05", "S2-11", "S2-12")
async def test_two_items_in_one_node_are_two_items_and_one_node() -> None:
    flow = Flow("f", answer)
    question = Question(text="what", items=[Item(id="one"), Item(id="two")])
    result = await flow.run(question, check=False)
    assert result.value == {"one": "about what", "two": "about what"}
    assert [visit.node for visit in result.trace] == ["answer"]
    assert set(flow.nodes).isdisjoint(result.value)


@pytest.mark.behaviour("S2-11")
def test_none_of_the_three_stands_in_for_another() -> None:
    assert isinstance(answer, Node)
    assert not isinstance(answer, Question | Item)
    stranger: Any = Item(id="answer")
    with pytest.raises(FlowError) as caught:
        Flow("f", answer, stranger)
    assert [problem.code for problem in caught.value.problems] == ["not_a_row"]
