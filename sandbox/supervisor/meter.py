"""What a run uses right now: CPU time, memory, tasks, and how long it waited for a core."""

from __future__ import annotations

from dataclasses import dataclass, field

from sandbox.layers import procfs
from sandbox.supervisor.account import Account


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
    account: its CPU time is exact, and no load is hidden from it.
    """

    def __init__(self, zygote: int, base_rss_bytes: int, account: Account | None) -> None:
        self._zygote = zygote
        self._base = base_rss_bytes
        self._account = account
        self._collected_before = self._collected()
        self._hides_load = False
        self._waited_before: dict[int, float] = {}
        for pid in procfs.children(zygote, zygote):
            self._waited_before[pid] = procfs.waited_s(pid, pid)

    def sample(self, most_tasks: int) -> Sample:
        """Look at every process of the run once, but not at many more than `most_tasks`."""
        sample = Sample(cpu_time_s=self._collected() - self._collected_before)
        longest_wait = own_cpu = 0.0
        pending = procfs.children(self._zygote, self._zygote)
        while pending and sample.tasks <= most_tasks:
            pid = pending.pop()
            stat = procfs.stat(pid)
            if stat is None:
                continue
            cpu = procfs.cpu_time_s(pid) or stat.cpu_s
            sample.processes.append(pid)
            sample.cpu_time_s += cpu + stat.children_cpu_s
            sample.rss_bytes += max(0, stat.rss_bytes - self._base)
            sample.tasks += stat.threads
            self._hides_load |= stat.hides_children and self._account is None
            for task in procfs.tasks(pid) if stat.threads > 1 else (pid,):
                pending += procfs.children(pid, task)
                waited = procfs.waited_s(pid, task) - self._waited_before.get(task, 0.0)
                if waited > longest_wait:
                    longest_wait, own_cpu = waited, cpu if stat.threads == 1 else 0.0
        if self._account is not None:
            sample.cpu_time_s = self._account.cpu_time_s()
        # While one task waits, at worst the others of the run have its core: only the rest is the host's
        # doing. Where the load of others may be hidden, none can be told to be.
        others_cpu = sample.cpu_time_s - own_cpu
        sample.waited_s = 0.0 if self._hides_load else max(0.0, longest_wait - others_cpu)
        return sample

    def _collected(self) -> float:
        """CPU time of orphans that the zygote has already collected."""
        stat = procfs.stat(self._zygote)
        return stat.children_cpu_s if stat else 0.0
