"""The stop: how work in a thread is told that nobody waits for it any more."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, Lock, Thread

__all__ = ["Stop"]


class Stop:
    """Is set once. Work looks at it, or says what else is to be done about it, which a thread of its own does."""

    def __init__(self) -> None:
        self._event = Event()
        self._lock = Lock()
        self._call: Callable[[], object] | None = None

    def is_set(self) -> bool:
        """Return whether the work is to stop."""
        return self._event.is_set()

    def set(self) -> None:
        """Tell the work to stop."""
        with self._lock:
            self._event.set()
            call = self._call
        if call is not None:
            Thread(target=call, name="flowcore stop", daemon=True).start()

    @contextmanager
    def doing(self, call: Callable[[], object] | None) -> Generator[None]:
        """Have something done if the work inside is told to stop."""
        with self._lock:
            self._call = call
        try:
            yield
        finally:
            with self._lock:
                self._call = None
