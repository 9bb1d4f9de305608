"""What the supervisor, a zygote and its children tell each other: short binary messages.

A zygote and a child copy a page for nearly everything that they do, and JSON does much.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

ORDER = struct.Struct("<16sIQIQ")
"""Ahead of a job: name of its harness, the bounds of `process.bound_run`, bytes of the job."""

PIPES = b"p"
"""To a child, with its ends of its four pipes; the job follows when there is one."""

READY = b"r"
"""From a zygote or a child, once its layers are on."""

SWEPT = b"s"
"""From a master, once nothing is left of what a zygote had forked."""

FORK, KILL = b"f", b"k"
"""To a zygote: fork a child for the descriptor sent along; end the run at hand."""


class Use(NamedTuple):
    """What a run has used, by what its zygote collected, and what the zygote has since the run before."""

    cpu_time_s: float
    zygote_s: float
    max_rss_bytes: int


_USE = struct.Struct("<ddQ")
_NONE = -(1 << 31)


def pack_end(ends: list[int | None], use: Use) -> bytes:
    """A zygote's report on a run."""
    codes = [_NONE if end is None else end for end in ends]
    return _USE.pack(*use) + struct.pack(f"<{len(codes)}i", *codes)


def unpack_end(message: bytes) -> tuple[list[int | None], Use]:
    """Raises `struct.error` when it is no such report."""
    use = Use(*_USE.unpack_from(message))
    codes = struct.unpack_from(f"<{(len(message) - _USE.size) // 4}i", message, _USE.size)
    return [None if code == _NONE else code for code in codes], use
