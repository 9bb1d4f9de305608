"""Starts the master interpreters, one per kind, and asks them for zygotes."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from sandbox import channel
from sandbox.config import FLAGS
from sandbox.environment import FOR_LOADER, environment
from sandbox.supervisor.placement import Placed, library_path
from sandbox.supervisor.reactor import READ, Callback, Reactor
from sandbox.supervisor.zygotes import Zygote
from sandbox.zygote.messages import SWEPT

_BOOT = (
    "import sys; sys.path.append(sys.argv[2]); from sandbox.zygote import at_fork; at_fork.hold(); "
    "from sandbox.zygote.master import main; main(int(sys.argv[1]))"
)


_END_S = 5.0


class Masters:
    """All masters come from the first, which must be the first child of this process (`enter_pids`).

    modules: kind -> what its zygotes have imported besides. on_lost: the first master is gone, and all with
    it.
    """

    def __init__(
        self,
        reactor: Reactor,
        placed: Placed,
        plan: Mapping[str, Any],
        modules: Mapping[str, list[str]],
        on_lost: Callback,
    ) -> None:
        self._reactor = reactor
        self._modules = modules
        self._on_lost = on_lost
        self._hands_over = bool(plan["handed_over"])
        self._controls: dict[str, socket.socket] = {}
        self._sweeps: deque[Callback] = deque()
        self._process = self._start(placed, plan)

    def zygote(
        self, kind: str, uid: int | None, folder: str, entrances: Sequence[str], on_lost: Callback
    ) -> Zygote:
        """A new zygote of `kind` for the slot whose folder is `folder`; entrances: of its control group."""
        ours, theirs = channel.pair()
        with theirs:
            order = {"op": "zygote", "uid": uid, "folder": folder, "entrances": list(entrances)}
            self._tell(kind, order, [theirs.fileno()])
        return Zygote(self._reactor, ours, uid, self._hands_over, on_lost)

    def sweep(self, lost: int, uid: int | None, on_swept: Callback) -> None:
        """End what the zygote with pid `lost` has left behind: all of user `uid`, or all that nobody owns.

        on_swept: called when nothing of it is left.
        """
        self._sweeps.append(on_swept)
        self._tell("lean", {"op": "sweep", "lost": lost, "uid": uid})

    def close(self) -> None:
        """End all masters, and so all zygotes."""
        for control in self._controls.values():
            self._reactor.forget(control.fileno())
            control.close()
        try:
            self._process.wait(_END_S)  # it goes last, after its zygotes and their runs
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def _start(self, placed: Placed, plan: Mapping[str, Any]) -> subprocess.Popen[bytes]:
        ours, theirs = channel.pair()
        with theirs:
            arguments = [str(theirs.fileno()), plan["package_root"]]
            master = subprocess.Popen(
                [placed.executable, *FLAGS, "-c", _BOOT, *arguments],
                env=environment(f"{plan['box']}/work", placed.packages) | library_path(placed) | FOR_LOADER,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._watch("lean", ours)
        self._tell("lean", dict(plan))
        return master

    def _tell(self, kind: str, order: dict[str, Any], fds: list[int] | None = None) -> None:
        """Send an order to the master of `kind`. One that is gone gets none: `_hear` sees to that."""
        if kind not in self._controls and kind != "lean":
            ours, theirs = channel.pair()
            with theirs:
                special = {"op": "master", "modules": self._modules.get(kind, [])}
                self._tell("lean", special, [theirs.fileno()])
            self._watch(kind, ours)
        control = self._controls.get(kind)
        if control is not None:
            with suppress(OSError):
                channel.send(control, order, fds or [])

    def _watch(self, kind: str, control: socket.socket) -> None:
        self._controls[kind] = control
        self._reactor.watch(control.fileno(), READ, lambda: self._hear(kind, control))

    def _hear(self, kind: str, control: socket.socket) -> None:
        """A master says that it is warm, or has swept; or it is gone."""
        try:
            if (received := channel.receive_with_pid(control)) is not None:
                if received[0] == SWEPT:
                    self._sweeps.popleft()()
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self._reactor.forget(control.fileno())
        control.close()
        del self._controls[kind]
        if kind == "lean":
            self._on_lost()
