"""UUIDv7 (RFC 9562): ids that sort by time, made cheaply."""

from __future__ import annotations

import os
import random
import time

_VARIANT = 0b10 << 62
_RANDOM_BITS = 61  # of the 62 after the variant: the top one is room to count up


class IdMaker:
    """Makes the ids of one process: each greater than the one before, no two alike between processes."""

    def __init__(self) -> None:
        self._random_bits = random.Random(os.urandom(32)).getrandbits  # noqa: S311 - unique, not secret
        self.milliseconds = 0
        """Unix time in milliseconds inside the latest id."""
        self._prefix = ""
        self._tail = 0

    def __call__(self) -> str:
        """The next id, as text."""
        now = time.time_ns() // 1_000_000
        if now > self.milliseconds:
            self.milliseconds = now
            self._tail = _VARIANT | self._random_bits(_RANDOM_BITS)
            self._prefix = f"{now >> 16:08x}-{now & 0xFFFF:04x}-7{self._random_bits(12):03x}-"
        else:
            self._tail += 1 + self._random_bits(32)
        tail = f"{self._tail:x}"
        return f"{self._prefix}{tail[:4]}-{tail[4:]}"
