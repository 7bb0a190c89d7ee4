"""The sign-in notice: one for all toolsets that want to know who is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["SignIn"]


@dataclass(frozen=True, slots=True)
class SignIn:
    """What a person is asked for, once, however many toolsets want it: `servers` has each by its toolset."""

    servers: Mapping[str, str]

    def __str__(self) -> str:
        listed = ", ".join(f"{name} ({server})" for name, server in self.servers.items())
        return f"Sign in to go on with {listed}; then open the catalogue again."
