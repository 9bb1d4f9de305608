"""A slot's folder on disk: the work folder of the run at hand and what lies beside it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from sandbox.supervisor import folder

_MOST_ENTRIES = 20_000
_SLOW_LOOK_S = 0.25
"""A walk through many files is not repeated more often than this."""
_MANY = 500


class Workplace:
    """`path/work`, and where mounting is possible `path/tmp` and `path/shm`.

    uid: owner of what is inside, or None for the service's own user.
    in_memory: `path` is a tmpfs of its own, bounded by the kernel; what lies there is memory (RULES R8).
    """

    def __init__(self, path: str, uid: int | None, disk_bytes: int, in_memory: bool) -> None:
        self.path = path
        self.disk_bytes = disk_bytes
        self.own_uid = uid is not None
        self._uid = uid
        self._in_memory = in_memory
        self._parts = ("work", "tmp", "shm") if in_memory else ("work",)
        self._next_look = 0.0
        for part in self._parts:
            folder.make(f"{path}/{part}", uid)
        empty = os.statvfs(path)
        self._free_when_empty, self._entries_when_empty = empty.f_bfree, empty.f_ffree

    def memory_bytes(self) -> int:
        """Memory taken by files."""
        if not self._in_memory:
            return 0
        state = os.statvfs(self.path)
        return (self._free_when_empty - state.f_bfree) * state.f_frsize

    def look(self) -> str | None:
        """What is wrong with the disk use, if anything. Cheap enough to ask every 20 ms."""
        now = time.monotonic()
        if self._in_memory or now < self._next_look:
            return None
        used, count = folder.size(f"{self.path}/work", _MOST_ENTRIES)
        self._next_look = now + (_SLOW_LOOK_S if count > _MANY else 0)
        if used > self.disk_bytes:
            return f"more than {self.disk_bytes} bytes of files"
        return f"more than {_MOST_ENTRIES} files" if count > _MOST_ENTRIES else None

    def renew(
        self, remove_slowly: Callable[[str, Callable[[], None]], None], then: Callable[[], None]
    ) -> None:
        """Bring back the empty state, then call `then`.

        remove_slowly: empties the folders in a folder from a process of its own and calls back; used when
            there is much to remove.
        """
        if self._is_renewed_at_once():
            then()
        elif all(folder.is_quick(f"{self.path}/{part}") for part in self._parts):
            self._clean()
            then()
        else:

            def emptied() -> None:
                self._clean()
                then()

            remove_slowly(self.path, emptied)

    def _is_renewed_at_once(self) -> bool:
        """The common case: the run has left nothing at all."""
        for part in self._parts[1:]:
            os.chmod(f"{self.path}/{part}", 0o700)
        try:
            self._renew_work()
        except OSError:
            return False
        return not self._in_memory or os.statvfs(self.path).f_ffree == self._entries_when_empty

    def _clean(self) -> None:
        for part in self._parts:
            os.chmod(f"{self.path}/{part}", 0o700)
            folder.empty(f"{self.path}/{part}")
        self._next_look = 0.0
        self._renew_work()

    def _renew_work(self) -> None:
        """A new folder: whatever was set on the old one goes with it. Fails if that is not empty."""
        os.rmdir(f"{self.path}/work")
        folder.make(f"{self.path}/work", self._uid)
