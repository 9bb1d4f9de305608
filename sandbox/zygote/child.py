"""One forked child: takes its layers, then its descriptors, then the job, and only then runs it."""

from __future__ import annotations

import fcntl
import gc
import importlib
import json
import os
import random
import socket
import struct
import sys
from dataclasses import dataclass
from typing import Any, NoReturn

from sandbox.child import asserts, calls, candidate, native, script, together
from sandbox.layers import cgroups, landlock, libc, process
from sandbox.layers.seccomp import Filter
from sandbox.zygote import at_fork, probe, warm
from sandbox.zygote.finish import finish

PREFIX = struct.Struct("<II")
"""Ahead of a job: bytes of its JSON orders, bytes of the job itself."""

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
_FIRST_FREE = 16
_CLOSE_RANGE = 436


@dataclass(frozen=True, slots=True)
class Fences:
    """What a zygote has ready for its children.

    work: path of the work folder. entrances: descriptors to enter the seat's control group.
    own_uid: programs have a user of their own. version: of Landlock, 0 for none.
    writable: descriptors of other places that a program may write to. rules: of every child alike, where
    the work folder needs none of its own. filter: still to be put on.
    """

    work: str
    entrances: tuple[int, ...]
    own_uid: bool
    version: int
    writable: tuple[int, ...]
    rules: landlock.Ruleset | None
    filter: Filter | None


@dataclass(slots=True)
class Child:
    """A child waiting for its job on `link`."""

    link: socket.socket
    fences: Fences
    zygote: int

    def run(self) -> NoReturn:
        """Fence this process in, take the job, run it, end."""
        self._enclose()
        warm.rehearse()
        try:
            self.link.send(b"{}")
        except OSError:
            os._exit(0)  # the supervisor no longer wants this child
        orders, job, peer = self._take_job()
        random.seed(0)
        if "numpy.random" in sys.modules:
            sys.modules["numpy.random"].seed(0)
        gc.enable()
        main = _HARNESSES[orders["harness"]]
        streams = sys.stdin, sys.stdout, sys.stderr
        error: BaseException | None = None
        try:
            main(job, CHANNEL_FD, peer)
        except BaseException as raised:  # the program's own end, whatever it is
            error = raised
        finish(error, streams)

    def _enclose(self) -> None:
        """All that does not depend on the job, so that a waiting child has it already."""
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
        if self.fences.filter:
            self.fences.filter.apply()

    def _take_job(self) -> tuple[dict[str, str], bytes, int | None]:
        """Orders and job from the supervisor; wires the descriptors and closes every other."""
        prefix, fds, _, _ = socket.recv_fds(self.link, PREFIX.size, 8)
        if not prefix:
            os._exit(0)
        prefix += self._read(PREFIX.size - len(prefix))
        orders_size, job_size = PREFIX.unpack(prefix)
        orders = json.loads(self._read(orders_size))
        job = self._read(job_size)
        fds = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE) for fd in fds]
        for target, fd in enumerate(fds):
            os.dup2(fd, target, inheritable=target <= 2)
        self.link.detach()
        close_from(len(fds))
        process.Bounds(**orders["bounds"]).apply()
        return orders, job, PEER_FD if len(fds) > PEER_FD else None

    def _read(self, size: int) -> bytes:
        data = bytearray(size)
        view = memoryview(data)
        while view:
            got = self.link.recv_into(view)
            if not got:
                os._exit(0)
            view = view[got:]
        return bytes(data)


def close_from(first: int) -> None:
    """Close every descriptor from `first` on."""
    if libc.syscall(_CLOSE_RANGE, first, 0xFFFFFFFF, 0) < 0:
        os.closerange(first, process.OPEN_FILES)
