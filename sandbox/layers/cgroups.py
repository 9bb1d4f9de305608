"""Control groups: the kernel bounds the memory and the tasks of a whole tree and counts its CPU time.

Version 2 first; version 1 for controllers that version 2 does not have on this host. Groups are made beneath
the service's own, so that limits set on the service hold for programs as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

MEMORY, PIDS, CPU = "memory", "pids", "cpuacct"


class Hierarchy(NamedTuple):
    """A mounted tree of groups. own: the folder of the group that this process is in, `top`: the mount's."""

    version: int
    controllers: frozenset[str]
    own: str
    top: str


def hierarchies() -> list[Hierarchy]:
    """All that are mounted and show our own group; version 2 first."""
    paths: dict[str, str] = {}
    for line in lines("/proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        paths |= dict.fromkeys(controllers.split(","), path)
    found: dict[str, Hierarchy] = {}
    for line in lines("/proc/self/mountinfo"):
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
    offered = frozenset(word for line in lines(f"{own}/cgroup.controllers") for word in line.split())
    return Hierarchy(2, offered | {CPU}, own, top)  # cpu.stat is there without a controller


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


def memory_room() -> int:
    """Bytes that our processes can still take before a limit on our group, or the host's memory, is reached.

    Page cache counts as free.
    """
    rooms = [_host_room()]
    for hierarchy in hierarchies():
        if MEMORY in hierarchy.controllers:
            names = _NAMES[hierarchy.version]
            for path in (*up_to(hierarchy.own, hierarchy.top), hierarchy.top):
                limit, used = lines(f"{path}/{names['limit']}"), lines(f"{path}/{names['used']}")
                if limit and used and limit != ["max"]:
                    rooms.append(int(limit[0]) - int(used[0]) + _cached(lines(f"{path}/memory.stat")))
    return max(0, min(rooms))


def _host_room() -> int:
    for line in lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _cached(stat: Iterable[str]) -> int:
    """Page cache by `memory.stat`, of either version, without shared memory."""
    sizes = {name: int(value) for name, _, value in (line.partition(" ") for line in stat)}
    for cache, shared in (("total_cache", "total_shmem"), ("file", "shmem")):
        if cache in sizes:
            return sizes[cache] - sizes.get(shared, 0)
    return 0


class Group:
    """One group, the same in every tree that is used. Its files stay open: a look costs a microsecond."""

    def __init__(self, paths: Mapping[str, str], versions: Mapping[str, int]) -> None:
        """Folder and version by controller."""
        self.entrances = tuple(f"{path}/cgroup.procs" for path in dict.fromkeys(paths.values()))
        """A process that has entered each is inside, and so is all that it starts."""
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
            with suppress(FileNotFoundError):  # no swap on this host
                write(self._swap, "0")

    def bound_memory(self, memory_bytes: int) -> None:
        """Bound that of all processes inside together."""
        if self._version == 1:  # memory and swap together may never be less than memory
            with suppress(OSError):
                write(self._swap, "-1")
        os.pwrite(self._limit, b"%d" % memory_bytes, 0)
        if self._version == 1:
            with suppress(OSError):  # not counted here; then there is mostly no swap
                write(self._swap, str(memory_bytes))

    def bound_tasks(self, most: int | None) -> None:
        """Bound how many threads and processes there are inside; None for not at all."""
        os.pwrite(self._tasks, b"max" if most is None else b"%d" % most, 0)

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

    def peak_bytes(self) -> int | None:
        """Most memory charged since `forget_peak`; None where the kernel cannot forget."""
        return int(os.pread(self._peak, 32, 0)) if self._peak is not None else None

    def cached_bytes(self) -> int:
        """Page cache of files: given up before anything is killed, and so no use of memory."""
        return _cached(os.pread(self._stat, 16 << 10, 0).decode().splitlines())

    def ooms(self) -> int:
        """How many processes inside were killed for want of memory."""
        for line in os.pread(self._ooms, 512, 0).splitlines():
            name, _, value = line.partition(b" ")
            if name == b"oom_kill":
                return int(value)
        return 0


def enter(entrance: str) -> None:
    """Move this process, and what it will start; entrance: one of `Group.entrances`."""
    write(entrance, "0")


def up_to(path: str, top: str) -> Iterator[str]:
    """Folders from `path` up to but without `top`."""
    while path != top:
        yield path
        path = os.path.dirname(path)


def _open(path: str, flags: int = os.O_RDONLY) -> int:
    return os.open(path, flags | os.O_CLOEXEC)


def _open_peak(path: str) -> int | None:
    """Some kernels do not note the most memory used, or cannot forget it."""
    with suppress(OSError):
        return _open(path, os.O_RDWR)
    return None


def write(path: str, text: str) -> None:
    """In one call, as these files want it."""
    fd = _open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def lines(path: str) -> list[str]:
    """Of a file; none if it cannot be read."""
    with suppress(OSError), open(path) as file:
        return file.read().splitlines()
    return []
