"""The guardrail: a guard at work, with a time limit, and an honest report of what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import anyio

from flowcore import ContractError
from flowcore.messages import Message
from flowcore_agent.guardrails.entry import GuardEntry
from flowcore_agent.ports import Guard
from flowcore_agent.reply import GuardReport

__all__ = ["Guardrail", "Side", "Verdict", "look", "merged"]

_Status = Literal["passed", "blocked", "off", "skipped", "failed_open", "failed_closed"]
Side = Literal["input", "output"]
_WEIGHT = {"passed": 0, "off": 0, "skipped": 1, "failed_open": 2, "failed_closed": 3, "blocked": 4}
"""Of several reports of one guardrail the heaviest stands: it has passed only what it has looked at."""


class Guardrail:
    """A guard on one side of an agent, with the seconds that one look may take."""

    def __init__(self, given: Guard | GuardEntry, side: Side, timeout: float | None) -> None:
        self.name = given.name
        self._given = given
        self._side: Side = side
        self._timeout = timeout

    async def look(self, text: str, messages: Sequence[Message]) -> GuardReport:
        """Return what came of a look at a text.

        Raises `ContractError` where the guard returns no text. Whatever else it raises, and that it takes too
        long, is in the report.
        """
        given = self._given
        if isinstance(given, GuardEntry) and not given.is_enabled:
            return GuardReport(self._side, self.name, "off")
        try:
            with anyio.fail_after(self._timeout):
                guard = await given.guard() if isinstance(given, GuardEntry) else given
        except ContractError:
            raise
        except Exception as error:
            status: _Status = "skipped" if given.fails_open else "failed_closed"
            return GuardReport(self._side, self.name, status, f"could not be loaded: {self._words(error)}")
        try:
            with anyio.fail_after(self._timeout):
                reason = await guard.check(text, messages)
        except ContractError:
            raise
        except Exception as error:
            status = "failed_open" if given.fails_open else "failed_closed"
            return GuardReport(self._side, self.name, status, self._words(error))
        if not isinstance(reason, str):  # pyright: ignore[reportUnnecessaryIsInstance] - what apps return is theirs
            raise ContractError(
                f"guard {self.name!r} returned a {type(reason).__name__}: give why the text is blocked, or ''"
            )
        return GuardReport(self._side, self.name, "blocked" if reason else "passed", reason)

    def _words(self, error: Exception) -> str:
        if isinstance(error, TimeoutError) and not str(error) and self._timeout is not None:
            return f"it took longer than {self._timeout:g} seconds"
        return f"{type(error).__name__}: {error}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the guardrails of one side say of a text, each that was asked."""

    reports: tuple[GuardReport, ...]

    @property
    def stopped_by(self) -> str:
        """The name of the guardrail that does not let the text pass, '' where it may pass."""
        stops = (report.name for report in self.reports if report.status in ("blocked", "failed_closed"))
        return next(stops, "")


async def look(rails: Iterable[Guardrail], text: str, messages: Sequence[Message]) -> Verdict:
    """Ask the guardrails one after another, until one of them lets the text not pass."""
    reports: list[GuardReport] = []
    for rail in rails:
        reports.append(await rail.look(text, messages))
        if Verdict(tuple(reports)).stopped_by:
            break
    return Verdict(tuple(reports))


def merged(known: Iterable[GuardReport], new: Iterable[GuardReport]) -> tuple[GuardReport, ...]:
    """Return one report a guardrail and side, of several the heaviest, of equal ones the first."""
    found: dict[tuple[str, str], GuardReport] = {}
    for report in (*known, *new):
        before = found.get((report.side, report.name))
        if before is None or _WEIGHT[report.status] > _WEIGHT[before.status]:
            found[report.side, report.name] = report
    return tuple(found.values())
