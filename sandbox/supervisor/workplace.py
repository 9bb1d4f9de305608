"""A slot's folder on disk: the work folder of the run at hand and what lies beside it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable

from sandbox.supervisor import folder

_MOST_ENTRIES = 20_000
_SLOW_LOOK_S = 0.25
"""A walk through many files is not repeated more often than this."""
_MANY = 500
_AGAIN_S, _PATIENCE_S = 0.002, 10.0
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


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
        self._parts = ("work", "tmp", "shm") if in_memory else ("work",)  # the first is made anew each time
        self._next_look = 0.0
        for part in self._parts:
            folder.make(f"{path}/{part}", uid)
        empty = os.statvfs(path)
        self._free_when_empty, self._entries_when_empty = empty.f_bfree, empty.f_ffree
        self._folders = [os.open(f"{path}/{part}", _FOLDER) for part in self._parts[1:]]

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
        self,
        remove_slowly: Callable[[str, Callable[[], None]], None],
        later: Callable[[float, Callable[[], None]], object],
        then: Callable[[], None],
    ) -> None:
        """Bring back the empty state, then call `then`. Raises `TimeoutError` if that cannot be had.

        remove_slowly: empties the folders in a folder from a process of its own and calls back; used when
            there is much to remove. later: calls back after so many seconds; used while something is still
            held, as by descriptors that were on their way through a socket.
        """
        give_up = time.monotonic() + _PATIENCE_S

        def go() -> None:
            if self._is_renewed():
                then()
            elif time.monotonic() > give_up:
                raise TimeoutError(f"{self.path} cannot be emptied")
            elif all(folder.is_quick(f"{self.path}/{part}") for part in self._parts):
                if not self._clean():
                    later(_AGAIN_S, go)
                else:
                    go()
            else:
                remove_slowly(self.path, go)

        go()

    def _is_renewed(self) -> bool:
        """Whether nothing is left, which is the common case; then all is as for the first run."""
        try:
            for part in self._parts[1:]:
                os.chmod(f"{self.path}/{part}", 0o700)
                os.utime(f"{self.path}/{part}", (0, 0))
            os.rmdir(f"{self.path}/work")  # whatever was set on it goes with it
            folder.make(f"{self.path}/work", self._uid)
        except OSError:
            return False
        return self._is_free() and all(map(_is_unlocked, self._folders))

    def _is_free(self) -> bool:
        """Whether the file system holds nothing, seen or unseen."""
        if not self._in_memory:
            return True
        state = os.statvfs(self.path)
        return (state.f_bfree, state.f_ffree) == (self._free_when_empty, self._entries_when_empty)

    def _clean(self) -> bool:
        """Remove what can be removed; whether there was anything to remove, and nothing went wrong."""
        self._next_look = 0.0
        found = False
        try:
            for part in self._parts:
                path = f"{self.path}/{part}"
                os.chmod(path, 0o700)
                found |= bool(os.listdir(path))
                folder.empty(path)
        except OSError:
            return False
        return found


def _is_unlocked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(fd, fcntl.LOCK_UN)
    return True
