"""A server that misbehaves on purpose, on a bare socket: it does what no server of good will does."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["Behaviour", "FaultyServer", "Talk", "event", "faulty", "head", "piece"]

Behaviour = Callable[["Talk"], None]
_PATIENCE = 20.0


class Talk:
    """One connection: what the client sent, and what is sent back."""

    def __init__(self, connection: socket.socket, request: bytes) -> None:
        self.connection = connection
        self.request = request

    def send(self, *parts: bytes) -> None:
        for part in parts:
            self.connection.sendall(part)

    def stream(self, *events: bytes, end: bool = False) -> None:
        """Sends the head of a stream and events in chunks; the last chunk only at the `end`."""
        self.send(head(200, "text/event-stream", "Transfer-Encoding: chunked"), *map(chunk, events))
        if end:
            self.send(chunk(b""))

    def cut(self) -> None:
        """Ends the connection, if the client has not."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def wait_until_left(self) -> None:
        """Reads until the client closes the connection."""
        with suppress(ConnectionError):
            while self.connection.recv(65536):
                pass


class FaultyServer:
    """Behaves in one way to everyone. Knows every request, and how many connections are open."""

    def __init__(self, behave: Behaviour, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._behave = behave
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._changed = threading.Condition()
        self.requests: list[bytes] = []
        self.open = 0
        self.failures: list[Exception] = []
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def close(self) -> None:
        with suppress(OSError):  # the thread that accepts would else go on at whatever has this number next
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def wait_for(self, *, requests: int = 0, open: int | None = None) -> None:
        """Waits until so many requests have come, and so many connections are open. Blocks its thread."""
        with self._changed:
            done = self._changed.wait_for(
                lambda: len(self.requests) >= requests and open in (None, self.open), _PATIENCE
            )
        assert done, f"{len(self.requests)} requests, {self.open} connections open"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                with self._changed:
                    self.open += 1
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _secured(self, connection: socket.socket) -> socket.socket:
        return connection if self._tls is None else self._tls.wrap_socket(connection, server_side=True)

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(_PATIENCE)
        try:
            with suppress(ConnectionError, ssl.SSLError), self._secured(connection) as connection:
                while connection.fileno() >= 0 and (request := read_request(connection)):
                    with self._changed:
                        self.requests.append(request)
                        self._changed.notify_all()
                    self._behave(Talk(connection, request))
        except Exception as error:  # looked at by the test
            self.failures.append(error)
        with self._changed:
            self.open -= 1
            self._changed.notify_all()


@contextmanager
def faulty(behave: Behaviour, tls: ssl.SSLContext | None = None) -> Iterator[FaultyServer]:
    server = FaultyServer(behave, tls)
    try:
        yield server
        server.wait_for(open=0)
        assert server.failures == [], server.failures
    finally:
        server.close()


def read_request(connection: socket.socket) -> bytes:
    """Returns a request, head and body, or what came of one when the client left or speaks something else."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        data += part
        if not part or not data[:1].isalpha():
            return data if part else b""
    start, _, body = data.partition(b"\r\n\r\n")
    size = next(
        (int(line[15:]) for line in start.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
    )
    while len(body) < size:
        part = connection.recv(65536)
        if not part:
            return b""
        body += part
    return start + b"\r\n\r\n" + body


def head(status: int, kind: str, *more: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status} Said So", f"Content-Type: {kind}", *more, "", ""]).encode()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(data: Any) -> bytes:
    text = data if isinstance(data, str) else json.dumps(data)
    return f"data: {text}\n\n".encode()


def piece(text: str = "", finish: str | None = None, **more: Any) -> bytes:
    """Returns an event with a piece of an answer."""
    choice = {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}
    return event({"id": "c1", "model": "m", "choices": [choice], **more})
