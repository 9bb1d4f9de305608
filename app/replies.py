"""Scored items -> HTTP responses: JSON in order, NDJSON as they are ready. Watches for callers who leave."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from typing import Any, Final, Literal, TypeVar

from fastapi import Request, Response
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.scoring import Scored

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"

Shape = Literal["single", "batch", "lines"]
Chunks = AsyncGenerator[list[Scored], None]

_CLIENT_CLOSED_REQUEST: Final = 499  # nobody is there to read it; for the log only

_T = TypeVar("_T")


def batch_shape(request: Request) -> Shape:
    """How the caller wants the replies to a batch."""
    accepted = request.headers.get("accept", "")
    media_types = [part.partition(";")[0].strip().lower() for part in accepted.split(",")]
    return "lines" if NDJSON in media_types else "batch"


class Delivery(Response):
    """Scores while it answers. `when_done` is called at the very end, however it ends.

    droppable: there is work that need not be done when the caller leaves.
    """

    def __init__(
        self, chunks: Chunks, shape: Shape, *, droppable: bool, when_done: Callable[[], None] | None = None
    ) -> None:
        super().__init__()
        self._chunks = chunks
        self._shape = shape
        self._droppable = droppable
        self._when_done = when_done

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Score and send."""
        try:
            async with contextlib.aclosing(self._chunks):
                response = await self._response(receive)
                await response(scope, receive, send)
        finally:
            if self._when_done is not None:
                self._when_done()

    async def _response(self, receive: Receive) -> Response:
        if self._shape == "lines":
            return StreamingResponse(_lines(self._chunks), media_type=NDJSON)
        work = _collect(self._chunks)
        encoded = await (_while_connected(receive, work) if self._droppable else work)
        if encoded is None:
            return Response(status_code=_CLIENT_CLOSED_REQUEST)
        body = encoded[0] if self._shape == "single" else b'{"results":[' + b",".join(encoded) + b"]}"
        return Response(body, media_type=JSON)


async def _collect(chunks: Chunks) -> list[bytes]:
    """The encoded replies, in the order of the request."""
    replies: list[Scored] = []
    async for chunk in chunks:
        replies += chunk
    replies.sort(key=_index)
    return [scored.encoded for scored in replies]


def _index(scored: Scored) -> int:
    return scored.index


async def _lines(chunks: Chunks) -> AsyncIterator[bytes]:
    """A line per item, as soon as it is ready, and the end line."""
    count = 0
    async for chunk in chunks:
        count += len(chunk)
        yield b"".join([b'{"index":%d,' % scored.index + scored.encoded[1:] + b"\n" for scored in chunk])
    yield b'{"end":true,"count":%d}\n' % count


async def _while_connected(receive: Receive, work: Coroutine[Any, Any, _T]) -> _T | None:
    """Do some work, unless the caller leaves first: then cancel it and give None."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
