"""A server of answers for the benchmarks: says the same to everyone at once, or in pieces, one read each.

`python -m benchmarks.answers` prints its port and serves until its input ends.
"""

from __future__ import annotations

import asyncio  # noqa: TID251 - the least that can serve
import contextlib
import json
import sys

_PAUSE = 0.0005
"""Seconds between the pieces, so that each is read by itself, as when a model speaks."""
_TEXT = "An answer of some forty words. " * 8


def _body() -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": _TEXT}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 50, "completion_tokens": 60, "total_tokens": 110}
    return json.dumps(
        {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
    ).encode()


def _piece(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text} if text else {}, "logprobs": None, "finish_reason": finish}
    said = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return _chunk(b"data: " + json.dumps(said).encode() + b"\n\n")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


async def _stream(writer: asyncio.StreamWriter, count: int) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(count):
        writer.write(_piece("word "))
        await asyncio.sleep(_PAUSE)
    writer.write(_piece("", "stop") + _chunk(b"data: [DONE]\n\n") + _chunk(b""))


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    body = _body()
    whole = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(body),
        body,
    )
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            size = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            asked = json.loads(await reader.readexactly(size))
            if asked.get("stream"):
                await _stream(writer, asked["max_tokens"])
            else:
                writer.write(whole)
            await writer.drain()
    writer.close()


async def _main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_main())
