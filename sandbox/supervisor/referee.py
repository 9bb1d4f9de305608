"""Answers what programs may not decide alone where the kernel has no bound of its own for it.

Their filter hands these calls over (`layers/notification.py`): starting tasks, where nothing counts those of
one run, and sending signals, where Landlock cannot confine them.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress

from sandbox.layers import procfs
from sandbox.layers.notification import Call, Listener
from sandbox.layers.seccomp import TASK_CALLS
from sandbox.supervisor.reactor import READ, Reactor, Timer

_SETTLE_S = 0.005
"""After so long a task that was granted can be seen. Who asks beyond the bound waits for as long, so that
asking in a loop is no load."""
_LAST_SIGNAL = 64


class Referee:
    """Of one run: all processes beneath `zygote`. listeners: descriptors, one for each of its children."""

    def __init__(self, reactor: Reactor, zygote: int, listeners: Sequence[int], most_tasks: int) -> None:
        self._reactor = reactor
        self._zygote = zygote
        self._most = most_tasks
        self._tasks = len(listeners)
        self._listeners = [Listener(fd) for fd in listeners]
        self._held: list[tuple[Listener, Call]] = []
        self._timer: Timer | None = None
        self._waited_before = procfs.waited_s(os.getpid(), os.getpid())
        for listener in self._listeners:
            reactor.watch(listener.fd, READ, lambda listener=listener: self._hear(listener))  # type: ignore[misc]

    def waited_s(self) -> float:
        """How long whoever asked may have waited because this process, which answers, had no core."""
        return procfs.waited_s(os.getpid(), os.getpid()) - self._waited_before

    def close(self) -> None:
        """Answer nothing more; calls that wait fail."""
        if self._timer is not None:
            self._timer.cancel()
        for listener in self._listeners:
            self._reactor.forget(listener.fd)
            os.close(listener.fd)
        self._listeners.clear()

    def _hear(self, listener: Listener) -> None:
        try:
            call = listener.receive()
        except EOFError:
            self._reactor.forget(listener.fd)
            return
        if call is None:
            return
        if call.name in TASK_CALLS:
            self._start_task(listener, call)
        else:
            self._signal(listener, call)

    def _start_task(self, listener: Listener, call: Call) -> None:
        """Grant it within the bound; at the bound, count again when all that was granted can be seen."""
        if self._tasks < self._most:
            self._grant(listener, call)
            return
        self._held.append((listener, call))
        if self._timer is None:
            self._timer = self._reactor.later(_SETTLE_S, self._count_again)

    def _grant(self, listener: Listener, call: Call) -> None:
        self._tasks += 1
        listener.let_go_on(call)

    def _count_again(self) -> None:
        self._timer = None
        self._tasks = sum(len(procfs.tasks(pid)) or 1 for pid in procfs.descendants(self._zygote))
        held, self._held = self._held, []
        for listener, call in held:
            if self._tasks < self._most:
                self._grant(listener, call)
            else:
                listener.answer(call, errno.EAGAIN)

    def _signal(self, listener: Listener, call: Call) -> None:
        """Signals reach the run alone; nobody else seems to be there."""
        target, signal = _signed(call.arguments[0]), _signed(call.arguments[1])
        if call.name == "kill" and target == -1:
            listener.answer(call, self._signal_all(call.task, signal))
        elif target == 0 or self._reaches(call.name, target):
            listener.let_go_on(call)
        else:
            listener.answer(call, errno.ESRCH)

    def _reaches(self, call: str, target: int) -> bool:
        """A group is named by a child of the zygote: `setsid` and `setpgid` have no effect after its own."""
        if target < 0:
            return call == "kill" and -target in map(
                procfs.inner_number, procfs.children(self._zygote, self._zygote)
            )
        pids = procfs.descendants(self._zygote)
        if call == "tkill":
            return any(target == procfs.inner_number(task) for pid in pids for task in procfs.tasks(pid))
        return any(target == procfs.inner_number(pid) for pid in pids)

    def _signal_all(self, task: int, signal: int) -> int:
        """`kill(-1)`: all of the run but the caller. Returns the error."""
        if not 0 <= signal <= _LAST_SIGNAL:
            return errno.EINVAL
        for pid in procfs.descendants(self._zygote):
            if task not in procfs.tasks(pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal)
        return 0


def _signed(value: int) -> int:
    """An `int` as the kernel sees it in a register."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value
