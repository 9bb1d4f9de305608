"""Messages between the service and its supervisor: a JSON header and byte strings, length-prefixed."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from typing import Any

_PREFIX = struct.Struct("<IQ")  # bytes of header, bytes of all blobs

Header = dict[str, Any]
Frame = tuple[Header, list[bytes]]


def encode(header: Header, blobs: Sequence[bytes] = ()) -> bytes:
    """One frame."""
    text = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    return b"".join([_PREFIX.pack(len(text), sum(map(len, blobs))), text, *blobs])


class Decoder:
    """Takes bytes as they come and gives whole frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Add `data`; yield each frame that is complete."""
        self._buffer += data
        while (frame := self._take()) is not None:
            yield frame

    def _take(self) -> Frame | None:
        if len(self._buffer) < _PREFIX.size:
            return None
        header_size, body_size = _PREFIX.unpack_from(self._buffer)
        start = _PREFIX.size + header_size
        if len(self._buffer) < start + body_size:
            return None
        header: Header = json.loads(self._buffer[_PREFIX.size : start])
        blobs = []
        for size in header.pop("blobs"):
            blobs.append(bytes(self._buffer[start : start + size]))
            start += size
        del self._buffer[:start]
        return header, blobs
