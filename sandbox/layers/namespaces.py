"""Namespaces that are entered once, at start, so that no run pays for them."""

from __future__ import annotations

from contextlib import suppress

from sandbox.layers import libc

_NEWNS, _NEWUTS, _NEWIPC, _NEWPID, _NEWNET = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
_MS_REC, _MS_PRIVATE, _MS_BIND, _MS_RDONLY, _MS_REMOUNT = 16384, 1 << 18, 4096, 1, 32
_MS_NOSUID, _MS_NODEV = 2, 4


def enter_mounts() -> None:
    """A mount table of our own, from which nothing spreads; raises `OSError` where that is not allowed."""
    libc.unshare(_NEWNS)
    libc.mount("none", "/", None, _MS_REC | _MS_PRIVATE)


def enter_pids() -> bool:
    """Our next child becomes the first process of a table of its own; all in it end with it."""
    try:
        libc.unshare(_NEWPID)
    except OSError:
        return False
    return True


def enter_rest() -> None:
    """An empty network, host name and IPC of our own, as far as allowed: seccomp refuses them anyway."""
    for flag in (_NEWNET, _NEWIPC, _NEWUTS):
        with suppress(OSError):
            libc.unshare(flag)


def memory_files(path: str, size_bytes: int, entries: int) -> None:
    """A tmpfs at `path`, bounded by the kernel."""
    options = f"size={size_bytes},nr_inodes={entries},mode=0755"
    libc.mount("goldcheck", path, "tmpfs", _MS_NOSUID | _MS_NODEV, options)


def bind_read_only(source: str, target: str) -> None:
    """Show `source` at `target`, which must exist and be of the same kind."""
    libc.mount(source, target, None, _MS_BIND | _MS_REC)
    libc.mount("none", target, None, _MS_BIND | _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | _MS_NODEV)
