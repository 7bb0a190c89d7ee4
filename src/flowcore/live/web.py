"""The web side of a page: who is let in, the page itself, and a stream of what is new for each viewer."""

from __future__ import annotations

import ipaddress
import logging
import re
import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .source import EVENTS, Source

__all__ = ["Viewers", "web_app"]

_HEARTBEAT = 15.0
_PATIENCE = 30.0
"""Seconds after which a viewer that takes nothing is cut off. It comes back with the last id that it saw."""
_log = logging.getLogger("flowcore.live")
_HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}

_HOST = re.compile(r"(\[(?P<v6>[^\]]*)\]|(?P<name>[^:]*))(:\d*)?")
"""What a browser calls a server: a name or an address, and perhaps a port."""


def web_app(source: Source, token: str, host: str, viewers: Viewers) -> ASGIApp:
    """Return the application that shows a source under the path of a token."""

    async def page(request: Request) -> Response:
        try:
            return HTMLResponse(await run_in_threadpool(source.page))
        except Exception:
            _log.exception("the page cannot be made; the run is not affected")
            return PlainTextResponse("The page cannot be made.\n", HTTPStatus.INTERNAL_SERVER_ERROR)

    routes = [
        Route(f"/{token}/", page),
        Route(f"/{token}/{EVENTS}", viewers.serve, methods=["GET"]),
    ]
    return _Guard(Starlette(routes=routes), token, host)


class Viewers:
    """Those who follow a feed, each with the number of messages that it has had."""

    def __init__(self, source: Source, *, heartbeat: float = _HEARTBEAT, patience: float = _PATIENCE) -> None:
        self._feed = source.feed
        self._heartbeat = heartbeat
        self._patience = patience
        self._seen: dict[object, int] = {}

    def __len__(self) -> int:
        return len(self._seen)

    @property
    def are_told(self) -> bool:
        """Whether each of them has had everything that there is."""
        return all(seen == len(self._feed) for seen in self._seen.values())

    async def serve(self, request: Request) -> Response:
        """Return the stream of a viewer, or, for one that has had everything, that it need not come again."""
        seen = _last_seen(request, len(self._feed))
        if self._feed.is_over and seen == len(self._feed):
            return Response(status_code=HTTPStatus.NO_CONTENT)
        return _Stream(partial(self._follow, seen))

    async def _follow(self, seen: int, send: Send) -> None:
        me, feed = object(), self._feed
        self._seen[me] = seen
        try:
            while not feed.is_closed:
                seen, piece = feed.after(seen)
                if not piece and feed.is_over:
                    break
                if not piece:
                    with anyio.move_on_after(self._heartbeat):
                        await feed.wait()
                        continue
                    piece = b": here\n\n"
                with anyio.move_on_after(self._patience) as waiting:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                if waiting.cancelled_caught:
                    return
                self._seen[me] = seen
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            del self._seen[me]


class _Stream(Response):
    """A response without an end of its own: it is over when its body is, or when the viewer leaves."""

    media_type = "text/event-stream"

    def __init__(self, body: Callable[[Send], Awaitable[None]]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._follow = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": self.raw_headers})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return

        async def until_gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(until_gone)
            await self._follow(send)
            group.cancel_scope.cancel()


class _Guard:
    """Lets in who knows the token and calls this machine by a name of its own; says what browsers may do.

    A page of somebody else could give its own name this machine's address. Its requests then bear that name, so
    names other than those that the page was bound to are refused.
    """

    def __init__(self, app: ASGIApp, token: str, host: str) -> None:
        self._app = app
        self._token = token.encode()
        self._names = {"localhost", host.lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        first = scope["path"].split("/")[1:2]
        if not self._is_ours(Headers(scope=scope).get("host", "")):
            app = PlainTextResponse("This page is not served under that name.\n", HTTPStatus.FORBIDDEN)
        elif not first or not secrets.compare_digest(first[0].encode(), self._token):
            app = PlainTextResponse("There is no page here. Copy the whole address.\n", HTTPStatus.NOT_FOUND)
        await app(scope, receive, partial(_with_headers, send))

    def _is_ours(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        name = "" if found is None else found["v6"] or found["name"]
        return name.lower() in self._names or _is_address(name)


async def _with_headers(send: Send, message: Message) -> None:
    if message["type"] == "http.response.start":
        MutableHeaders(scope=message).update(_HEADERS)
    await send(message)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _last_seen(request: Request, known: int) -> int:
    text = request.headers.get("last-event-id", "")
    seen = int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else 0
    return seen if seen <= known else 0
