"""The supervisor's side of a zygote: asks it for children, learns how they ended."""

from __future__ import annotations

import os
import signal
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from sandbox import channel
from sandbox.layers import procfs
from sandbox.supervisor.pipes import Ends, open_pipes
from sandbox.supervisor.reactor import READ, Callback, Reactor
from sandbox.zygote.messages import FORK, KILL, PIPES, READY, Use, unpack_end

_MOST_RUNS = 500
"""A zygote is replaced after so many runs, so that nothing can pile up in it."""


@dataclass(slots=True)
class ChildLink:
    """A forked child. can_take: its job may be sent. is_fenced: it has said that its layers are on.

    ends: ours of its pipes, until a run takes them. listener: where the calls arrive that it hands over, if
    it does.
    """

    sock: socket.socket
    ends: Ends | None
    can_take: bool = False
    is_fenced: bool = False
    listener: int | None = None

    def listen(self) -> int:
        """Hear that it is fenced in; returns its pid. Raises `OSError` when there is nothing to hear."""
        received = channel.receive_with_pid(self.sock)
        if received is None:
            raise ConnectionResetError
        self.can_take = self.is_fenced = True
        _, pid, self.listener = received
        return pid

    def take_ends(self) -> Ends:
        """Our ends of its pipes, from now on the caller's to close."""
        ends, self.ends = self.ends, None
        assert ends is not None, "a child has one run"  # noqa: S101
        return ends

    def close(self) -> None:
        """Let it end, if it still waits."""
        self.sock.close()
        if self.ends is not None:
            self.ends.close()
            self.ends = None
        if self.listener is not None:
            os.close(self.listener)
            self.listener = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A zygote's report on a run. `ends`: exit status, or minus the signal, of each child in order.

    fenced: none of them failed to put its layers on.
    """

    ends: list[int | None]
    use: Use
    fenced: bool


class Zygote:
    """One slot's warm interpreter of one kind. `on_lost` is called once if it goes without being told to."""

    def __init__(
        self, reactor: Reactor, sock: socket.socket, uid: int | None, hands_over: bool, on_lost: Callback
    ) -> None:
        """uid: of its programs. hands_over: no job may be sent before a child has sent its listener."""
        self.pid = 0
        self.scoped = False
        self.base_rss_bytes = 0
        self.children: list[ChildLink] = []
        self._reactor = reactor
        self._sock = sock
        self._uid = uid
        self._hands_over = hands_over
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

    def want_none(self) -> None:
        """Fork no child when it gets ready; see `drop_children` for those that wait."""
        self._wanted, self._on_ready = 0, None

    def want(self, count: int, on_ready: Callback | None = None) -> None:
        """Have `count` children wait for their jobs, which can be sent once `on_ready` is called."""
        self._wanted, self._on_ready = count, on_ready
        self._fork_missing()
        self._tell_if_ready()

    def begin(self, on_done: Callable[[Ended], None]) -> None:
        """The children are about to get their jobs; `on_done` hears how they ended."""
        self._runs += 1
        self._on_done = on_done

    def take_listeners(self) -> list[int]:
        """Of the children that have one; from now on the caller's to close."""
        taken = [link.listener for link in self.children if link.listener is not None]
        for link in self.children:
            link.listener = None
        return taken

    def has_begun(self) -> bool:
        """Whether the children of the run have their layers on, and are about to take their jobs."""
        return all(self._is_fenced(link) for link in self.children)

    def kill(self) -> None:
        """End the run, or drop waiting children; answered by `on_done`."""
        with suppress(OSError):
            self._sock.send(KILL)

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

    def lose(self) -> None:
        """It does not do what it should: end it, and tell."""
        if not self._dead:
            self._destroy()
            self._on_lost()

    def _destroy(self) -> None:
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
            ends, pipes = open_pipes(self._uid)
            link = ChildLink(ours, ends)
            self.children.append(link)
            if self.base_rss_bytes and not self._hands_over:
                link.can_take = True
            else:
                self._reactor.watch(ours.fileno(), READ, lambda link=link: self._hear_child(link))  # type: ignore[misc]
            with theirs, suppress(OSError):
                self._sock.sendmsg([FORK], [channel.pack_fds([theirs.fileno()])])
                ours.sendmsg([PIPES], [channel.pack_fds(pipes)])
            pipes.close()

    def _tell_if_ready(self) -> None:
        ready = len(self.children) >= self._wanted and all(link.can_take for link in self.children)
        if self._on_ready and ready:
            on_ready, self._on_ready = self._on_ready, None
            on_ready()

    def _hear_child(self, link: ChildLink) -> None:
        """A child says that it is fenced in, or is gone before that."""
        try:
            pid = link.listen()
        except BlockingIOError:
            return
        except OSError:
            pid = 0
        self._reactor.forget(link.sock.fileno())
        if not pid:
            return  # the zygote reports its end
        if not self.base_rss_bytes:
            stat = procfs.stat(pid)
            self.base_rss_bytes = stat.rss_bytes if stat else 0
        self._tell_if_ready()

    def _hear(self) -> None:
        try:
            received = channel.receive_with_pid(self._sock)
        except BlockingIOError:
            return
        except OSError:
            received = None
        if received is None:
            self.lose()
            return
        message, pid, _ = received
        if message == READY:
            self.pid = pid
            self._fork_missing()
            self._tell_if_ready()
        else:
            self._hear_end(message)

    def _hear_end(self, message: bytes) -> None:
        on_done, self._on_done = self._on_done, None
        try:
            ends, use = unpack_end(message)
        except struct.error:
            ends, on_done = [], None
        # The end of the first ends the others wherever they are; it must have been fenced itself.
        fenced = all(
            self._is_fenced(link) or (index > 0 and end == -signal.SIGKILL)
            for index, (link, end) in enumerate(zip(self.children, ends, strict=False))
        )
        self._close_children()
        if on_done is None:
            self.lose()  # a waiting child ended by itself
            return
        on_done(Ended(ends, use, fenced))

    @staticmethod
    def _is_fenced(link: ChildLink) -> bool:
        if not link.is_fenced:
            with suppress(OSError):
                link.listen()
        return link.is_fenced

    def _close_children(self) -> None:
        for link in self.children:
            if link.sock.fileno() >= 0:
                self._reactor.forget(link.sock.fileno())
            link.close()
        self.children.clear()
