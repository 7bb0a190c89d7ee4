"""The windows: a stream of text cut into pieces that overlap, so that no border hides what stands across it."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["Windows"]


class Windows:
    """Windows of `size` characters over a text that comes piece by piece. Each begins with the end of the last.

    Whoever draws a window from `full` or `rest` has looked at it when he draws the next. `passed` is how many
    characters may go on then: after a full window all but the overlap, since what begins there is seen whole in
    the next one. So of a phrase that is no longer than the overlap nothing goes on before it was seen whole.
    """

    def __init__(self, size: int, overlap: int) -> None:
        self.passed = 0
        self.length = 0
        self._size = size
        self._overlap = overlap
        self._buffer = ""
        self._seen = 0

    @property
    def has_rest(self) -> bool:
        """Whether there is text that no window has shown."""
        return self.length > self._seen

    def add(self, text: str) -> None:
        """Take the next piece."""
        self._buffer += text
        self.length += len(text)

    def full(self) -> Iterator[str]:
        """Yield the windows that are full."""
        while len(self._buffer) >= self._size:
            yield self._buffer[: self._size]
            start = self.length - len(self._buffer)
            self._buffer = self._buffer[self._size - self._overlap :]
            self._seen = start + self._size
            self.passed = self._seen - self._overlap

    def rest(self) -> Iterator[str]:
        """Yield what no window has shown, with the overlap before it, if there is any; then all may go on."""
        if self.has_rest:
            yield self._buffer
        self._seen = self.passed = self.length
        self._buffer = self._buffer[max(0, len(self._buffer) - self._overlap) :]
