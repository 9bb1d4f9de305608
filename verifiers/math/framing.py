"""Messages over a stream socket: four bytes of length, then that many bytes."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

_LENGTH = struct.Struct("!I")


def frame(message: bytes) -> bytes:
    """`message` with its length before it."""
    return _LENGTH.pack(len(message)) + message


class Frames:
    """Messages out of bytes as they come."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The messages that `data` completes."""
        self._rest += data
        start = 0
        while (begin := start + _LENGTH.size) <= len(self._rest):
            end = begin + _LENGTH.unpack_from(self._rest, start)[0]
            if end > len(self._rest):
                break
            yield self._rest[begin:end]
            start = end
        self._rest = self._rest[start:]


def send(channel: socket.socket, message: bytes) -> None:
    """Write one message, waiting for room."""
    channel.sendall(frame(message))


def receive(channel: socket.socket) -> bytes | None:
    """Read one message; None when the other side has closed."""
    header = _exactly(channel, _LENGTH.size)
    return None if header is None else _exactly(channel, _LENGTH.unpack(header)[0])


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = channel.recv(min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
