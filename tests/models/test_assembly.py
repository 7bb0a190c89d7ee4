"""The assembly: pieces and whole answers say the same."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from flowcore.messages import Attachment, ModelReply, TokenUsage, ToolCall
from flowcore.models.assembly import Assembly, pieces_of

texts = st.text(max_size=9)
counts = st.integers(0, 9)
replies: st.SearchStrategy[ModelReply[Any]] = st.builds(
    ModelReply,
    texts,
    usage=st.builds(TokenUsage, counts, counts, counts, counts, st.booleans()).filter(lambda used: used.total > 0),
    cost=st.floats(0, 9),
    finish_reason=st.sampled_from(["stop", "length", "tool_calls"]),
    tool_calls=st.lists(st.builds(ToolCall, texts, texts, texts), max_size=3).map(tuple),
    attachments=st.lists(st.builds(Attachment, texts, st.binary(max_size=3)), max_size=2).map(tuple),
    reasoning=texts,
    warnings=st.lists(texts, max_size=2).map(tuple),
    model=texts,
    id=texts,
)


@given(replies)
def test_a_reply_taken_to_pieces_and_put_together_is_the_same(reply: ModelReply[Any]) -> None:
    assembly = Assembly()
    for piece in pieces_of(reply):
        assert not assembly.is_whole
        assembly.add(piece)
    assert assembly.is_whole
    assert assembly.reply() == reply
