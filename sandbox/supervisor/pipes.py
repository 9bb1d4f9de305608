"""Bytes into and out of the children without ever blocking."""

from __future__ import annotations

import os

from sandbox.supervisor.reactor import READ, WRITE, Callback, Reactor

_CHUNK = 64 << 10
"""What a pipe holds. Larger buffers would be mapped and unmapped for each read."""


class Feed:
    """Writes `data` to `fd` as fast as it is read, then closes it. A reader that goes away is no error."""

    def __init__(self, reactor: Reactor, fd: int, data: bytes | memoryview) -> None:
        self._reactor = reactor
        self._fd = fd
        self._rest = memoryview(data)
        self._watched = False
        os.set_blocking(fd, False)
        self._write()

    def close(self) -> None:
        """Stop writing."""
        if self._fd >= 0:
            self._reactor.forget(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _write(self) -> None:
        try:
            while self._rest:
                self._rest = self._rest[os.write(self._fd, self._rest) :]
        except BlockingIOError:
            if not self._watched:
                self._watched = True
                self._reactor.watch(self._fd, WRITE, self._write)
            return
        except OSError:
            pass  # EPIPE, ECONNRESET: nobody reads any more
        self.close()


class Sink:
    """Collects what is written to `fd`, up to `limit`; the rest is read and dropped."""

    def __init__(self, reactor: Reactor, fd: int, limit: int, on_exceeded: Callback | None = None) -> None:
        self._reactor = reactor
        self._fd = fd
        self._limit = limit
        self._on_exceeded = on_exceeded
        self._kept = bytearray()
        os.set_blocking(fd, False)

    def watch(self) -> None:
        """Begin to read."""
        self._reactor.watch(self._fd, READ, self._on_readable)

    def finish(self) -> bytes:
        """Take what is still in the pipe, close it, and return all that was kept. Nobody writes any more."""
        while self._fd >= 0 and self._read():
            pass
        self.close()
        return bytes(self._kept)

    def close(self) -> None:
        """Stop reading."""
        if self._fd >= 0:
            self._reactor.forget(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _on_readable(self) -> None:
        self._read()

    def _read(self) -> bool:
        """Read once; False when that was all that there is now."""
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.close()
            return False
        room = self._limit - len(self._kept)
        self._kept += data[:room]
        if len(data) > room and self._on_exceeded is not None:
            self._on_exceeded()
        return len(data) == _CHUNK
