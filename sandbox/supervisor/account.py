"""What the kernel counts and bounds for a seat: its control group, as one run after another uses it."""

from __future__ import annotations

import os
from contextlib import suppress

from sandbox.layers.cgroup_pool import Pool, Unavailable
from sandbox.layers.cgroups import Group, enter
from sandbox.types import Limits

_TRIED_BYTES = 8 << 20
_TOO_MUCH = 48 << 20
_WORTH_A_LOOK = 4 << 20
"""Page cache is told from memory in use, which takes the kernel longest, where it can be so much more."""
_ZYGOTE_BYTES = 4 << 20
"""Room for what a zygote has of its own, and the kernel for it: one to three megabytes."""
_SLACK_BYTES = 8 << 20


class Account:
    """One run's memory, tasks and CPU time, from `open` on. Zygotes are inside, but wait meanwhile."""

    def __init__(self, group: Group) -> None:
        self.entrances = group.entrances
        self._group = group
        self._bounds = (0, 0)
        self._ooms = 0
        self._before_s = 0.0
        self._left_over = 0
        self._cached = self._looked_at = self._staying = 0

    def bound(self, limits: Limits, children: int, zygotes: int) -> None:
        """A run is next. children: that its zygote forks, if they do not wait already. zygotes: inside.

        Raises `OSError` while more is in use.
        """
        memory_bytes = limits.memory_bytes + zygotes * _ZYGOTE_BYTES
        tasks = max(children, limits.processes) + zygotes
        if (memory_bytes, tasks) != self._bounds:
            self._group.bound_memory(memory_bytes)
            self._group.bound_tasks(tasks)
            self._bounds = memory_bytes, tasks

    def open(self) -> None:
        """A run begins."""
        self._left_over = min(self._left_over, self._group.used_bytes())  # the kernel frees with delay
        self._group.forget_peak()
        self._before_s = self._group.cpu_time_s()
        self._ooms = self._group.ooms()

    def cpu_time_s(self) -> float:
        """Of everything that ran, whoever collected it, and of the zygotes."""
        return self._group.cpu_time_s() - self._before_s

    def peak_bytes(self) -> int | None:
        """Most memory in use at once, without what earlier runs left in the page cache; None if unknown."""
        charged = self._group.peak_bytes()
        if charged is None:
            return None
        peak = max(0, charged - self._left_over)
        if peak < _WORTH_A_LOOK and charged < self._bounds[0] - _WORTH_A_LOOK:
            return peak
        others = self._left_over - self._cached  # near the bound page cache has been given up, but not this
        return max(0, charged - others - self._group.cached_bytes())

    def is_over(self) -> bool:
        """Whether the kernel had to kill for want of memory."""
        return self._group.ooms() > self._ooms

    def settle(self, zygotes: int, is_last_look: bool = False) -> bool:
        """Nothing of the run is left: what is charged now is not the next one's.

        False while that is more than zygotes and page cache, and more than before: the kernel has yet to free
        it. What is there at the last look stays, as names that programs have looked for do.
        """
        self._left_over = self._group.used_bytes()
        if abs(self._left_over - self._looked_at) > _WORTH_A_LOOK:
            self._cached, self._looked_at = self._group.cached_bytes(), self._left_over
        others = self._left_over - self._cached - zygotes * _ZYGOTE_BYTES
        self._staying = others if is_last_look else min(self._staying, max(0, others))
        return others <= self._staying + _SLACK_BYTES


def open_accounts(count: int) -> tuple[list[Account], Pool]:
    """An account for each seat. Raises `Unavailable` unless the bounds are seen to hold here."""
    pool = Pool()
    try:
        groups = [pool.group(str(number)) for number in range(count)]
        _prove(groups[0])
    except OSError as error:
        pool.close()
        raise Unavailable(f"control groups cannot be used: {error}") from error
    except Unavailable:
        pool.close()
        raise
    accounts = [Account(group) for group in groups]
    for account in accounts:
        account.settle(0)
    return accounts, pool


def _prove(group: Group) -> None:
    """A process that takes too much inside must be killed, and could start no other."""
    group.bound_memory(_TRIED_BYTES)
    group.bound_tasks(1)
    pid = os.fork()
    if pid == 0:
        with suppress(BaseException):
            for entrance in group.entrances:
                enter(entrance)
            try:
                os.fork()
            except BlockingIOError:
                bytearray(_TOO_MUCH)[:: 1 << 12] = bytes(_TOO_MUCH >> 12)
        os._exit(1)
    _, status = os.waitpid(pid, 0)
    group.bound_tasks(None)
    if not os.WIFSIGNALED(status) or not group.ooms() or not group.cpu_time_s():
        raise Unavailable("control groups are there, but their bounds do not hold")
