"""The output of an MCP tool: its texts for the model, its structured content for the program, its pictures."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import mcp_types as types

from ..errors import ToolError
from ..messages import Attachment
from ..models.secrets import Secrets
from ..tools import ToolOutput
from ..tools.result import result_text

__all__ = ["output_of"]

_LARGEST = 20_000_000
"""Bytes of pictures and files that one result may have."""


def output_of(result: types.CallToolResult, secrets: Secrets) -> ToolOutput:
    """Return what a tool answered. Raises `ToolError` with its words where it says that it failed."""
    texts: list[str] = []
    attachments: list[Attachment] = []
    left = _LARGEST
    for block in result.content:
        read = _read(block, left)
        if isinstance(read, Attachment):
            left -= len(read.data)
            attachments.append(read)
        else:
            texts.append(read)
    if not texts and result.structured_content is not None:
        texts = [result_text(result.structured_content)]
    text = secrets.scrub("\n".join(texts))
    if result.is_error:
        raise ToolError(text or "it does not say why")
    value = result.structured_content if result.structured_content is not None else text
    return ToolOutput(text, value, tuple(attachments))


def _read(block: types.ContentBlock, left: int) -> str | Attachment:
    if isinstance(block, types.TextContent):
        return block.text
    if isinstance(block, types.ImageContent | types.AudioContent):
        return _attachment(block.mime_type, block.data, left)
    if isinstance(block, types.ResourceLink):
        return f"{block.title or block.name}: {block.uri}"
    resource: Any = block.resource
    if isinstance(resource, types.TextResourceContents):
        return resource.text
    return _attachment(resource.mime_type or "application/octet-stream", resource.blob, left)


def _attachment(media_type: str, data: str, left: int) -> str | Attachment:
    if len(data) * 3 // 4 > left:
        return f"[{media_type} of {len(data) * 3 // 4:,} bytes was left out: it is too large]"
    try:
        return Attachment(media_type, base64.b64decode(data, validate=True))
    except binascii.Error:
        return f"[{media_type} was left out: its data is broken]"
