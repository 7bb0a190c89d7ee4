"""The wire: the shapes of OpenAI's chat completions and server-sent events, for a client and for a server.

Pure: bytes and data in, bytes and data out.
"""

from .fault import Fault, fault_of, read_fault, retry_after
from .reply import CallDelta, ChatReply, Choice, FunctionDelta, Said, TokenDetails, Usage, read_reply
from .request import (
    AudioPart,
    CallSaid,
    ChatRequest,
    FilePart,
    FunctionSpec,
    FunctionTool,
    ImagePart,
    MessageSaid,
    NamedSchema,
    Part,
    ResponseFormat,
    TextPart,
)
from .sse import EVENT_BYTES, ServerEvent, SseReader, write_comment, write_event

__all__ = [
    "EVENT_BYTES",
    "AudioPart",
    "CallDelta",
    "CallSaid",
    "ChatReply",
    "ChatRequest",
    "Choice",
    "Fault",
    "FilePart",
    "FunctionDelta",
    "FunctionSpec",
    "FunctionTool",
    "ImagePart",
    "MessageSaid",
    "NamedSchema",
    "Part",
    "ResponseFormat",
    "Said",
    "ServerEvent",
    "SseReader",
    "TextPart",
    "TokenDetails",
    "Usage",
    "fault_of",
    "read_fault",
    "read_reply",
    "retry_after",
    "write_comment",
    "write_event",
]
