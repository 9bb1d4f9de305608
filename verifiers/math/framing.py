"""Messages over a stream socket: four bytes of length, then that many bytes."""

from __future__ import annotations

import socket
import struct

_LENGTH = struct.Struct("!I")


def frame(message: bytes) -> bytes:
    """`message` with its length before it."""
    return _LENGTH.pack(len(message)) + message


def length(header: bytes) -> int:
    """The length that four bytes announce."""
    (size,) = _LENGTH.unpack(header)
    return int(size)


HEADER_BYTES = _LENGTH.size


def send(channel: socket.socket, message: bytes) -> None:
    """Write one message, waiting for room."""
    channel.sendall(frame(message))


def receive(channel: socket.socket) -> bytes | None:
    """Read one message; None when the other side has closed."""
    header = _exactly(channel, HEADER_BYTES)
    return None if header is None else _exactly(channel, length(header))


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = channel.recv(min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
