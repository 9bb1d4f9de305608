"""What a run uses right now, read from /proc: CPU time, memory, tasks, and how long it waited for a core."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PROCESS_CLOCK = 2  # CPUCLOCK_SCHED of a whole process: the kernel's clock id is (~pid << 3) | 2


@dataclass(slots=True)
class Sample:
    """Sums over the processes of a run; `rss_bytes` counts shared pages once per process."""

    cpu_time_s: float = 0.0
    rss_bytes: int = 0
    processes: list[int] = field(default_factory=list)
    tasks: int = 0
    waited_s: float = 0.0


class Meter:
    """Measures the descendants of `zygote`, all of which belong to the run at hand.

    base_rss_bytes: what a child that has done nothing has resident; shared with the zygote.
    """

    def __init__(self, zygote: int, base_rss_bytes: int) -> None:
        self._zygote = zygote
        self._base = base_rss_bytes
        self._collected_before = self._collected()

    def sample(self) -> Sample:
        """Look at every process of the run once."""
        sample = Sample(cpu_time_s=self._collected() - self._collected_before)
        longest_wait = own_cpu = 0.0
        pending = _children(self._zygote, self._zygote)
        while pending:
            pid = pending.pop()
            stat = _stat(pid)
            if stat is None:
                continue
            cpu = _cpu_time_s(pid, stat)
            sample.processes.append(pid)
            sample.cpu_time_s += cpu + (int(stat[13]) + int(stat[14])) / _TICKS
            sample.rss_bytes += max(0, int(stat[21]) * _PAGE - self._base)
            threads = int(stat[17])
            sample.tasks += threads
            for task in _tasks(pid) if threads > 1 else (pid,):
                pending += _children(pid, task)
                waited = _waited_s(pid, task)
                if waited > longest_wait:
                    longest_wait, own_cpu = waited, cpu if threads == 1 else 0.0
        # While one task waits, at worst the others of the run have its core: only the rest is the host's
        # doing.
        sample.waited_s = max(0.0, longest_wait - (sample.cpu_time_s - own_cpu))
        return sample

    def _collected(self) -> float:
        """CPU time of orphans that the zygote has already collected."""
        stat = _stat(self._zygote)
        return (int(stat[13]) + int(stat[14])) / _TICKS if stat else 0.0


def rss_bytes(pid: int) -> int:
    """Resident memory of `pid`, shared pages included; 0 if it is gone."""
    stat = _stat(pid)
    return int(stat[21]) * _PAGE if stat else 0


def proportional_bytes(pids: list[int]) -> tuple[int, int] | None:
    """Memory of `pids` with each shared page divided among its users: (private and file, shared memory).

    None when the kernel does not let us look.
    """
    other = shared = 0
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        except OSError:
            return None
        sizes = {key: int(rest.split()[0]) << 10 for key, _, rest in _pss_lines(text)}
        shared += sizes.get("Pss_Shmem", 0)
        other += sizes.get("Pss", 0) - sizes.get("Pss_Shmem", 0)
    return other, shared


def _pss_lines(text: str) -> list[tuple[str, str, str]]:
    return [line.partition(":") for line in text.splitlines() if line.startswith("Pss")]


def _stat(pid: int) -> list[str] | None:
    """Fields of /proc/PID/stat from the state on (index 0 is field 3 of proc(5))."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # several times per 20 ms
            return file.read().decode("latin-1").rsplit(") ", 1)[1].split()
    except (OSError, IndexError):
        return None


def _cpu_time_s(pid: int, stat: list[str]) -> float:
    """Of one process and its threads; to the nanosecond while it lives."""
    try:
        return time.clock_gettime((~pid << 3) | _PROCESS_CLOCK)
    except OSError:
        return (int(stat[11]) + int(stat[12])) / _TICKS


def _tasks(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _children(pid: int, task: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{task}/children", "rb", buffering=0) as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


def _waited_s(pid: int, task: int) -> float:
    """How long `task` was ready to run but had no core."""
    try:
        with open(f"/proc/{pid}/task/{task}/schedstat", "rb", buffering=0) as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0
