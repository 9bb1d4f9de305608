"""What modules want done at a fork: left out where a zygote forks, done when a program does.

`threading` and `random` register functions that bring their locks, threads and seeds in order in a new
process. A zygote has one thread, no lock held and seeds every child itself, so in its forks they would only
touch, and so copy, shared pages: two thirds of all that a bare fork copies.
"""

from __future__ import annotations

import os
import posix
import sys
from collections.abc import Callable
from typing import Any

_released: list[bool] = []
"""Not empty in a process that runs a program."""


def hold() -> None:
    """Leave out what is registered from here on; to be called before anything is imported that registers."""
    os.register_at_fork = _register  # type: ignore[assignment]


def release() -> None:
    """In a child that is about to run a program: from here on everything is done."""
    _released.append(True)
    os.register_at_fork = posix.register_at_fork
    thread = sys.modules["threading"]._main_thread  # noqa: SLF001
    thread._native_id = os.getpid()  # noqa: SLF001 - the one thing about it that is not as in the zygote


def _register(**hooks: Callable[[], Any]) -> None:
    posix.register_at_fork(**{moment: _in_programs(hook) for moment, hook in hooks.items()})


def _in_programs(hook: Callable[[], Any]) -> Callable[[], None]:
    def act() -> None:
        if _released:
            hook()

    return act
