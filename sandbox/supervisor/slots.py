"""Slots: how many runs go on at once on this host, and how much memory they may take together, whichever
worker they belong to."""

from __future__ import annotations

import fcntl
import os


class Slots:
    """Locked files in a folder shared by all workers; the kernel frees what a dead worker held.

    A file says how many bytes its run may use. memory_bytes: what all runs together may; None if they cannot
    reach it.
    """

    def __init__(self, folder: str, count: int, memory_bytes: int | None) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._files = [os.open(f"{folder}/{number}", flags, 0o600) for number in range(count)]
        self._turn = os.open(f"{folder}/turn", flags, 0o600)
        self._memory_bytes = memory_bytes
        self._held: dict[int, int] = {}

    def take(self, need_bytes: int) -> int | None:
        """Lock a free slot; None when every one is taken, or when memory is short for one more run.

        A run that needs more than there is gets its slot when no other goes on.
        """
        for number, fd in enumerate(self._files):
            if number not in self._held and _try_lock(fd):
                if not self._reserve(number, need_bytes):
                    fcntl.flock(fd, fcntl.LOCK_UN)
                    return None
                self._held[number] = need_bytes
                return number
        return None

    def release(self, number: int) -> None:
        """Unlock a slot."""
        del self._held[number]
        fcntl.flock(self._files[number], fcntl.LOCK_UN)

    def _reserve(self, number: int, need_bytes: int) -> bool:
        """Note the need of a run on slot `number`, unless all together would take too much."""
        if self._memory_bytes is None:
            self._note(number, need_bytes)
            return True
        fcntl.flock(self._turn, fcntl.LOCK_EX)
        try:
            taken = sum(self._taken(other) for other in range(len(self._files)) if other != number)
            if taken and taken + need_bytes > self._memory_bytes:
                return False
            self._note(number, need_bytes)
            return True
        finally:
            fcntl.flock(self._turn, fcntl.LOCK_UN)

    def _note(self, number: int, need_bytes: int) -> None:
        os.pwrite(self._files[number], b"%20d" % need_bytes, 0)

    def _taken(self, number: int) -> int:
        """What the run on another slot may take; nothing if there is none."""
        if number in self._held:
            return self._held[number]
        fd = self._files[number]
        if _try_lock(fd):
            fcntl.flock(fd, fcntl.LOCK_UN)
            return 0
        return int(os.pread(fd, 20, 0) or 0)


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
