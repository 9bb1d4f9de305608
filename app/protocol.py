"""HTTP below the application: errors in the shape of all errors, and a decent end of connections."""

from __future__ import annotations

from typing import Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from app.errors import Problem

LINGER_S: Final = 2.0
"""How long a connection that is idle when the service begins to drain stays open."""


class Protocol(HttpToolsProtocol):
    """One connection."""

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, and close."""
        response = Problem("malformed_http").response()
        headers = [*response.raw_headers, (b"connection", b"close")]
        lines = [b"%b: %b\r\n" % header for header in headers]
        self.transport.write(b"".join([STATUS_LINE[response.status_code], *lines, b"\r\n", response.body]))
        self.transport.close()

    def shutdown(self) -> None:
        """End with the request under way; without one, a while later: the next may be on its way already.

        A client cannot know whether a request on a connection that is reset was served. One that arrives in
        this while is answered with 503 and `Connection: close`.
        """
        if self.cycle is None or self.cycle.response_complete:
            self.loop.call_later(LINGER_S, super().shutdown)
        else:
            super().shutdown()
