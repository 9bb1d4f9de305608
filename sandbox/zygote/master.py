"""The process all zygotes are forked from. Started with exec, so it holds nothing but what it imported."""

from __future__ import annotations

import os
import signal
import socket
import sys
from typing import Any

from sandbox import channel
from sandbox.layers import libc, process
from sandbox.zygote import warm
from sandbox.zygote.slot import SlotZygote

_USUAL_STACK = 8 << 20


class Master:
    """Forks zygotes on the supervisor's orders. `plan`: see `supervisor/plan.py`."""

    def __init__(self, control: socket.socket, plan: dict[str, Any]) -> None:
        self._control = control
        self._plan = plan

    def serve(self) -> SlotZygote:
        """Serve until the supervisor goes; returns only in a forked zygote."""
        while (received := channel.receive(self._control)) is not None:
            message, fds = received
            if os.fork():
                for fd in fds:
                    os.close(fd)
            elif message["op"] == "zygote":
                return self._zygote(message, fds[0])
            elif message["op"] == "sweep":
                _sweep(message["uid"])
            else:
                self._specialize(message, fds[0])
        os._exit(0)

    def _zygote(self, message: dict[str, Any], control: int) -> SlotZygote:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._control.close()
        return SlotZygote(socket.socket(fileno=control), self._plan, message["uid"], message["folder"])

    def _specialize(self, message: dict[str, Any], control: int) -> None:
        """Become a master of another kind."""
        self._control.close()
        self._control = socket.socket(fileno=control)
        warm.add(message["modules"])
        warm.settle()
        channel.send(self._control, {"op": "warm"})


def _sweep(uid: int) -> None:
    """End every process of a slot's own user: a zygote was lost, and what it forked may live on."""
    process.become(uid)
    try:
        os.kill(-1, signal.SIGKILL)
    finally:
        os._exit(0)


def main(control_fd: int) -> None:
    """Entry point: the interpreter runs nothing else."""
    control = socket.socket(fileno=control_fd)
    first = channel.receive(control)
    if first is None:
        return
    plan = first[0]
    process.prefer_for_oom()
    process.hide()
    process.adopt_orphans()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans need no one to collect them
    libc.set_default_thread_stack(_USUAL_STACK)
    sys.path.append(plan["packages"])
    warm.prepare(plan["package_root"])
    warm.settle()
    channel.send(control, {"op": "warm"})
    master = Master(control, plan)
    child = master.serve().serve()
    del master, control, plan, first
    child.run()
