"""A slot's zygote: forks the children of one run, sees to it that nothing of them outlives the run.

It ends when the supervisor does, told by the end of its socket, and only after the run. It must not die
with its
parent: whatever the run had forked would live on.
"""

from __future__ import annotations

import gc
import os
import select
import struct
import time
from collections.abc import Callable
from typing import Any

from sandbox.bare import signal, socket
from sandbox.layers import cgroups, landlock, libc, namespaces, process
from sandbox.zygote import fences, mounts, shared_memory
from sandbox.zygote.child import Child, reserve_fds
from sandbox.zygote.fences import Fences
from sandbox.zygote.messages import KILL, READY, Use, pack_end

_FD = struct.Struct("i")
_FD_SPACE = socket.CMSG_SPACE(_FD.size)
_SIGNAL_BYTES = 128
_FORK_TRIES, _FORK_AGAIN_S = 50, 0.002
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")


class _Run:
    """The run at hand: pids of its children in order, how each ended, what all of its processes used."""

    __slots__ = ("children", "cpu_time_s", "ends", "max_rss_bytes")

    def __init__(self) -> None:
        self.children: list[int] = []
        self.ends: dict[int, int] = {}
        self.cpu_time_s = 0.0
        self.max_rss_bytes = 0


class SlotZygote:
    """Serves one slot. `plan` is the supervisor's, see `supervisor/plan.py`."""

    def __init__(
        self,
        control: Any,
        plan: dict[str, Any],
        uid: int | None,
        folder: str,
        entrances: list[str],
    ) -> None:
        self._control = control
        self._plan = plan
        self._uid = uid
        self._folder = folder
        for path in entrances:  # for good, and before anything is forked: moving a process is slow
            cgroups.enter(path)
        self._pid = os.getpid()
        self._control_fd = control.fileno()
        self._scoped = False
        self._run: _Run | None = None
        self._reported_s = 0.0

    def serve(self) -> Child:
        """Serve until the supervisor goes; returns only in a forked child."""
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        ended = libc.signal_fd(signal.SIGCHLD)
        ready = self._enclose()
        reserve_fds()
        self._control.send(READY)
        gc.freeze()
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(ended, select.POLLIN)
        while True:
            for fd, _ in poll.poll():
                if fd == ended:
                    os.read(ended, _SIGNAL_BYTES)
                    self._reap()
                elif (child := self._obey(ready)) is not None:
                    return child

    def _enclose(self) -> Fences:
        """Take this zygote's own layers; every child adds its own inside them."""
        plan, version = self._plan, self._plan["landlock"]
        master = os.getppid()
        private = mounts.make_private(plan["box"], self._folder) if plan["mounts"] else ()
        if "/dev/shm" not in private:  # noqa: S108 - asked about, not used
            shared_memory.keep_in_work_folder()
        home = plan["box"] if plan["mounts"] else self._folder
        os.environ["HOME"] = os.environ["TMPDIR"] = f"{home}/work"
        process.adopt_orphans()
        os.setsid()  # a share of the processor of its own, where the kernel groups by session
        if self._uid is not None:
            process.become(self._uid)
        elif plan["own_user"]:
            if plan["counts_tasks"]:
                namespaces.enter_user()  # whose tasks are counted apart from everyone else's
            process.drop_capabilities()
        process.hide()
        process.lock_privileges()
        writable = tuple(os.open(path, os.O_PATH | os.O_CLOEXEC) for path in (*private, *_DEVICES))
        if version:
            rules = landlock.Ruleset(version, landlock.all_rights(version))
            rules.grant_paths(plan["readable"], landlock.READ)
            rules.grant_paths([home], landlock.all_rights(version))
            for fd in writable:
                rules.grant(fd, landlock.all_rights(version))
            rules.apply()
            rules.close()
        self._scoped = version >= landlock.SCOPES_ABI and _cannot_signal(master)
        process.bound_all_runs(plan["disk_bytes"])
        work = f"{home}/work"
        return fences.for_children(plan, work, writable, own_uid=self._uid is not None, scoped=self._scoped)

    def _obey(self, ready: Fences) -> Child | None:
        """One order of the supervisor's."""
        try:
            message, passed, _, _ = self._control.recvmsg(1, _FD_SPACE, socket.MSG_CMSG_CLOEXEC)
        except ConnectionResetError:
            message = b""
        if not message:  # the supervisor is gone
            self._end_everything()
            os._exit(0)
        if message == KILL:
            self._end_everything()
            return None
        (link,) = _FD.unpack(passed[0][2])
        child = Child(link, ready, self._pid)
        pid = _fork()
        if pid == 0:
            os.close(self._control_fd)
            return child
        os.close(link)
        if self._run is None:
            self._run = _Run()
        self._run.children.append(pid)  # one may have been waiting already
        return None

    def _reap(self) -> None:
        """Collect whoever has ended; the end of the first child ends the run."""
        run = self._run
        while run is not None:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None:
                return
            if ended.si_pid == run.children[0]:
                self._end_everything()
                return
            self._collect(run, ended.si_pid)

    def _end_everything(self) -> None:
        """Kill every process of the run, collect them all and report.

        The first child is still a zombie here, so its group's number cannot have been given to anyone else.
        No process can have left the group: setsid and setpgid have no effect. Inside a signal scope kill(-1)
        reaches exactly the run.
        """
        run, self._run = self._run, None
        if run is None:
            return
        if self._scoped:
            _ignoring_absence(os.kill, -1)
        else:
            for pid in run.children:
                _ignoring_absence(os.killpg, pid)
                _ignoring_absence(os.kill, pid)  # it may not have made its group yet
        while True:
            try:
                self._collect(run, -1)
            except ChildProcessError:
                break
        ends = [run.ends.get(pid) for pid in run.children]
        used_s, self._reported_s = time.process_time() - self._reported_s, time.process_time()
        try:
            self._control.send(pack_end(ends, Use(run.cpu_time_s, used_s, run.max_rss_bytes)))
        except OSError:
            os._exit(0)

    def _collect(self, run: _Run, pid: int) -> None:
        pid, status, usage = os.wait4(pid, 0)
        run.ends[pid] = os.waitstatus_to_exitcode(status)
        run.cpu_time_s += usage.ru_utime + usage.ru_stime
        run.max_rss_bytes = max(run.max_rss_bytes, usage.ru_maxrss << 10)


def _fork() -> int:
    """Fork, also while a zygote whose place this one takes still counts as a task of the seat."""
    for _ in range(_FORK_TRIES):
        try:
            return os.fork()
        except BlockingIOError:
            time.sleep(_FORK_AGAIN_S)
    return os.fork()


def _cannot_signal(pid: int) -> bool:
    """Whether `pid`, outside of this zygote's domain, is out of its reach."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    return False


def _ignoring_absence(kill: Callable[[int, int], None], target: int) -> None:
    try:  # noqa: SIM105 - `suppress` is Python code, and would copy pages after each fork
        kill(target, signal.SIGKILL)
    except ProcessLookupError:
        pass
