"""Messages between the service and its supervisor: a JSON header and byte strings, length-prefixed."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from typing import Any

_PREFIX = struct.Struct("<IQ")  # bytes of header, bytes of all blobs

_LARGEST_HEADER, _LARGEST_BODY = 64 << 20, 4 << 30

Header = dict[str, Any]
Frame = tuple[Header, list[bytes]]


def encode(header: Header, blobs: Sequence[bytes] = ()) -> bytes:
    """One frame."""
    text = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    return b"".join([_PREFIX.pack(len(text), sum(map(len, blobs))), text, *blobs])


class MalformedError(ValueError):
    """What came is no frame; nothing after it can be read."""


class Decoder:
    """Takes bytes as they come and gives whole frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes | memoryview) -> Iterator[Frame]:
        """Add `data`; yield each frame that is complete. Raises `MalformedError`."""
        self._buffer += data
        while (frame := self._take()) is not None:
            yield frame

    def _take(self) -> Frame | None:
        if len(self._buffer) < _PREFIX.size:
            return None
        header_size, body_size = _PREFIX.unpack_from(self._buffer)
        if header_size > _LARGEST_HEADER or body_size > _LARGEST_BODY:
            raise MalformedError("a frame of that size is none of ours")
        start = _PREFIX.size + header_size
        if len(self._buffer) < start + body_size:
            return None
        header, sizes = _header(self._buffer[_PREFIX.size : start], body_size)
        blobs = []
        for size in sizes:
            blobs.append(bytes(self._buffer[start : start + size]))
            start += size
        del self._buffer[:start]
        return header, blobs


def _header(text: bytes | bytearray, body_size: int) -> tuple[Header, list[int]]:
    """The header of a frame and the sizes of its blobs."""
    try:
        header = json.loads(text.decode())
        sizes = header.pop("blobs")
        fits = all(type(size) is int and size >= 0 for size in sizes) and sum(sizes) == body_size
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError) as error:
        raise MalformedError("the header of a frame is none of ours") from error
    if not fits:
        raise MalformedError("the parts of a frame do not add up")
    return header, sizes
