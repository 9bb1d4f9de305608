"""One forked child: takes its layers, then its descriptors, then the job, and only then runs it."""

from __future__ import annotations

import gc
import os
import struct
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from sandbox.bare import socket
from sandbox.child import asserts, calls, candidate, native, script, together
from sandbox.layers import process
from sandbox.zygote import probe, warm
from sandbox.zygote.fences import Fences
from sandbox.zygote.finish import finish
from sandbox.zygote.messages import ORDER, READY

_HARNESSES = {
    "script": script.main,
    "calls": calls.main,
    "asserts": asserts.main,
    "candidate": candidate.main,
    "native": native.main,
    "together": together.main,
    "probe": probe.main,
}

CHANNEL_FD, PEER_FD = 3, 4
_PIPES, _PEER = struct.Struct(f"{PEER_FD}i"), struct.Struct("i")
_PIPES_SPACE, _PEER_SPACE = socket.CMSG_SPACE(_PIPES.size), socket.CMSG_SPACE(_PEER.size)
_AT_ONCE = 64 << 10
"""Most jobs come whole with the first look."""


class Child(NamedTuple):
    """A child waiting for its job on the socket behind the descriptor `link`.

    That, and the descriptors that come over it, are none of the first five: see `reserve_fds`.
    """

    link: int
    fences: Fences
    zygote: int

    def run(self) -> NoReturn:
        """Fence this process in, take the job, run it, end."""
        listener = self._enclose()
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, self.link)
        try:
            _say_ready(link, listener)
        except OSError:
            os._exit(0)  # the supervisor no longer wants this child
        _take_pipes(link)
        if not _is_told(link):
            warm.rehearse()
        main, job, peer = _take_job(link)
        gc.enable()
        streams = sys.stdin, sys.stdout, sys.stderr
        error: BaseException | None = None
        try:
            main(job, CHANNEL_FD, peer)
        except BaseException as raised:  # the program's own end, whatever it is
            error = raised
        finish(error, streams)

    def _enclose(self) -> int | None:
        """All that does not depend on the job, so that a waiting child has it already.

        Returns the descriptor for whoever is to answer the calls that are handed over.
        """
        listener = self.fences.handing_over.listen() if self.fences.handing_over else None
        for function, arguments in self.fences.calls:
            answer = function(*arguments)
            if type(answer) is int and answer < 0:
                raise OSError(f"{function} failed")
        if os.getppid() != self.zygote:  # it ended before it could have taken this child along
            os._exit(0)
        return listener


def _say_ready(link: Any, listener: int | None) -> None:
    if listener is None:
        link.send(READY)
        return
    link.sendmsg([READY], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", listener))])
    os.close(listener)


def _take_pipes(link: Any) -> None:
    """Put the pipes in place; close every other descriptor but the link."""
    told, passed, _, _ = link.recvmsg(1, _PIPES_SPACE)
    if not told:
        os._exit(0)
    for target, fd in enumerate(_PIPES.unpack(passed[0][2])):
        os.dup2(fd, target, target < CHANNEL_FD)
    own = link.fileno()
    os.closerange(PEER_FD, own)
    os.closerange(own + 1, process.OPEN_FILES)


def _is_told(link: Any) -> bool:
    """Whether the job, or that there will be none, is there already."""
    try:
        link.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    return True


def _take_job(link: Any) -> tuple[Callable[[bytes, int, int | None], None], bytes, int | None]:
    """Harness and job from the supervisor, and a descriptor for those that have a peer."""
    job, passed, _, _ = link.recvmsg(_AT_ONCE, _PEER_SPACE)
    if not job:
        os._exit(0)
    harness, cpu_s, memory_bytes, tasks, size = ORDER.unpack_from(job)
    job = job[ORDER.size :]
    if len(job) < size:
        job += _read(link, size - len(job))
    os.close(link.detach())
    peer = None
    if passed:
        peer = PEER_FD
        (fd,) = _PEER.unpack(passed[0][2])
        if fd != peer:
            os.dup2(fd, peer, False)
            os.close(fd)
    process.bound_run(cpu_s, memory_bytes, tasks)
    return _HARNESSES[harness.rstrip(b"\0").decode()], job, peer


def _read(link: Any, size: int) -> bytes:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        got = link.recv_into(view)
        if not got:
            os._exit(0)
        view = view[got:]
    return bytes(data)


def reserve_fds() -> None:
    """In a zygote: leave the numbers that programs know to nothing else."""
    while (fd := os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)) <= PEER_FD:
        pass
    os.close(fd)
