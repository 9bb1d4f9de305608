"""Slots: how many runs go on at once on this host, whichever worker they belong to."""

from __future__ import annotations

import fcntl
import os


class Slots:
    """Locked files in a folder shared by all workers; the kernel frees what a dead worker held."""

    def __init__(self, folder: str, count: int) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._files = [os.open(f"{folder}/{number}", flags, 0o600) for number in range(count)]
        self._held: set[int] = set()

    def take(self) -> int | None:
        """Lock a free slot; None when every one is taken."""
        for number, fd in enumerate(self._files):
            if number not in self._held:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                self._held.add(number)
                return number
        return None

    def release(self, number: int) -> None:
        """Unlock a slot."""
        self._held.remove(number)
        fcntl.flock(self._files[number], fcntl.LOCK_UN)
