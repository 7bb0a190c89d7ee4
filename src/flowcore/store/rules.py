"""The rules: what every store decides about a run from how it stands. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple, get_args

from ..errors import RunConflict, RunNotFound
from .rows import ACTIVE, SIGNALS, Attention, RequestRow, RunStatus, Signal

__all__ = [
    "Standing",
    "attention_of",
    "check_active",
    "check_answer",
    "check_ended",
    "check_free",
    "check_owner",
    "check_statuses",
    "check_user",
    "exists_already",
    "not_found",
    "seq_taken",
    "stronger",
]


class Standing(NamedTuple):
    """What is asked of a run before it is changed."""

    run_id: str
    status: str
    owner: str
    lease: float
    signal: Signal
    signal_by: str


def not_found(name: str, run_id: str) -> RunNotFound:
    """Return the error for a run that a store does not hold."""
    return RunNotFound(f"{name} holds no run {run_id!r}")


def exists_already(name: str, run_id: str) -> RunConflict:
    """Return the error for a second run of one id."""
    return RunConflict(f"{name} holds a run {run_id!r} already: resume that one, or give the new one another id")


def seq_taken(run_id: str) -> RunConflict:
    """Return the error for a visit or note that comes a second time."""
    return RunConflict(f"run {run_id!r}: what was written of it has this seq already")


def check_active(standing: Standing) -> None:
    """Raise `RunConflict` for a run that has ended."""
    if standing.status not in ACTIVE:
        raise RunConflict(f"run {standing.run_id!r} has ended: {standing.status}")


def check_owner(standing: Standing, owner: str) -> None:
    """Raise `RunConflict` unless the run is active and walked by `owner`."""
    check_active(standing)
    if not owner or standing.owner != owner:
        now = f"now {standing.owner!r} walks it" if standing.owner else "nobody walks it now"
        raise RunConflict(f"run {standing.run_id!r} is not {owner!r}'s: {now}")


def check_user(run_id: str, user: str, by: str) -> None:
    """Raise `RunConflict` unless `by` is the user of a run's trigger; a run without one is anybody's."""
    if user and by != user:
        raise RunConflict(f"run {run_id} belongs to {user!r}, not {by!r}: give by={user!r}, proven")


def check_free(standing: Standing, owner: str, now: float) -> None:
    """Raise `RunConflict` unless `owner` may have an active run: it is his, nobody's, or the lease is over."""
    check_active(standing)
    if standing.owner not in ("", owner) and standing.lease > now:
        until = _time(standing.lease)
        raise RunConflict(
            f"run {standing.run_id!r} is walked by {standing.owner!r}, whose lease goes on until {until}"
        )


def check_ended(standing: Standing) -> None:
    """Raise `RunConflict` for an active run, which cannot be removed."""
    if standing.status in ACTIVE:
        raise RunConflict(f"run {standing.run_id!r} is {standing.status}: stop it before you remove it")


def check_answer(run_id: str, request_id: str, request: RequestRow | None, at: float) -> RequestRow:
    """Return the request if it can be answered at `at`, else raise `RunConflict`."""
    if request is None:
        raise RunConflict(f"run {run_id!r} has no request {request_id!r}")
    if request.status != "pending":
        by = f" by {request.by}" if request.by else ""
        when = f" at {_time(request.at)}" if request.at else ""
        raise RunConflict(f"run {run_id!r}: the request {request_id!r} is closed: {request.status}{by}{when}")
    if request.expires <= at:
        raise RunConflict(f"run {run_id!r}: the request {request_id!r} expired at {_time(request.expires)}")
    return request


def check_statuses(statuses: Sequence[RunStatus]) -> frozenset[RunStatus]:
    """Return the statuses as a set. Raises `ValueError` for one that there is not."""
    for status in statuses:
        if status not in get_args(RunStatus):
            raise ValueError(f"status {status!r}: give some of {', '.join(get_args(RunStatus))}")
    return frozenset(statuses)


def stronger(standing: Standing, signal: Signal, by: str) -> tuple[Signal, str]:
    """Return the signal that stands when one comes to the one that is there, and by whom. Of equals, the first."""
    if signal == "resume" and standing.signal == "pause":
        return signal, by
    if SIGNALS.index(signal) > SIGNALS.index(standing.signal):
        return signal, by
    return standing.signal, standing.signal_by


def attention_of(standing: Standing, owner: str, answered: Sequence[RequestRow]) -> Attention | None:
    """Return what the owner of a run must know of it, or None."""
    is_lost = standing.status not in ACTIVE or standing.owner != owner
    if not (standing.signal or answered or is_lost):
        return None
    return Attention(standing.signal, standing.signal_by, tuple(answered), is_lost)


def _time(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(" ", "seconds")
    except (ValueError, OverflowError, OSError):
        return str(seconds)
