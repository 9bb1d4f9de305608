"""What modules want done at a fork: left out where a zygote forks, kept for the programs that fork.

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

_held: list[dict[str, Callable[[], Any]]] = []


def _hold(**hooks: Callable[[], Any]) -> None:
    _held.append(hooks)


def hold() -> None:
    """Keep what is registered from here on; to be called before anything is imported that registers."""
    os.register_at_fork = _hold  # type: ignore[assignment]


def release() -> None:
    """In a child that is about to run a program: register all of it, in order."""
    os.register_at_fork = posix.register_at_fork
    for hooks in _held:
        os.register_at_fork(**hooks)
    thread = sys.modules["threading"]._main_thread  # noqa: SLF001
    thread._native_id = os.getpid()  # noqa: SLF001 - the one thing about it that is not as in the zygote
