"""Scored items -> HTTP responses: JSON in order, NDJSON as they are ready. Watches for callers who leave."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from typing import Any, Final, Literal, Protocol, TypeVar, cast

from fastapi import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"

Shape = Literal["single", "batch", "groups", "lines"]


class Reply(Protocol):
    """One reply of a request, and its place among them."""

    @property
    def index(self) -> int: ...
    @property
    def encoded(self) -> bytes: ...


Chunks = AsyncGenerator[Sequence[Reply], None]
"""Replies as they are ready, as many at a time as there are."""

_NAMES: Final = {"batch": b"results", "groups": b"groups"}
"""Of the list of all replies, in a JSON document."""

_CLIENT_CLOSED_REQUEST: Final = 499  # nobody is there to read it; for the log only

_WEIGHT: Final = re.compile(r"q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)", re.ASCII)

_T = TypeVar("_T")


def batch_shape(request: Request) -> Shape:
    """How the caller wants the replies to a batch."""
    weights = _accepted(",".join(request.headers.getlist("accept")))
    of_json = next((weights[name] for name in (JSON, "application/*", "*/*") if name in weights), 0.0)
    of_lines = weights.get(NDJSON, 0.0)  # never by a wildcard: who does not know them cannot read them
    return "lines" if of_lines > 0 and of_lines >= of_json else "batch"


def _accepted(header: str) -> dict[str, float]:
    """Media types of an Accept header and their weights (RFC 9110, section 12.5.1)."""
    weights: dict[str, float] = {}
    for part in header.split(","):
        media_type, *parameters = (piece.strip().lower() for piece in part.split(";"))
        found = [_WEIGHT.fullmatch(parameter) for parameter in parameters]
        weights[media_type] = next((float(match[1]) for match in found if match), 1.0)
    return weights


class Delivery:
    """A response that scores while it answers. `when_done` is called at the very end, however it ends.

    droppable: there is work that need not be done when the caller leaves.
    """

    def __init__(
        self, chunks: Chunks, shape: Shape, *, droppable: bool, when_done: Callable[[], None] | None = None
    ) -> None:
        self._chunks = chunks
        self._shape = shape
        self._droppable = droppable
        self._when_done = when_done

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Score and send."""
        try:
            async with contextlib.aclosing(self._chunks):
                if self._shape == "lines":
                    await StreamingResponse(_lines(self._chunks), media_type=NDJSON)(scope, receive, send)
                    return
                work = _collect(self._chunks)
                encoded = await (_while_connected(receive, work) if self._droppable else work)
                if encoded is None:
                    await _send(send, _CLIENT_CLOSED_REQUEST, b"")
                elif self._shape == "single":
                    await _send(send, 200, encoded[0])
                else:
                    await _send(send, 200, b'{"%s":[' % _NAMES[self._shape] + b",".join(encoded) + b"]}")
        finally:
            if self._when_done is not None:
                self._when_done()


async def _send(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", JSON.encode()), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _collect(chunks: Chunks) -> list[bytes]:
    """The encoded replies, in the order of the request."""
    replies: list[Reply] = []
    async for chunk in chunks:
        replies += chunk
    replies.sort(key=_index)
    return [reply.encoded for reply in replies]


def _index(reply: Reply) -> int:
    return reply.index


async def _lines(chunks: Chunks) -> AsyncIterator[bytes]:
    """A line per item, as soon as it is ready, and the end line."""
    count = 0
    async for chunk in chunks:
        count += len(chunk)
        yield b"".join([b'{"index":%d,' % reply.index + reply.encoded[1:] + b"\n" for reply in chunk])
    yield b'{"end":true,"count":%d}\n' % count


async def _while_connected(receive: Receive, work: Coroutine[Any, Any, _T]) -> _T | None:
    """Do some work, unless the caller leaves first: then cancel it and give None.

    The work stays in this task: a second one would wake it up later by two turns of the event loop.
    """
    task = cast("asyncio.Task[Any]", asyncio.current_task())
    gone = asyncio.ensure_future(_disconnected(receive))

    def cancel(_: asyncio.Future[None]) -> None:
        task.cancel()

    gone.add_done_callback(cancel)
    try:
        return await work
    except asyncio.CancelledError:
        if gone.done() and task.uncancel() == 0:
            return None
        raise
    finally:
        gone.remove_done_callback(cancel)
        gone.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
