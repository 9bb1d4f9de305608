"""One forked child: takes its layers, then its descriptors, then the job, and only then runs it."""

from __future__ import annotations

import gc
import importlib
import os
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from sandbox.child import asserts, calls, candidate, native, script, together
from sandbox.layers import cgroups, landlock, process
from sandbox.layers.seccomp import Filter, own_signals_only
from sandbox.zygote import at_fork, probe, warm
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

_signal: Any = importlib.import_module("_signal")
"""`signal` without its enumerations, which cost more than what they are for."""

CHANNEL_FD, PEER_FD = 3, 4
_MOST_FDS = PEER_FD + 1
_FDS_SPACE = socket.CMSG_SPACE(4 * _MOST_FDS)
_AT_ONCE = 64 << 10
"""Most jobs come whole with the first look."""


@dataclass(frozen=True, slots=True)
class Fences:
    """What a zygote has ready for its children.

    work: path of the work folder. entrances: descriptors to enter the seat's control group.
    own_uid: programs have a user of their own. version: of Landlock, 0 for none.
    writable: descriptors of other places that a program may write to. rules: of every child alike, where
    the work folder needs none of its own. filter: still to be put on. handing_over: a filter whose calls the
    supervisor answers. own_signals_only: no signals to anybody else, descendants included.
    """

    work: str
    entrances: tuple[int, ...]
    own_uid: bool
    version: int
    writable: tuple[int, ...]
    rules: landlock.Ruleset | None
    filter: Filter | None
    handing_over: Filter | None
    own_signals_only: bool


@dataclass(slots=True)
class Child:
    """A child waiting for its job on `link`, a socket that the zygote has made for it.

    Its descriptors, and those that come with the job, are none of the first five: see `reserve_fds`.
    """

    link: Any
    fences: Fences
    zygote: int
    waits: bool
    """Whether there is time before the job comes."""

    def run(self) -> NoReturn:
        """Fence this process in, take the job, run it, end."""
        listener = self._enclose()
        if self.waits:
            warm.rehearse()
        try:
            self._say_ready(listener)
        except OSError:
            os._exit(0)  # the supervisor no longer wants this child
        main, job, peer = self._take_job()
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
        cgroups.enter(self.fences.entrances)
        _signal.set_wakeup_fd(-1)
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
        at_fork.release()
        process.die_with_parent(self.zygote)
        if not self.fences.own_uid:
            process.show()
        os.setsid()
        os.chdir(self.fences.work)
        if self.fences.rules:
            self.fences.rules.apply()
        elif version := self.fences.version:
            rules = landlock.Ruleset(version, landlock.writing(version))
            rules.grant_paths([self.fences.work], landlock.all_rights(version))
            for fd in self.fences.writable:
                rules.grant(fd, landlock.all_rights(version))
            rules.apply()
            rules.close()
        listener = self.fences.handing_over.listen() if self.fences.handing_over else None
        if self.fences.own_signals_only:
            Filter(own_signals_only(os.uname().machine, os.getpid())).apply()
        if self.fences.filter:
            self.fences.filter.apply()
        return listener

    def _say_ready(self, listener: int | None) -> None:
        if listener is None:
            self.link.send(READY)
            return
        self.link.sendmsg([READY], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", listener))])
        os.close(listener)

    def _take_job(self) -> tuple[Callable[[bytes, int, int | None], None], bytes, int | None]:
        """Harness and job from the supervisor; wires the descriptors and closes every other."""
        job, passed, _, _ = self.link.recvmsg(_AT_ONCE, _FDS_SPACE)
        if not job:
            os._exit(0)
        harness, cpu_s, memory_bytes, tasks, size = ORDER.unpack_from(job)
        job = job[ORDER.size :]
        if len(job) < size:
            job += self._read(size - len(job))
        count = len(passed[0][2]) // 4
        for target, fd in enumerate(struct.unpack(f"{count}i", passed[0][2])):
            os.dup2(fd, target, target <= 2)
        self.link.detach()
        os.closerange(count, process.OPEN_FILES)
        process.bound_run(cpu_s, memory_bytes, tasks)
        return _HARNESSES[harness.rstrip(b"\0").decode()], job, PEER_FD if count > PEER_FD else None

    def _read(self, size: int) -> bytes:
        data = bytearray(size)
        view = memoryview(data)
        while view:
            got = self.link.recv_into(view)
            if not got:
                os._exit(0)
            view = view[got:]
        return bytes(data)


def reserve_fds() -> None:
    """In a zygote: leave the numbers that programs know to nothing else."""
    while (fd := os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)) < _MOST_FDS:
        pass
    os.close(fd)
