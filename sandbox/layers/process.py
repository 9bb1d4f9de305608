"""What a process can take away from itself besides files and calls: users, limits, the right to gain any."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from contextlib import suppress

from sandbox.layers import libc

_LAST_CAPABILITY = 63
ALL_CAPABILITIES = (1 << _LAST_CAPABILITY + 1) - 1
_FAR = 64 << 30
"""Address space is no use of memory (RULES R8); this only guards the kernel's own tables."""

OPEN_FILES = 1024
LOOSE = 1 << 32, 1 << 62, 1 << 31
"""For `bound_run`, to lower nothing. Of more seconds the kernel could not count the nanoseconds."""


def become(uid: int) -> None:
    """Become `uid` for good: no groups, no capability, and nothing that could regain one."""
    _shrink_bounding_set()
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    drop_capabilities()


def drop_capabilities() -> None:
    """Have none, for good; for a process that may have some without being root."""
    _shrink_bounding_set()
    libc.prctl(libc.PR_CAP_AMBIENT, libc.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    libc.set_capabilities(0, 0)


def _shrink_bounding_set() -> None:
    for capability in range(_LAST_CAPABILITY + 1):
        if libc.prctl(libc.PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break  # past the kernel's last one, or no CAP_SETPCAP: no_new_privs stands behind it


def lock_privileges() -> None:
    """Execute nothing with more rights than now; required by Landlock and seccomp."""
    libc.set_process(libc.PR_SET_NO_NEW_PRIVS, 1)


def adopt_orphans() -> None:
    """Descendants whose parent died become children of this process.

    Where that is not to be had (gVisor) they still end with their group, which they cannot leave.
    """
    with suppress(OSError):
        libc.set_process(libc.PR_SET_CHILD_SUBREAPER, 1)


def hide() -> None:
    """Nothing of this process can be read or traced by others of its user."""
    libc.set_process(libc.PR_SET_DUMPABLE, 0)


def show() -> None:
    """Undo `hide`, so that the supervisor can measure this process's memory."""
    libc.set_process(libc.PR_SET_DUMPABLE, 1)


def prefer_for_oom() -> None:
    """If the host runs out of memory, it takes this process first."""
    # /proc may be missing or read-only; the memory limit does not depend on it. No pathlib: a zygote would
    # have to load it.
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def bound_all_runs(file_bytes: int) -> None:
    """Resource limits that are the same for every run; set on a zygote, inherited by its children."""
    lower(resource.RLIMIT_AS, _FAR)
    lower(resource.RLIMIT_FSIZE, file_bytes)
    lower(resource.RLIMIT_NOFILE, OPEN_FILES)
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_MEMLOCK, 64 << 10)
    lower(resource.RLIMIT_MSGQUEUE, 0)


def bound_run(cpu_s: int, memory_bytes: int, tasks: int) -> None:
    """Resource limits of one run, on this process and its children. tasks: of the user."""
    lower(resource.RLIMIT_CPU, cpu_s)
    lower(resource.RLIMIT_STACK, memory_bytes)
    lower(resource.RLIMIT_NPROC, tasks)


def lower(kind: int, value: int) -> None:
    """Bring a limit down to `value`, soft and hard; a lower hard limit stays.

    gVisor refuses some: none that a guarantee rests on without the self-test having tried it.
    """
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    try:  # noqa: SIM105 - `suppress` is Python code, and would copy pages in each child
        resource.setrlimit(kind, (value, value))
    except ValueError:
        pass


def succeeds(attempt: Callable[[], None]) -> bool:
    """Whether `attempt` raises no `OSError`, in a process of its own."""
    pid = os.fork()
    if pid == 0:
        try:
            with suppress(OSError):
                attempt()
                os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def raise_soft(kind: int, value: int) -> None:
    """Bring the soft limit to `value`, or as near as the hard limit allows."""
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, hard))
