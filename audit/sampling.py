"""Which verdicts keep their payload: of each cell those with the smallest draws, a hash of the id.

Bottom-k by hash: the sample has an exact size, every verdict of a cell has the same chance, samples of
several workers merge into that of all, and whoever has the ids can repeat the choice.
"""

from __future__ import annotations

from hashlib import blake2b
from heapq import heappush, heapreplace
from typing import Final

from audit.types import WINDOW_S, Cell

SALT: Final = "goldcheck"

MOST_DRAWS: Final = 1_000_000
"""Draws that a worker remembers, in all cells together; some 32 bytes each."""

_UNIT: Final = 2.0**-64


def unit_interval(verdict_id: str, salt: str = SALT) -> float:
    """Where `verdict_id` falls in [0, 1): the big-endian blake2b-8 of `salt:verdict_id`, over 2**64."""
    digest = blake2b(f"{salt}:{verdict_id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") * _UNIT


def window_of(time_s: float) -> int:
    """The start of the window that holds a time, both in seconds since the epoch."""
    return int(time_s) // WINDOW_S * WINDOW_S


class Sampler:
    """What one worker knows of the samples: of each open cell the smallest draws that it has seen itself.

    It admits too much rather than too little (after a restart, beside other workers, when it had to forget):
    the store keeps the sample exact. `admit` is for one thread; `holds` for any.

    budget: size of a cell's sample.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._draws: dict[Cell, list[float]] = {}
        """Of each cell, a heap of its draws with the sign turned, so that the largest comes first."""
        self._remembered = 0
        self._newest_s = 0

    def admit(self, cell: Cell, draw: float) -> bool:
        """Whether the verdict is among the `budget` smallest of its cell up to now; then it is remembered."""
        heap = self._draws.get(cell)
        if heap is None:
            if self._budget == 0:
                return False
            heap = self._open(cell)
        if len(heap) < self._budget:
            heappush(heap, -draw)
            self._remembered += 1
            return True
        if draw >= -heap[0]:
            return False
        heapreplace(heap, -draw)
        return True

    def holds(self, cell: Cell, draw: float) -> bool:
        """Whether a verdict that was admitted is still among the smallest, as far as this worker knows."""
        heap = self._draws.get(cell)
        return heap is None or len(heap) < self._budget or draw <= -heap[0]

    def _open(self, cell: Cell) -> list[float]:
        """Begin a cell, and forget those of windows that are over, or all when there are too many."""
        window_start_s = cell[1]
        if window_start_s > self._newest_s:
            self._newest_s = window_start_s
            self._forget_before(window_start_s - WINDOW_S)
        if self._remembered >= MOST_DRAWS:
            self._draws.clear()
            self._remembered = 0
        heap: list[float] = []
        self._draws[cell] = heap
        return heap

    def _forget_before(self, window_start_s: int) -> None:
        kept = {cell: heap for cell, heap in self._draws.items() if cell[1] >= window_start_s}
        self._remembered = sum(map(len, kept.values()))
        self._draws = kept
