"""Namespaces that are entered once, at start, so that no run pays for them."""

from __future__ import annotations

import os
import resource
from contextlib import suppress

from sandbox.bare import signal
from sandbox.layers import libc, process

_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER = 0x20000, 0x4000000, 0x8000000, 0x10000000
_NEWPID, _NEWNET = 0x20000000, 0x40000000
_MS_REC, _MS_PRIVATE, _MS_BIND, _MS_RDONLY, _MS_REMOUNT = 16384, 1 << 18, 4096, 1, 32
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_SYS_ADMIN = 21


def enter_user() -> None:
    """A user namespace in which we are who we were, with every capability there and none outside.

    Raises `OSError` where that is not allowed. Not for root, who may do all of this as it is.
    """
    uid, gid = os.getuid(), os.getgid()
    process.show()  # /proc/self belongs to root otherwise
    try:
        libc.unshare(_NEWUSER)
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    finally:
        process.hide()


def may_enter_user() -> bool:
    """Whether `enter_user` works here and gives the right to mount, found by a process that tries."""

    def attempt() -> None:
        enter_user()
        enter_mounts()

    return process.succeeds(attempt)


def keep_mounting() -> None:
    """Interpreters that we start may mount in our namespaces, as a user that is not root."""
    libc.set_capabilities(process.ALL_CAPABILITIES, 1 << _SYS_ADMIN)
    libc.check(libc.prctl(libc.PR_CAP_AMBIENT, libc.PR_CAP_AMBIENT_RAISE, _SYS_ADMIN, 0, 0), "ambient")


def counts_tasks() -> bool:
    """Whether RLIMIT_NPROC counts a user anew in each user namespace (Linux 5.14), found by trying."""

    def attempt() -> None:
        enter_user()
        resource.setrlimit(resource.RLIMIT_NPROC, (2, 2))
        first = os.fork()
        if first == 0:
            signal.pause()
        try:
            os.fork()
        except BlockingIOError:
            return
        finally:
            os.kill(first, signal.SIGKILL)
        raise OSError("not counted")

    return process.succeeds(attempt)


def enter_mounts() -> None:
    """A mount table of our own, from which nothing spreads; raises `OSError` where that is not allowed."""
    libc.unshare(_NEWNS)
    libc.mount("none", "/", None, _MS_REC | _MS_PRIVATE)


def may_show_processes() -> bool:
    """Whether a process table of one's own can be had and be seen; some containers forbid a new /proc."""

    def attempt() -> None:
        libc.unshare(_NEWPID)
        if os.fork() == 0:
            os._exit(0 if process.succeeds(show_processes) else 1)
        if os.wait()[1]:
            raise OSError("no /proc")

    return process.succeeds(attempt)


def enter_pids() -> None:
    """Our next child becomes the first process of a table of its own; all in it end with it."""
    libc.unshare(_NEWPID)


def show_processes() -> None:
    """Show the process table that this process is in, in a mount table of its own."""
    libc.unshare(_NEWNS)
    libc.mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)


def enter_rest() -> None:
    """A mount table, an empty network, host name and IPC of our own; but the first, as far as allowed."""
    libc.unshare(_NEWNS)
    for flag in (_NEWNET, _NEWIPC, _NEWUTS):
        with suppress(OSError):  # seccomp refuses what they would keep apart
            libc.unshare(flag)


def memory_files(path: str, size_bytes: int, entries: int) -> None:
    """A tmpfs at `path`, bounded by the kernel."""
    options = f"size={size_bytes},nr_inodes={entries},mode=0755"
    libc.mount("goldcheck", path, "tmpfs", _MS_NOSUID | _MS_NODEV, options)


def bind(source: str, target: str) -> None:
    """Show `source` at `target`, which must exist and be of the same kind."""
    libc.mount(source, target, None, _MS_BIND)


def bind_read_only(source: str, target: str) -> None:
    """As `bind`, with all that is mounted beneath it, for reading only."""
    libc.mount(source, target, None, _MS_BIND | _MS_REC)
    libc.mount("none", target, None, _MS_BIND | _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | _MS_NODEV)
