"""How many judge at once: several side by side, or one alone."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator


class Gate:
    """Lets `width` in at once, first come first served; `alone` waits until nobody else is inside."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._places = asyncio.Semaphore(width)
        self._one_alone = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """Be inside with others."""
        async with self._places:
            yield

    @contextlib.asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Be inside with nobody else."""
        taken = 0
        async with self._one_alone:
            try:
                for _ in range(self._width):
                    await self._places.acquire()
                    taken += 1
                yield
            finally:
                for _ in range(taken):
                    self._places.release()
