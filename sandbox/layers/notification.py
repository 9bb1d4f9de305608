"""System calls that wait for an answer from outside: seccomp user notification.

An answer may only rest on the numbers of a call: what they point to could change after it was looked at.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import struct
from contextlib import suppress
from typing import NamedTuple

from sandbox.layers import process, seccomp
from sandbox.layers.numbers import NUMBERS

_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_RECV, SECCOMP_IOCTL_NOTIF_SEND
_ASKED = struct.Struct("<QIIiIQ6Q")  # struct seccomp_notif
_ANSWER = struct.Struct("<QqiI")  # struct seccomp_notif_resp
_GO_ON = 1  # SECCOMP_USER_NOTIF_FLAG_CONTINUE


class Call(NamedTuple):
    """A call that waits. task: the caller's number as seen from here. name: of the call."""

    id: int
    task: int
    name: str
    arguments: tuple[int, ...]


class Listener:
    """Our end of a filter that hands calls over."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._names = {number: name for name, number in NUMBERS[os.uname().machine].items()}
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)

    def receive(self) -> Call | None:
        """The next call, None if there is none now. Raises `EOFError` when nobody is left who could call."""
        ready = self._poll.poll(0)
        if not ready:
            return None
        if not ready[0][1] & select.POLLIN:
            raise EOFError
        asked = bytearray(_ASKED.size)
        try:
            fcntl.ioctl(self.fd, _RECEIVE, asked)
        except FileNotFoundError:  # the caller has been killed meanwhile
            return None
        number, task, _, call, _, _, *arguments = _ASKED.unpack(asked)
        return Call(number, task, self._names[call], tuple(arguments))

    def let_go_on(self, call: Call) -> None:
        """The kernel carries the call out."""
        self._answer(_ANSWER.pack(call.id, 0, 0, _GO_ON))

    def answer(self, call: Call, error: int) -> None:
        """The call is not carried out; it fails with `error`, or seems to have succeeded if that is 0."""
        self._answer(_ANSWER.pack(call.id, 0, -error, 0))

    def _answer(self, answer: bytes) -> None:
        with suppress(FileNotFoundError):  # the caller is gone
            fcntl.ioctl(self.fd, _SEND, answer)


def works() -> bool:
    """Whether calls can be handed over and answered here, found by doing it."""

    def attempt() -> None:
        machine = seccomp.supported_machine()
        if machine is None:
            raise OSError(errno.ENOSYS, "no system call table")
        process.lock_privileges()
        listener = Listener(seccomp.Filter(seccomp.handing_over(machine, ["kill"])).listen())
        asking = os.fork()
        if asking == 0:
            try:
                os.kill(os.getpid(), 0)
            except BlockingIOError:
                os._exit(0)
            os._exit(1)
        while (call := listener.receive()) is None:
            select.select([listener.fd], [], [])
        listener.answer(call, errno.EAGAIN)
        if os.waitpid(asking, 0)[1]:
            raise OSError(errno.EINVAL, "the answer did not arrive")

    return process.succeeds(attempt)
