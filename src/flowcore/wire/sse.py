"""Server-sent events: a reader that takes bytes as they come, and a writer."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["EVENT_BYTES", "ServerEvent", "SseReader", "write_comment", "write_event"]

EVENT_BYTES = 16 * 2**20
"""How large one event may be."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event. `id` is the last one said, `retry` how many milliseconds to wait before asking again."""

    data: str
    event: str = "message"
    id: str = ""
    retry: int | None = None


class SseReader:
    """Turns bytes into events, wherever the bytes are split: in a line end, in a character.

    An event is given when the empty line after it is there. An event larger than `limit` bytes is a `ValueError`.
    """

    def __init__(self, limit: int = EVENT_BYTES) -> None:
        self._limit = limit
        self._line = bytearray()
        self._data: list[str] = []
        self._size = 0
        self._event = ""
        self._id = ""
        self._retry: int | None = None
        self._first = True
        self._after_return = False

    def feed(self, data: bytes) -> list[ServerEvent]:
        """Return the events that these bytes complete."""
        lines = self._lines(data)
        self._line += lines.pop()
        events: list[ServerEvent] = []
        for line in lines:
            if line:
                self._field(line)
            elif (event := self._end()) is not None:
                events.append(event)
        if self._size + len(self._line) > self._limit:
            raise self._too_large()
        return events

    def close(self) -> list[ServerEvent]:
        """Return the event whose empty line never came. A line that was cut is dropped."""
        event = self._end()
        return [] if event is None else [event]

    def _lines(self, data: bytes) -> list[bytes]:
        """Return the whole lines, and last what is left."""
        if self._after_return and data:
            self._after_return = False
            data = data.removeprefix(b"\n")
        if b"\r" in data:
            self._after_return = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = data.split(b"\n")
        if len(lines) > 1 and self._line:
            lines[0] = bytes(self._line) + lines[0]
            self._line.clear()
        return lines

    def _field(self, line: bytes) -> None:
        if self._first:
            self._first = False
            line = line.removeprefix(_MARK)
        if self._size + len(line) > self._limit:
            raise self._too_large()
        name, _, rest = line.partition(b":")
        if name == b"data":
            self._size += len(line)
            self._data.append(rest.removeprefix(b" ").decode(errors="replace"))
        elif name in (b"event", b"id", b"retry"):
            self._note(name, rest.removeprefix(b" ").decode(errors="replace"))

    def _note(self, name: bytes, value: str) -> None:
        if name == b"event":
            self._event = value
        elif name == b"id":
            self._id = self._id if "\0" in value else value
        elif value.isascii() and value.isdigit():
            self._retry = int(value[:18])

    def _end(self) -> ServerEvent | None:
        self._first = False
        event = None
        if self._data:
            event = ServerEvent("\n".join(self._data), self._event or "message", self._id, self._retry)
        self._data, self._size, self._event, self._retry = [], 0, "", None
        return event

    def _too_large(self) -> ValueError:
        return ValueError(f"an event of the stream is larger than {self._limit:,} bytes")


def write_event(data: str, *, event: str = "", id: str = "", retry: int | None = None) -> bytes:
    """Return the event as bytes. Line ends in `data` become newlines, since an event knows no others."""
    lines = [f"{name}: {_one_line(name, value)}" for name, value in (("event", event), ("id", id)) if value]
    if retry is not None:
        lines.append(f"retry: {retry}")
    lines += [f"data: {line}" for line in _LINE_END.split(data)]
    return ("\n".join(lines) + "\n\n").encode()


def write_comment(text: str = "") -> bytes:
    """Return a comment, which readers leave out: it keeps a silent connection alive."""
    return "".join(f": {line}\n" for line in _LINE_END.split(text)).encode() + b"\n"


def _one_line(name: str, value: str) -> str:
    if _LINE_END.search(value) or "\0" in value:
        raise ValueError(f"the {name} of an event is one line, without line ends and NUL: {value!r}")
    return value
