"""Locks that the kernel takes back when their holder ends, however that happens."""

from __future__ import annotations

import fcntl
import os


def lock(path: str, shared: bool = False) -> int | None:
    """Lock the file `path`, made if missing: a descriptor that holds the lock, None if others do."""
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return None
        if os.fstat(fd).st_nlink:
            return fd
        os.close(fd)  # whoever held it has removed it
