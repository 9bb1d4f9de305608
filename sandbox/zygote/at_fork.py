"""What modules want done at a fork: left out where a zygote forks, done when a program does.

`threading` and `random` register functions that bring their locks, threads and seeds in order in a new
process. A zygote has one thread, no lock held and seeds every child itself, so in its forks they would only
touch, and so copy, shared pages: two thirds of all that a bare fork copies.
"""

from __future__ import annotations

import functools
import os
import posix
from collections.abc import Callable
from typing import Any

_held: list[dict[str, Callable[[], Any]]] = []


def hold() -> None:
    """Hold back what is registered from here on; to be called before anything is imported that registers."""
    os.register_at_fork = _hold  # type: ignore[assignment]


def _hold(**hooks: Callable[[], Any]) -> None:
    _held.append(hooks)


def end_hold() -> None:
    """Programs find the real function in place."""
    os.register_at_fork = posix.register_at_fork


def registering() -> list[Callable[[], None]]:
    """Calls that register what was held back, for a child that is about to run a program."""
    return [functools.partial(posix.register_at_fork, **hooks) for hooks in _held]
