"""Messages: plain data that can be written down and read again."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import TypeAdapter

from flowcore import Log
from flowcore.messages import Attachment, Message, ToolCall


@dataclass
class Chat:
    messages: Log[Message] = field(default_factory=Log)


def test_a_conversation_is_written_as_json_and_read_again_with_its_pictures() -> None:
    picture = Attachment("image/png", b"\x89PNG\xff\xfe\x00")
    said = [
        Message("user", "What is it?", attachments=(picture, Attachment("image/png", url="https://host/a.png"))),
        Message("assistant", "", (ToolCall("1", "look", '{"at": 1}'),)),
        Message("tool", "a lamp", tool_call_id="1"),
    ]
    chats = TypeAdapter(Chat)
    assert chats.validate_json(chats.dump_json(Chat(Log(said)))) == Chat(Log(said))
    assert b'"data":"iVBOR__-AA=="' in TypeAdapter(Attachment).dump_json(picture)
