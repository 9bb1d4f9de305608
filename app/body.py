"""A request's body, bounded at every step: refused while it streams, gunzipped piece by piece."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from typing import Final

from fastapi import Request

from app.admission import Reservation
from app.errors import Problem
from app.parsing import Document, MalformedJSONError, parse_json

_PIECE_BYTES: Final = 1 << 20
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


async def read_body(request: Request, max_bytes: int, held: Reservation) -> bytearray:
    """Read and decompress the body; the bytes it takes are counted as `held` while they come.

    Raises Problem: 400 malformed gzip, 413 more than `max_bytes` decompressed, 415 not JSON or another
    encoding, 503 the worker holds too much.
    """
    _check_media_type(request.headers.get("content-type", ""))
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip"):
        raise Problem("unsupported_content_encoding", headers={"Accept-Encoding": "gzip"})
    gzipped = "gzip" in encoding
    _check_announced_size(request.headers.get("content-length", ""), max_bytes)
    pieces = _gunzip(request.stream()) if gzipped else request.stream()
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


def _check_media_type(content_type: str) -> None:
    """Refuse what is not JSON: a form that a foreign web page can post must not be scored."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type and media_type != "application/json" and not media_type.endswith("+json"):
        raise Problem("unsupported_media_type", f"send Content-Type: application/json, not {media_type}")


def _check_announced_size(content_length: str, max_bytes: int) -> None:
    if content_length.isdecimal() and len(content_length) < 20 and int(content_length) <= max_bytes:
        return
    if content_length:
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
