"""The source of a page: a run under way, looked at from outside, or a recording."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from ..recording import Recorded, Recording, VisitData
from ..render.page import head_json, run_page, visit_json
from ..run import Run
from .feed import Feed

__all__ = ["EVENTS", "LiveSource", "RecordedSource", "Source"]

EVENTS = "events"
"""Where a live page finds its stream, seen from the page."""
_AT_ONCE = 100
_HEADS_EVERY = 1.0
_log = logging.getLogger("flowcore.live")


class Source(Protocol):
    """What a page server shows: a page, and a feed of what is new."""

    @property
    def feed(self) -> Feed:
        """What viewers are told."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether nothing new comes up."""
        ...

    def page(self) -> str:
        """Return the page. May take its time."""
        ...

    def look(self, seconds: float) -> bool:
        """Put what is new into the feed, for about so long. Return whether there is more."""
        ...

    def finish(self, give_up: Callable[[], bool]) -> None:
        """Put the end into the feed, after `look` has found everything of what is over. May take its time."""
        ...


class RecordedSource:
    """A run that is over and done with: one page, and no news."""

    is_over = True

    def __init__(self, recording: Recording) -> None:
        self.feed = Feed()
        self.feed.end()
        self._page = run_page(recording)

    def page(self) -> str:
        """Return the page."""
        return self._page

    def look(self, seconds: float) -> bool:
        """Find nothing new."""
        return False

    def finish(self, give_up: Callable[[], bool]) -> None:
        """Do nothing: the feed is over."""


class LiveSource:
    """A run under way. It is looked at from outside, and does nothing more than one that nobody watches.

    Looking reads the trace, which only grows, and what is kept in it is never changed. So it may be done from
    another thread.
    """

    def __init__(self, run: Run[Any], name: str, title: str) -> None:
        self.feed = Feed()
        self._run = run
        self._trace = run.trace
        self._recorded = Recorded(run.trace)
        self._known = (name, title)
        self._start = self._recorded.whole(name, title, ())
        self._final: Recording | None = None
        self._live_page = ""
        self._final_page = ""
        self._one_at_a_time = threading.RLock()
        self._running: dict[str, str] = {}
        self._dropped: set[str] = set()
        self._last: VisitData | None = None
        self._head_at = 0.0

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self._trace.ending is not None

    def page(self) -> str:
        """Return the page: while the run goes on one that is filled by the feed, then the whole."""
        with self._one_at_a_time:
            if self.is_over and (final := self._whole(lambda: False)) is not None:
                self._final_page = self._final_page or run_page(final)
                return self._final_page
            self._live_page = self._live_page or run_page(self._start, live=EVENTS)
            return self._live_page

    def look(self, seconds: float) -> bool:
        """Put what is new into the feed, for about so long. Return whether there is more."""
        over, until = self.is_over, time.monotonic() + seconds
        while fresh := self._ended():
            for visit in fresh:
                self._running.pop(visit.path, None)
                self._dropped.update((visit.path,) if visit.dropped else ())
                self.feed.add("visit", visit_json(visit))
            self._last = fresh[-1]
            if time.monotonic() >= until:
                self._tell_head()
                return True
        if not over:
            self._tell_running()
            self._tell_head()
        return False

    def finish(self, give_up: Callable[[], bool]) -> None:
        """Tell how the run ended, and of what was told before whatever turned out otherwise."""
        final = self._whole(give_up)
        if final is None:
            final = self._recorded.whole(*self._known, ())
        for visit in final.visits:
            if visit.dropped and visit.path not in self._dropped:
                self.feed.add("visit", visit_json(visit))
        self.feed.add("end", head_json(final))

    def _whole(self, give_up: Callable[[], bool]) -> Recording | None:
        """Return the recording of the run that is over; None if it cannot be shown, or is not wanted any more."""
        with self._one_at_a_time:
            recorded, visits = Recorded(self._trace), list[VisitData]()
            try:
                while self._final is None and (fresh := recorded.ended(_AT_ONCE)):
                    visits += fresh
                    if give_up():
                        return None
                if self._final is None:
                    visits.sort(key=lambda visit: visit.seq)
                    self._final = recorded.whole(*self._known, visits)
            except Exception:
                _log.exception("%s cannot be shown whole; the run is not affected", self._trace.flow)
            return self._final

    def _ended(self) -> list[VisitData]:
        """Return the next visit that has ended, if there is one; one whose values cannot be shown is left out."""
        while True:
            try:
                return self._recorded.ended(1)
            except Exception:  # a user's object that another thread changes while it is read
                _log.exception("a visit of %s cannot be shown; the run is not affected", self._trace.flow)

    def _tell_running(self) -> None:
        for visit in self._recorded.running(self._run.under_way):
            told = visit_json(visit)
            if self._running.get(visit.path) != told:
                self._running[visit.path] = told
                self.feed.add("visit", told)

    def _tell_head(self) -> None:
        if self._last is not None and time.monotonic() >= self._head_at:
            self.feed.add("head", head_json(self._start.model_copy(update={"visits": (self._last,)})))
            self._last, self._head_at = None, time.monotonic() + _HEADS_EVERY
