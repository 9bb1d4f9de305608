"""How many tasks a program's user may have besides those of the run, for the kernel's bound per user."""

from __future__ import annotations

import os
import time

from sandbox.layers import procfs
from sandbox.types import Limits

_FRESH_S = 1.0
_GROWTH = 64
"""What the service itself may start within that time."""


class TaskCount:
    """own_uid: programs have a user of their own. apart: each zygote and its run are counted by themselves,
    in a user namespace. Otherwise the bound is only a backstop behind the supervisor's counting, wide enough
    for what others of that user do at the same time.

    slots: runs that may go on at once on this host.
    """

    def __init__(self, own_uid: bool, apart: bool, slots: int) -> None:
        self._own_uid = own_uid
        self._apart = apart
        self._slots = slots
        self._counted = 0
        self._counted_at = float("-inf")

    def others(self, zygotes: int) -> int:
        """zygotes: how many of them the slot has; nothing else runs as its own user."""
        if self._apart:
            return 1
        if self._own_uid:
            return zygotes
        now = time.monotonic()
        if now - self._counted_at > _FRESH_S:
            self._counted, self._counted_at = procfs.tasks_of_user(os.getuid()), now
        return self._counted + (self._slots - 1) * Limits().processes + _GROWTH
