"""Control groups: the kernel bounds the memory and the tasks of a whole tree and counts its CPU time.

Version 2 first; version 1 for controllers that version 2 does not have on this host. Groups are made beneath
the service's own, so that limits set on the service hold for programs as well.
"""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

MEMORY, PIDS, CPU = "memory", "pids", "cpuacct"
_PREFIX = "goldcheck-"
_SERVICE = "goldcheck.service"
"""Where version 2 wants the service itself to be: a group with groups in it may hold no process."""
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_EMPTY_S = 2.0


class Unavailable(Exception):  # noqa: N818 - a state of the host
    """Groups cannot be made here; the text says why."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A mounted tree of groups. own: the folder of the group that this process is in, `top`: the mount's."""

    version: int
    controllers: frozenset[str]
    own: str
    top: str


def hierarchies() -> list[Hierarchy]:
    """All that are mounted and show our own group; version 2 first."""
    paths: dict[str, str] = {}
    for line in _lines("/proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        paths |= dict.fromkeys(controllers.split(","), path)
    found: dict[str, Hierarchy] = {}
    for line in _lines("/proc/self/mountinfo"):
        place, _, source = line.partition(" - ")
        root, top = place.split()[3:5]
        kind, _, options = source.split(" ", 2)
        named = {"cgroup2": {""}, "cgroup": paths.keys() & options.split(",")}.get(kind, set())
        for path in {paths[name] for name in named if name in paths}:
            own = os.path.normpath(f"{top}/{os.path.relpath(path, root)}")
            if os.path.isdir(own) and "/.." not in path:
                found[own] = _hierarchy(kind, frozenset(named), own, top)
    return sorted(found.values(), key=lambda one: -one.version)


def _hierarchy(kind: str, named: frozenset[str], own: str, top: str) -> Hierarchy:
    if kind == "cgroup":
        return Hierarchy(1, named, own, top)
    offered = frozenset(word for line in _lines(f"{own}/cgroup.controllers") for word in line.split())
    return Hierarchy(2, offered | {CPU}, own, top)  # cpu.stat is there without a controller


class Pool:
    """The groups of one worker: `folders` by controller, each locked for as long as this process lives."""

    def __init__(self) -> None:
        """Raises `Unavailable`. What dead workers left behind is removed."""
        self.folders: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self._locks: dict[str, int] = {}
        for hierarchy in hierarchies():
            wanted = ({MEMORY, PIDS, CPU} & hierarchy.controllers) - self.folders.keys()
            if wanted:
                self._settle(hierarchy, wanted)
        missing = {MEMORY, PIDS, CPU} - self.folders.keys()
        if missing:
            raise Unavailable(f"no control groups for {', '.join(sorted(missing))} are mounted")

    def _settle(self, hierarchy: Hierarchy, wanted: set[str]) -> None:
        try:
            parent = _parent(hierarchy, wanted - {CPU})
            _sweep(parent)
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
        return Group(name, self.folders, self.versions)

    def close(self) -> None:
        """Remove all groups; no process may be left in them."""
        for path, lock in self._locks.items():
            with suppress(OSError):
                _remove(path)
            os.close(lock)
        self._locks.clear()


_NAMES = {
    1: {
        "limit": "memory.limit_in_bytes",
        "with swap": "memory.memsw.limit_in_bytes",
        "used": "memory.usage_in_bytes",
        "peak": "memory.max_usage_in_bytes",
        "ooms": "memory.oom_control",
    },
    2: {
        "limit": "memory.max",
        "with swap": "memory.swap.max",
        "used": "memory.current",
        "peak": "memory.peak",
        "ooms": "memory.events",
    },
}


class Group:
    """One group, the same in every tree that is used. Its files stay open: a look costs a microsecond."""

    def __init__(self, name: str, parents: dict[str, str], versions: dict[str, int]) -> None:
        paths = {controller: f"{parent}/{name}" for controller, parent in parents.items()}
        self.entrances = tuple(f"{path}/cgroup.procs" for path in dict.fromkeys(paths.values()))
        """A process that writes `0` to each is inside, and so is all that it starts."""
        for path in dict.fromkeys(paths.values()):
            os.mkdir(path, 0o755)
        self._version = versions[MEMORY]
        names = _NAMES[self._version]
        memory = paths[MEMORY]
        self._limit = _open(f"{memory}/{names['limit']}", os.O_WRONLY)
        self._used = _open(f"{memory}/{names['used']}")
        self._ooms = _open(f"{memory}/{names['ooms']}")
        self._stat = _open(f"{memory}/memory.stat")
        self._peak = _open_peak(f"{memory}/{names['peak']}")
        self._swap = f"{memory}/{names['with swap']}"
        self._tasks = _open(f"{paths[PIDS]}/pids.max", os.O_WRONLY)
        cpu = {1: "cpuacct.usage", 2: "cpu.stat"}[versions[CPU]]
        self._cpu = _open(f"{paths[CPU]}/{cpu}")
        self._cpu_unit = {1: 1e-9, 2: 1e-6}[versions[CPU]]
        if self._version == 2:
            _write(f"{memory}/memory.oom.group", "1")
            with suppress(FileNotFoundError):  # no swap on this host
                _write(self._swap, "0")

    def bound(self, memory_bytes: int, tasks: int) -> None:
        """Bounds on all processes inside together."""
        if self._version == 1:  # memory and swap together may never be less than memory
            with suppress(OSError):
                _write(self._swap, "-1")
        os.pwrite(self._limit, b"%d" % memory_bytes, 0)
        if self._version == 1:
            with suppress(OSError):  # not counted here; then there is mostly no swap
                _write(self._swap, str(memory_bytes))
        os.pwrite(self._tasks, b"%d" % tasks, 0)

    def cpu_time_s(self) -> float:
        """CPU time of all that was ever inside."""
        text = os.pread(self._cpu, 256, 0)
        return int(text.split(None, 2)[1] if self._cpu_unit == 1e-6 else text) * self._cpu_unit

    def used_bytes(self) -> int:
        """Memory charged to the group now, the page cache of files that it read included."""
        return int(os.pread(self._used, 32, 0))

    def forget_peak(self) -> None:
        """Begin anew to note the most memory used."""
        if self._peak is not None:
            os.pwrite(self._peak, b"0", 0)

    def peak_bytes(self) -> int:
        """Most memory charged since `forget_peak`; what is charged now, where the kernel cannot forget."""
        return int(os.pread(self._peak, 32, 0)) if self._peak is not None else self.used_bytes()

    def cached_bytes(self) -> int:
        """Page cache of files: given up before anything is killed, and so no use of memory."""
        found = dict(line.split() for line in os.pread(self._stat, 16 << 10, 0).splitlines())
        cache, shared = (b"total_cache", b"total_shmem") if self._version == 1 else (b"file", b"shmem")
        return int(found[cache]) - int(found.get(shared, 0))

    def ooms(self) -> int:
        """How many processes inside were killed for want of memory."""
        for line in os.pread(self._ooms, 512, 0).splitlines():
            name, _, value = line.partition(b" ")
            if name == b"oom_kill":
                return int(value)
        return 0


def enter(entrances: Iterable[int]) -> None:
    """Move this process; entrances: descriptors of `Group.entrances`, opened by whoever may write there."""
    for fd in entrances:
        os.write(fd, b"0")


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
    if any(_lines(f"{path}/memory.max") != ["max"] for path in _up_to(own, top)):
        raise PermissionError(f"{own} has a memory limit and is not delegated (systemd: Delegate=yes)")
    _enable(top, controllers)
    return top


def _enable(path: str, controllers: set[str]) -> None:
    if controllers:
        _write(f"{path}/cgroup.subtree_control", " ".join(f"+{name}" for name in sorted(controllers)))


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
    while pids := _lines(f"{own}/cgroup.procs"):
        for pid in pids:
            with suppress(ProcessLookupError):
                _write(f"{inner}/cgroup.procs", pid)


def _up_to(path: str, top: str) -> Iterator[str]:
    while path != top:
        yield path
        path = os.path.dirname(path)


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


def _sweep(parent: str) -> None:
    """Remove what workers that are gone have left."""
    for name in os.listdir(parent):
        path = f"{parent}/{name}"
        if name.startswith(_PREFIX) and (lock := _lock(path)) is not None:
            try:
                _remove(path)
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
            for pid in _lines(f"{path}/cgroup.procs"):
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.001)
        else:
            return


def _open(path: str, flags: int = os.O_RDONLY) -> int:
    return os.open(path, flags | os.O_CLOEXEC)


def _open_peak(path: str) -> int | None:
    """Some kernels do not note the most memory used, or cannot forget it."""
    with suppress(OSError):
        return _open(path, os.O_RDWR)
    return None


def _write(path: str, text: str) -> None:
    fd = _open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _lines(path: str) -> list[str]:
    with suppress(OSError), open(path) as file:
        return file.read().splitlines()
    return []
