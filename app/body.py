"""A request's body, bounded at every step: refused while it streams, gunzipped piece by piece."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Sequence
from typing import Final

from fastapi import Request

from app.admission import Reservation
from app.errors import Problem
from app.parsing import Document, MalformedJSONError, parse_json

JSON: Final = "application/json"

_ENCODINGS: Final = {b"identity": False, b"": False, b"gzip": True, b"x-gzip": True}
"""Content encodings, and whether they are to be unpacked."""

_PIECE_BYTES: Final = 1 << 20
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


async def read_body(
    request: Request, max_bytes: int, held: Reservation, accepted: Sequence[str] = (JSON,)
) -> bytearray:
    """Read and decompress the body; the bytes it takes are counted as `held` while they come.

    Raises Problem: 400 malformed gzip, 413 more than `max_bytes` decompressed, 415 not `accepted` or another
    encoding, 503 the worker holds too much.
    """
    headers = dict(request.scope["headers"])  # names are in lower case (ASGI)
    if (found := media_type(request)) not in accepted:
        wanted = " or ".join(accepted)
        raise Problem(
            "unsupported_media_type", f"send the header Content-Type: {wanted} (with curl by -H), not {found}"
        )
    encoding = headers.get(b"content-encoding", b"identity").strip().lower()
    if encoding not in _ENCODINGS:
        raise Problem("unsupported_content_encoding", headers={"Accept-Encoding": "gzip"})
    _check_announced_size(headers.get(b"content-length", b""), max_bytes)
    pieces = _gunzip(request.stream()) if _ENCODINGS[encoding] else request.stream()
    body = bytearray()
    async for piece in pieces:
        if len(body) + len(piece) > max_bytes:
            raise _too_large(max_bytes)
        held.take(size=len(piece))
        body += piece
    return body


def parse_body(body: bytearray) -> Document:
    """Parse a body as JSON. Raises Problem: 400 malformed JSON."""
    try:
        return parse_json(body)
    except MalformedJSONError as error:
        raise Problem(error.reason, str(error)) from None


def media_type(request: Request) -> str:
    """What the body is. A body must say so unless it is JSON: a form of a foreign web page always does."""
    content_type: bytes = dict(request.scope["headers"]).get(b"content-type", b"")
    if content_type in (b"application/json", b""):
        return JSON
    found = content_type.partition(b";")[0].strip().lower().decode("latin-1")
    return JSON if not found or found.endswith("+json") else found


def _check_announced_size(content_length: bytes, max_bytes: int) -> None:
    if not content_length:
        return
    if not content_length.isdigit() or len(content_length) > 20 or int(content_length) > max_bytes:
        raise _too_large(max_bytes)


def _too_large(max_bytes: int) -> Problem:
    return Problem("body_too_large", f"a body may have {max_bytes} bytes decompressed")


async def _gunzip(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Decompress in pieces of bounded size, so that a small bomb never stands in memory whole."""
    decoder = zlib.decompressobj(_GZIP_WINDOW)
    started = False
    async for chunk in chunks:
        pending = chunk
        while pending:
            if decoder.eof:  # a gzip file may have several members
                decoder = zlib.decompressobj(_GZIP_WINDOW)
            started = True
            try:
                piece = decoder.decompress(pending, _PIECE_BYTES)
            except zlib.error as error:
                raise Problem("malformed_gzip", str(error)) from None
            yield piece
            pending = decoder.unused_data if decoder.eof else decoder.unconsumed_tail
            if len(piece) == _PIECE_BYTES:
                await asyncio.sleep(0)
    while started and not decoder.eof:
        piece = decoder.decompress(b"", _PIECE_BYTES)
        if not piece:
            raise Problem("malformed_gzip", "the gzip data ends too early")
        yield piece
    if not started:
        raise Problem("malformed_gzip", "the gzip data is empty")
