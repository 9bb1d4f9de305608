"""The process all zygotes are forked from. Started with exec, so it holds nothing but what it imported."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sandbox import channel
from sandbox.bare import signal, socket
from sandbox.environment import FOR_LOADER
from sandbox.layers import libc, namespaces, process, procfs
from sandbox.zygote import warm
from sandbox.zygote.child import reserve_fds
from sandbox.zygote.messages import SWEPT
from sandbox.zygote.slot import SlotZygote

_USUAL_STACK = 8 << 20
_SWEEP_S = 2.0


class Master:
    """Forks zygotes on the supervisor's orders. `plan`: see `supervisor/plan.py`."""

    def __init__(self, control: Any, plan: dict[str, Any]) -> None:
        self._control = control
        self._plan = plan
        self._zygotes: set[int] = set()

    def serve(self) -> SlotZygote:
        """Serve until the supervisor goes; returns only in a forked zygote."""
        while (received := channel.receive(self._control)) is not None:
            message, fds = received
            if message["op"] == "sweep":
                self._sweep(message["lost"], message["uid"])
                self._control.send(SWEPT)
            elif pid := os.fork():
                self._zygotes.add(pid)
                for fd in fds:
                    os.close(fd)
            elif message["op"] == "zygote":
                return self._zygote(message, fds[0])
            else:
                self._specialize(message, fds[0])
        if not self._plan["own_pids"]:  # else the end of the first master ends everything
            self._outlive_zygotes()
        os._exit(0)

    def _zygote(self, message: dict[str, Any], control: int) -> SlotZygote:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._control.close()
        return SlotZygote(
            socket.socket(fileno=control),
            self._plan,
            message["uid"],
            message["folder"],
            message["entrances"],
        )

    def _specialize(self, message: dict[str, Any], control: int) -> None:
        """Become a master of another kind."""
        self._control.close()
        self._control = socket.socket(fileno=control)
        warm.add(message["modules"])
        warm.settle()
        channel.send(self._control, {"op": "warm"})

    def _sweep(self, lost: int, uid: int | None) -> None:
        """A zygote was lost; what it forked may live on, as our children now."""
        self._zygotes.discard(lost)
        if uid is not None:
            _kill_all_of(uid)
        else:
            _kill_until_gone(lambda: _own_children() - self._zygotes)

    def _outlive_zygotes(self) -> None:
        """Zygotes end their runs and then themselves; what is left after that is ended here."""
        give_up = time.monotonic() + _SWEEP_S
        while _own_children() & self._zygotes and time.monotonic() < give_up:
            time.sleep(0.005)
        _kill_until_gone(_own_children)


def _own_children() -> set[int]:
    return set(procfs.children(os.getpid(), os.getpid()))


def _kill_until_gone(targets: Callable[[], set[int]]) -> None:
    """Kill children until there are none; each that is killed may leave us its own."""
    give_up = time.monotonic() + _SWEEP_S
    while (pids := targets()) and time.monotonic() < give_up:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)  # the stopped cannot fork while the others are dealt with
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def _kill_all_of(uid: int) -> None:
    pid = os.fork()
    if pid == 0:
        process.become(uid)
        try:
            _kill_everything(uid)
        finally:
            os._exit(0)
    with suppress(ChildProcessError):  # SIGCHLD is ignored: this only waits, so that no later zygote is hit
        os.waitpid(pid, 0)


def _kill_everything(uid: int) -> None:
    """All of this user, until there is nothing: what is being killed may still be writing."""
    give_up = time.monotonic() + _SWEEP_S
    with suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
        while procfs.others_of_user(uid) and time.monotonic() < give_up:
            time.sleep(0.001)
            os.kill(-1, signal.SIGKILL)


def main(control_fd: int) -> None:
    """Entry point: the interpreter runs nothing else."""
    for name in FOR_LOADER:
        del os.environ[name]
    reserve_fds()
    control = socket.socket(fileno=control_fd)
    first = channel.receive(control)
    if first is None:
        return
    plan = first[0]
    if plan["own_pids"]:
        namespaces.show_processes()
    process.prefer_for_oom()
    process.hide()
    process.adopt_orphans()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans need no one to collect them
    libc.set_default_thread_stack(_USUAL_STACK)
    warm.prepare(plan["package_root"])
    warm.settle()
    channel.send(control, {"op": "warm"})
    master = Master(control, plan)
    zygote = master.serve()
    zygote.serve().run()  # nothing is let go in between: a child would copy what it frees
