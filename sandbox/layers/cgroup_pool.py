"""The groups of one worker: made beneath the service's own, kept for all runs, removed at the end or by the
next start."""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import signal
import time
from contextlib import suppress

from sandbox.layers import cgroups
from sandbox.layers.cgroups import CPU, MEMORY, PIDS, Group, Hierarchy

_PREFIX = "goldcheck-"
_SERVICE = "goldcheck.service"
"""Where version 2 wants the service itself to be: a group with groups in it may hold no process."""
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_EMPTY_S = 2.0


class Unavailable(Exception):  # noqa: N818 - a state of the host
    """Groups cannot be made here; the text says why."""


class Pool:
    """The groups of one worker: `folders` by controller, each locked for as long as this process lives."""

    def __init__(self) -> None:
        """Raises `Unavailable`. What dead workers left behind is removed."""
        self.folders: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self._locks: dict[str, int] = {}
        for hierarchy in cgroups.hierarchies():
            wanted = ({MEMORY, PIDS, CPU} & hierarchy.controllers) - self.folders.keys()
            if wanted:
                self._settle(hierarchy, wanted)
        missing = {MEMORY, PIDS, CPU} - self.folders.keys()
        if missing:
            raise Unavailable(f"no control groups for {', '.join(sorted(missing))} are mounted")

    def _settle(self, hierarchy: Hierarchy, wanted: set[str]) -> None:
        try:
            parent = _parent(hierarchy, wanted - {CPU})
            _sweep(parent, hierarchy.top)
            path, lock = _claim(parent)
            self._locks[path] = lock
            if hierarchy.version == 2:
                _enable(path, wanted - {CPU})
        except OSError as error:
            self.close()
            raise Unavailable(f"no control group of our own: {error}") from error
        for controller in wanted:
            self.folders[controller] = path
            self.versions[controller] = hierarchy.version

    def group(self, name: str) -> Group:
        """A new group `name` in each tree."""
        paths = {controller: f"{parent}/{name}" for controller, parent in self.folders.items()}
        for path in dict.fromkeys(paths.values()):
            os.mkdir(path, 0o755)
        return Group(paths, self.versions)

    def close(self) -> None:
        """Remove all groups; no process may be left in them."""
        for path, lock in self._locks.items():
            with suppress(OSError):
                _remove(path)
            os.close(lock)
        self._locks.clear()


def _parent(hierarchy: Hierarchy, controllers: set[str]) -> str:
    """The folder for our groups: our own group, or the top where that loses no limit."""
    own, top = hierarchy.own, hierarchy.top
    if hierarchy.version == 1 or not controllers:
        return own
    try:
        _enable(own, controllers)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
    else:
        return own
    if own == top or os.stat(own).st_uid == os.geteuid() != 0 or _is_delegated(own):
        _make_room(own)
        _enable(own, controllers)
        return own
    if any(cgroups.lines(f"{path}/memory.max") != ["max"] for path in cgroups.up_to(own, top)):
        raise PermissionError(f"{own} has a memory limit and is not delegated (systemd: Delegate=yes)")
    _enable(top, controllers)
    return top


def _enable(path: str, controllers: set[str]) -> None:
    if controllers:
        cgroups.write(f"{path}/cgroup.subtree_control", " ".join(f"+{name}" for name in sorted(controllers)))


def _is_delegated(path: str) -> bool:
    for name in ("user.delegate", "trusted.delegate"):
        with suppress(OSError):
            if os.getxattr(path, name) == b"1":
                return True
    return False


def _make_room(own: str) -> None:
    """Move every process of our own group into one beneath it."""
    inner = f"{own}/{_SERVICE}"
    with suppress(FileExistsError):
        os.mkdir(inner, 0o755)
    while pids := cgroups.lines(f"{own}/cgroup.procs"):
        for pid in pids:
            with suppress(ProcessLookupError):
                cgroups.write(f"{inner}/cgroup.procs", pid)


def _claim(parent: str) -> tuple[str, int]:
    """Make and lock a folder that no other worker has."""
    for number in itertools.count():
        path = f"{parent}/{_PREFIX}{number}"
        with suppress(FileExistsError):
            os.mkdir(path, 0o755)
            if (lock := _lock(path)) is not None:
                return path, lock
    raise AssertionError


def _lock(path: str) -> int | None:
    """Lock a folder; None if someone else has, or removed it meanwhile."""
    try:
        fd = os.open(path, _OPEN_FOLDER)
    except FileNotFoundError:
        return None
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.stat(path).st_ino == os.fstat(fd).st_ino:
            return fd
    os.close(fd)
    return None


def _sweep(parent: str, top: str) -> None:
    """Remove what workers that are gone have left; they may have been in a group beside ours."""
    above = parent if parent == top else os.path.dirname(parent)
    for place in (
        parent,
        *(entry.path for entry in os.scandir(above) if entry.is_dir(follow_symlinks=False)),
    ):
        with suppress(OSError):  # it may be gone meanwhile, or somebody else's
            for name in os.listdir(place):
                if name.startswith(_PREFIX) and (lock := _lock(f"{place}/{name}")) is not None:
                    try:
                        _remove(f"{place}/{name}")
                    finally:
                        os.close(lock)


def _remove(path: str) -> None:
    """Remove a folder and those in it; whatever still runs there is killed."""
    for name in os.listdir(path):
        if os.path.isdir(f"{path}/{name}"):
            _remove(f"{path}/{name}")
    give_up = time.monotonic() + _EMPTY_S
    while True:
        try:
            os.rmdir(path)
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > give_up:
                raise
            for pid in cgroups.lines(f"{path}/cgroup.procs"):
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.001)
        else:
            return
