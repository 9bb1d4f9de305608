"""What /proc tells about processes. Every answer may be out of date; a process that is gone gives an empty
one."""

from __future__ import annotations

import functools
import os
import time
from contextlib import suppress

from sandbox.bare import signal

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PROCESS_CLOCK = 2  # CPUCLOCK_SCHED of a whole process: the kernel's clock id is (~pid << 3) | 2


class Stat:
    """The fields of /proc/PID/stat that matter here."""

    __slots__ = ("children_cpu_s", "cpu_s", "hides_children", "parent", "rss_bytes", "threads")

    def __init__(self, fields: list[str]) -> None:
        """fields: from the state on, so index 0 is field 3 of proc(5)."""
        self.parent = int(fields[1])
        self.cpu_s = (int(fields[11]) + int(fields[12])) / _TICKS
        self.children_cpu_s = (int(fields[13]) + int(fields[14])) / _TICKS
        self.threads = int(fields[17])
        self.rss_bytes = int(fields[21]) * _PAGE
        self.hides_children = bool(int(fields[30]) >> (signal.SIGCHLD - 1) & 1)
        """It ignores SIGCHLD: the CPU time of children that end is in nobody's account."""


def stat(pid: int) -> Stat | None:
    """Of a process, None if it is gone."""
    text = _read(f"/proc/{pid}/stat").rpartition(") ")[2]
    return Stat(text.split()) if text else None


def cpu_time_s(pid: int) -> float | None:
    """CPU time of a live process and its threads, to the nanosecond; None if it is gone."""
    try:
        return time.clock_gettime((~pid << 3) | _PROCESS_CLOCK)
    except OSError:
        return None


def tasks(pid: int) -> list[int]:
    """Threads of a process."""
    with suppress(OSError):
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    return []


def children(pid: int, task: int) -> list[int]:
    """Processes whose parent is this thread of `pid`."""
    if _lists_children():
        return [int(child) for child in _read(f"/proc/{pid}/task/{task}/children").split()]
    return _children_by_parent(pid) if pid == task else []


def descendants(pid: int) -> list[int]:
    """All processes beneath `pid`."""
    found: list[int] = []
    pending = children(pid, pid)
    while pending:
        one = pending.pop()
        found.append(one)
        for task in tasks(one):
            pending += children(one, task)
    return found


def inner_number(task: int) -> int:
    """The number of a process or thread in the innermost process table that it is in; 0 if it is gone."""
    for line in _read(f"/proc/{task}/status").splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    return 0


def waited_s(pid: int, task: int) -> float:
    """How long a thread was ready to run but had no core."""
    fields = _read(f"/proc/{pid}/task/{task}/schedstat").split()
    return int(fields[1]) / 1e9 if len(fields) > 1 else 0.0


def proportional_bytes(pids: list[int]) -> tuple[int, int] | None:
    """Memory of `pids` with each shared page divided among its users: (all else, shared memory).

    None when the kernel does not let us look.
    """
    other = shared = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as file:
                lines = file.read().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        except OSError:
            return None
        sizes = {
            name: int(rest.split()[0]) << 10 for name, _, rest in map(_cut, lines) if name.startswith("Pss")
        }
        shared += sizes.get("Pss_Shmem", 0)
        other += sizes.get("Pss", 0) - sizes.get("Pss_Shmem", 0)
    return other, shared


def tasks_of_user(uid: int) -> int:
    """How many tasks a user has on this host, as far as /proc shows them."""
    count = 0
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                found = stat(int(name))
                count += found.threads if found else 0
    return count


def others_of_user(uid: int) -> bool:
    """Whether a user has a process besides this one; hidden ones count too, as far as /proc shows them."""
    marks = (f"\nUid:\t{uid}\t", f"\nPid:\t{os.getpid()}\n")
    for name in os.listdir("/proc"):
        if name.isdigit():
            status = _read(f"/proc/{name}/status")
            if marks[0] in status and marks[1] not in status:
                return True
    return False


def _cut(line: str) -> tuple[str, str, str]:
    return line.partition(":")


def _read(path: str) -> str:
    with suppress(OSError), open(path, "rb", buffering=0) as file:
        return file.read().decode("latin-1")
    return ""


@functools.cache
def _lists_children() -> bool:
    """Some kernels are built without CONFIG_PROC_CHILDREN."""
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children") or not os.path.exists("/proc/self")


def _children_by_parent(parent: int) -> list[int]:
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if (found := stat(pid)) is not None and found.parent == parent]
