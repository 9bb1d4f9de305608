"""Around every HTTP request: an id for the logs, the key, one log line. Plain ASGI, for its price."""

from __future__ import annotations

import re
from time import perf_counter
from typing import Any, Final

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.auth import OPEN_PATHS, Doorkeeper
from app.errors import Problem
from app.ids import IdMaker

_log: Final = structlog.get_logger()
_FIRST_ERROR: Final = 400
_SAFE_ID: Final = re.compile(rb"[A-Za-z0-9._:/+=-]{1,128}")


class Edge:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, doorkeeper: Doorkeeper, *, log_requests: bool) -> None:
        self._app = app
        self._doorkeeper = doorkeeper
        self._log_requests = log_requests
        self._new_id = IdMaker()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD":  # whatever answers GET; the server leaves the body out
            scope = {**scope, "method": "GET"}
        request_id = _offered_id(scope["headers"]) or self._new_id()
        began = perf_counter()
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                self._doorkeeper.check(scope)
            except Problem as problem:
                await problem.response()(scope, receive, send_with_id)
            else:
                await self._app(scope, receive, send_with_id)  # what it raises, it has answered and logged
            if self._log_requests or (status >= _FIRST_ERROR and scope["path"] not in OPEN_PATHS):
                _log_request(scope, status, perf_counter() - began)


def _offered_id(headers: list[tuple[bytes, bytes]]) -> str | None:
    """The caller's own X-Request-ID, if it is harmless."""
    for name, value in headers:
        if name == b"x-request-id" and _SAFE_ID.fullmatch(value):
            return value.decode()
    return None


def _log_request(scope: Scope, status: int, duration_s: float) -> None:
    details: dict[str, Any] = {"method": scope["method"], "path": scope["path"], "status": status}
    log = _log.info if status >= _FIRST_ERROR else _log.debug
    log("request", **details, duration_ms=round(duration_s * 1e3, 3))
