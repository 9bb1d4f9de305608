"""Bytes into and out of the children without ever blocking."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

from sandbox.supervisor.reactor import READ, WRITE, Callback, Reactor

_CHUNK = 64 << 10
"""What a pipe holds. Larger buffers would be mapped and unmapped for each read."""


class Ends(NamedTuple):
    """Of the four pipes of a child: standard input, output and error, and its channel."""

    stdin: int
    stdout: int
    stderr: int
    channel: int

    def close(self) -> None:
        """Close them."""
        for fd in self:
            os.close(fd)


def open_pipes(uid: int | None) -> tuple[Ends, Ends]:
    """Our ends, which never block, and those of a child of user `uid`."""
    pipes = [os.pipe2(os.O_CLOEXEC) for _ in Ends._fields]
    stdin, into = pipes[0]
    ours = Ends(into, *(reader for reader, _ in pipes[1:]))
    theirs = Ends(stdin, *(writer for _, writer in pipes[1:]))
    for fd in ours:
        os.set_blocking(fd, False)
    if uid is not None:  # so that the program can open them again as /dev/stdin and the like
        with suppress(PermissionError):  # gVisor's pipes have no owner
            for fd in (theirs.stdin, theirs.stdout, theirs.stderr):
                os.fchown(fd, uid, uid)
    return ours, theirs


class Feed:
    """Writes `data` to `fd`, which does not block, as fast as it is read, then closes it.

    What fits is written at once. A reader that goes away is no error.
    """

    def __init__(self, reactor: Reactor, fd: int, data: bytes | memoryview) -> None:
        self._reactor = reactor
        self._fd = fd
        self._rest = memoryview(data)
        self._watched = False
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
    """Collects what is written to `fd`, which does not block, up to `limit`; the rest is read and dropped."""

    def __init__(self, reactor: Reactor, fd: int, limit: int, on_exceeded: Callback | None = None) -> None:
        self._reactor = reactor
        self._fd = fd
        self._limit = limit
        self._on_exceeded = on_exceeded
        self._kept = bytearray()

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
