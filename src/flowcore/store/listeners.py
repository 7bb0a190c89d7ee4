"""The listeners: who is called when something comes in for a run through this process."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Listeners"]


class Listeners:
    """At most one call for each run. Used from any thread: each step is one operation of a dict."""

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: dict[str, Callable[[], None]] = {}

    def set(self, run_id: str, call: Callable[[], None] | None) -> None:
        """Call from now on when something comes in for a run, or no longer."""
        if call is None:
            self._calls.pop(run_id, None)
        else:
            self._calls[run_id] = call

    def call(self, *run_ids: str) -> None:
        """Tell those who listen for these runs."""
        for run_id in run_ids:
            call = self._calls.get(run_id)
            if call is not None:
                call()
