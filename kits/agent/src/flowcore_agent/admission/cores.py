"""The core versions: which one runs an agent, and how an unknown one is shown."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PLATFORM_DEFAULT", "CoreVersion", "available_cores", "resolve_core"]

PLATFORM_DEFAULT = "default"
"""Leaves the choice to the platform."""

_VERSIONS = ("1.0",)


@dataclass(frozen=True, slots=True)
class CoreVersion:
    """A core version as it was chosen. One that is not supported can be shown and changed, and does not run."""

    name: str
    is_supported: bool


def available_cores() -> tuple[str, ...]:
    """Return what may be chosen: the platform's default, and the versions there are."""
    return (PLATFORM_DEFAULT, *_VERSIONS)


def resolve_core(explicit: str | None, default: str = PLATFORM_DEFAULT) -> CoreVersion:
    """Return the version that an explicit choice and the platform's default lead to.

    None and `"default"` follow the platform's default, and a default that names none is the newest version. A
    value that is not known any more comes back as it is, marked as unsupported.
    """
    named = (choice for choice in (explicit, default) if choice and choice != PLATFORM_DEFAULT)
    name = next(named, _VERSIONS[-1])
    return CoreVersion(name, name in _VERSIONS)
