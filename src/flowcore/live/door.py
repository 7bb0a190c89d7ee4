"""The door: a place on this machine, taken before anything runs."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from types import TracebackType
from typing import Self

from ..errors import WatchError

__all__ = ["Door"]

_HERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""What to call this machine where every address of it is bound."""


class Door:
    """A socket at a host and port; port 0 is a free one. Raises `WatchError` where it cannot be had."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self.host = host
        self.socket = _bound(host, port)
        self.port: int = self.socket.getsockname()[1]

    @property
    def url(self) -> str:
        """The address that a browser on this machine reaches."""
        name = _HERE.get(self.host, self.host)
        return f"http://{f'[{name}]' if _is_v6(name) else name}:{self.port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()


def _bound(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise WatchError(
            f"port {port}: there is none of that number; name one from 1 to 65535, or 0 for a free one"
        )
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = socket.socket(family, kind)
    except (OSError, UnicodeError) as error:
        raise WatchError(_not_here(host, error)) from error
    try:
        if os.name == "posix":  # elsewhere it would share a port that is in use
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(128)
    except OSError as error:
        found.close()
        raise WatchError(_refused(host, port, error)) from error
    return found


def _refused(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is in use; name another port, or 0 for a free one"
    if error.errno in {errno.EACCES, errno.EPERM}:
        return f"port {port} of {host} may not be used by you; name one above 1023, or 0 for a free one"
    return _not_here(host, error)


def _not_here(host: str, error: OSError | UnicodeError) -> str:
    reason = getattr(error, "strerror", None) or "no such name"
    return f"host {host!r} is no address of this machine ({reason}); name one that is, such as 127.0.0.1"


def _is_v6(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).version == 6
    except ValueError:
        return False
