"""The feed: what viewers are told. A log that only grows: one writes, each viewer reads at its own pace."""

from __future__ import annotations

import anyio

__all__ = ["Feed"]

_PIECE = 256 * 1024
"""Bytes that a viewer is sent at once; of longer messages one."""


class Feed:
    """Messages in the form of an event stream, made once for all viewers; the n-th has the id n.

    A viewer is no more than the number of messages that it has had. So a slow one costs no memory, and one that
    was cut off goes on after the last id that it saw.
    """

    def __init__(self) -> None:
        self._messages: list[bytes] = []
        self._piece = (0, 0, b"")
        self._news: anyio.Event | None = None  # made in the event loop that serves
        self.is_over = False
        """Whether the last message is there."""
        self.is_closed = False
        """Whether viewers are to leave, whatever they have had."""

    def __len__(self) -> int:
        return len(self._messages)

    def add(self, event: str, data: str) -> None:
        """Add a message; `data` is one line."""
        self._messages.append(f"id: {len(self._messages) + 1}\nevent: {event}\ndata: {data}\n\n".encode())

    def tell(self) -> None:
        """Wake the viewers that wait."""
        if self._news is not None:
            self._news.set()
            self._news = None

    def end(self) -> None:
        """Say that no message follows."""
        self.is_over = True
        self.tell()

    def close(self) -> None:
        """Send the viewers away."""
        self.is_closed = True
        self.tell()

    def after(self, seen: int) -> tuple[int, bytes]:
        """Return what follows the first `seen` messages, or the beginning of it, and how many were seen then."""
        start, end, piece = self._piece
        if start != seen or end == seen:
            end, size = seen, 0
            while end < len(self._messages) and (end == seen or size + len(self._messages[end]) <= _PIECE):
                size += len(self._messages[end])
                end += 1
            piece = b"".join(self._messages[seen:end])
            self._piece = (seen, end, piece)  # viewers that keep up want the same one
        return end, piece

    async def wait(self) -> None:
        """Return when there is something new."""
        if self._news is None:
            self._news = anyio.Event()
        await self._news.wait()
