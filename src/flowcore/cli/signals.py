"""Signals: whatever asks the command to end becomes the one interrupt that all code knows how to unwind from."""

from __future__ import annotations

import signal
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

import anyio

from ..runtime import current_loop

__all__ = ["Ending", "reachable", "say_at_the_end", "too_late_to_end", "was_interrupted"]

T = TypeVar("T")
_WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}


class Ending:
    """While it is entered, SIGTERM and SIGHUP end the command as Ctrl-C does. It knows which of them came.

    One that was ignored when the command began (`nohup`) stays ignored.
    """

    def __init__(self) -> None:
        self._came = signal.SIGINT
        self._before: dict[signal.Signals, Any] = {}
        self.left = "nothing was written"
        """What became of the work, for people."""

    def __enter__(self) -> Ending:
        _entered.append(self)
        if threading.current_thread() is threading.main_thread():
            for asked in _known("SIGTERM", "SIGHUP"):
                if signal.getsignal(asked) is not signal.SIG_IGN:
                    self._before[asked] = signal.signal(asked, self._interrupt)
        return self

    def __exit__(self, *exception: object) -> None:
        _entered.remove(self)
        for asked, handler in self._before.items():
            signal.signal(asked, handler)

    @property
    def words(self) -> str:
        """What happened, in a word or two."""
        return _WORDS[self._came.name]

    @property
    def was_interrupted(self) -> bool:
        """Whether it was a person who asked, by Ctrl-C, and not the system."""
        return self._came is signal.SIGINT

    @property
    def code(self) -> int:
        """The exit code that tells of it."""
        return 128 + self._came

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._came = signal.Signals(number)
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            handler(signal.SIGINT, frame)
        elif _reached:  # ignored, as in the background of a script
            _reached[-1]()
        else:
            raise KeyboardInterrupt


_entered: list[Ending] = []
_reached: list[Callable[[], None]] = []


async def reachable(work: Callable[[], Awaitable[T]]) -> T:
    """Do asynchronous work that a signal ends by a cancellation where Ctrl-C is ignored and event loops hear none.

    Raises `KeyboardInterrupt` then, as an event loop does.
    """
    loop = current_loop()
    with anyio.CancelScope() as scope:
        _reached.append(lambda: loop.soon(scope.cancel))
        try:
            return await work()
        finally:
            _reached.pop()
    raise KeyboardInterrupt


def was_interrupted() -> bool:
    """Return whether a person asked the command to end, by Ctrl-C, and not the system."""
    return all(ending.was_interrupted for ending in _entered)


def say_at_the_end(words: str) -> None:
    """Say what became of the work, if the command ends because it was asked to."""
    for ending in _entered:
        ending.left = words


@contextmanager
def too_late_to_end() -> Generator[None]:
    """Let nothing end the command inside: it is at its last step, which is done whole or not at all."""
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {asked: signal.signal(asked, signal.SIG_IGN) for asked in _known(*_WORDS)}
    try:
        yield
    finally:
        for asked, handler in before.items():
            signal.signal(asked, handler)


def _known(*names: str) -> list[signal.Signals]:
    return [asked for asked in signal.Signals if asked.name in names]  # some systems have no SIGHUP
