"""Where the new objects of children lie: together, instead of in holes between those of the zygote.

Python takes memory for small objects from pools, one kind of pool for each size, and fills holes first. Each
hole that a child fills is a page to be copied.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

_POOL_BYTES, _POOL_HEAD_BYTES = 16 << 10, 48
_LARGEST, _STEP = 512, 16
"""Sizes of small objects. Where a Python has others this fills a few objects more or less."""
_OWN_BYTES = 33
"""Of a string of bytes."""
_MOST_BYTES = 64 << 10
_fillers: list[Any] = []


def fill_holes() -> None:
    """Take what is free between things in use, so that whatever comes next begins something new."""
    numbers = itertools.count(1 << 20)
    _fill_pools(_STEP, object)
    _fill_pools(2 * _STEP, lambda: next(numbers))
    for size in range(3 * _STEP, _LARGEST + 1, _STEP):
        _fill_pools(size, lambda size=size: bytes(size - _OWN_BYTES))  # type: ignore[misc]


def _fill_pools(size: int, make: Callable[[], Any]) -> None:
    """With objects of one size, until one is the first in its pool."""
    for _ in range(_MOST_BYTES // size):
        filler = make()
        _fillers.append(filler)
        if id(filler) % _POOL_BYTES == _POOL_HEAD_BYTES:
            return
