"""The supervisor's side of a zygote: asks it for children, learns how they ended."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sandbox import channel
from sandbox.layers import procfs
from sandbox.supervisor.reactor import READ, Callback, Reactor

_MOST_RUNS = 500
"""A zygote is replaced after so many runs, so that nothing can pile up in it."""


@dataclass(slots=True)
class ChildLink:
    """A forked child that waits for its job; `pid` is 0 until it has said that its layers are on."""

    sock: socket.socket
    pid: int = 0


@dataclass(frozen=True, slots=True)
class Ended:
    """A zygote's report on a run. `ends`: exit status, or minus the signal, of each child in order."""

    ends: list[int | None]
    cpu_time_s: float
    max_rss_bytes: int


class Zygote:
    """One slot's warm interpreter of one kind. `on_lost` is called once if it goes without being told to."""

    def __init__(self, reactor: Reactor, sock: socket.socket, on_lost: Callback) -> None:
        self.pid = 0
        self.scoped = False
        self.base_rss_bytes = 0
        self.children: list[ChildLink] = []
        self._reactor = reactor
        self._sock = sock
        self._on_lost = on_lost
        self._on_ready: Callback | None = None
        self._on_done: Callable[[Ended], None] | None = None
        self._wanted = 0
        self._runs = 0
        self._dead = False
        reactor.watch(sock.fileno(), READ, self._hear)

    @property
    def worn(self) -> bool:
        """Whether it should be replaced before the next run."""
        return self._dead or self._runs >= _MOST_RUNS

    def want(self, count: int, on_ready: Callback) -> None:
        """Call `on_ready` once `count` children wait for their jobs."""
        self._wanted, self._on_ready = count, on_ready
        self._fork_missing()
        self._tell_if_ready()

    def begin(self, on_done: Callable[[Ended], None]) -> None:
        """The children are about to get their jobs; `on_done` hears how they ended."""
        self._runs += 1
        self._on_done = on_done

    def kill(self) -> None:
        """End the run, or drop waiting children; answered by `on_done`."""
        with suppress(OSError):
            channel.send(self._sock, {"op": "kill"})

    def drop_children(self, on_done: Callback) -> None:
        """End children that wait for a job."""
        self._on_done = lambda _: on_done()
        self.kill()

    def close(self) -> None:
        """Let it end; its children end with it."""
        self._dead = True
        self._on_ready = self._on_done = None
        self._close_children()
        self._reactor.forget(self._sock.fileno())
        self._sock.close()

    def destroy(self) -> None:
        """End it at once."""
        if self.pid and not self._dead:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self.close()

    def _fork_missing(self) -> None:
        if not self.pid:
            return  # asked again when it is ready
        while len(self.children) < self._wanted:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            link = ChildLink(ours)
            self.children.append(link)
            self._reactor.watch(ours.fileno(), READ, lambda link=link: self._hear_child(link))  # type: ignore[misc]
            with theirs, suppress(OSError):
                channel.send(self._sock, {"op": "fork"}, [theirs.fileno()])

    def _tell_if_ready(self) -> None:
        if self._on_ready and len(self.children) >= self._wanted and all(c.pid for c in self.children):
            on_ready, self._on_ready = self._on_ready, None
            on_ready()

    def _hear_child(self, link: ChildLink) -> None:
        """A child says that it is fenced in, or is gone before that."""
        try:
            received = channel.receive_with_pid(link.sock)
        except BlockingIOError:
            return
        except OSError:
            received = None
        self._reactor.forget(link.sock.fileno())
        if received is None:
            return  # the zygote reports its end
        link.pid = received[1]
        if not self.base_rss_bytes:
            stat = procfs.stat(link.pid)
            self.base_rss_bytes = stat.rss_bytes if stat else 0
        self._tell_if_ready()

    def _hear(self) -> None:
        try:
            received = channel.receive_with_pid(self._sock)
        except BlockingIOError:
            return
        except (OSError, ValueError):
            received = None
        if received is None:
            self._lose()
            return
        message, pid = received
        if message["op"] == "ready":
            self.pid, self.scoped = pid, message["scoped"]
            self._fork_missing()
            self._tell_if_ready()
        else:
            self._hear_done(message)

    def _hear_done(self, message: dict[str, Any]) -> None:
        self._close_children()
        on_done, self._on_done = self._on_done, None
        if on_done is None:
            self._lose()  # a waiting child ended by itself
            return
        on_done(Ended(message["ends"], message["cpu_time_s"], message["max_rss_bytes"]))

    def _lose(self) -> None:
        if not self._dead:
            self.destroy()
            self._on_lost()

    def _close_children(self) -> None:
        for link in self.children:
            if link.sock.fileno() >= 0:
                self._reactor.forget(link.sock.fileno())
                link.sock.close()
        self.children.clear()
