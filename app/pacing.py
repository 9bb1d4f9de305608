"""Long work on the event loop lets others run every few milliseconds."""

from __future__ import annotations

import asyncio
from time import perf_counter

TURN_S = 0.004


class Pace:
    """Measures one turn on the event loop."""

    def __init__(self) -> None:
        self._turn_ends = perf_counter() + TURN_S

    @property
    def is_over(self) -> bool:
        """Whether this turn has been long enough."""
        return perf_counter() >= self._turn_ends

    async def pause(self) -> None:
        """Let others run, and begin a new turn."""
        await asyncio.sleep(0)
        self._turn_ends = perf_counter() + TURN_S
