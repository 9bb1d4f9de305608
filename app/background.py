"""Work that is done again and again while the service runs, and that no request waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from app.boundary import boundary
from app.logs import describe_error

_log: Final = structlog.get_logger()


class Background:
    """Does `work` from `start` to `close`: after `first_s` seconds, then `every_s` after each end.

    A fault is told in the log, and the work goes on. what: named there.
    """

    def __init__(
        self, what: str, work: Callable[[], Awaitable[None]], every_s: float, first_s: float = 0.0
    ) -> None:
        self._what = what
        self._work = work
        self._every_s = every_s
        self._first_s = first_s
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> bool:
        """End at once; whether it had begun."""
        task, self._task = self._task, None
        if task is None:
            return False
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return True

    async def _run(self) -> None:
        await asyncio.sleep(self._first_s)
        while True:
            with boundary(self._tell):
                await self._work()
            await asyncio.sleep(self._every_s)

    def _tell(self, error: Exception) -> None:
        _log.error("background work failed, and goes on", what=self._what, **describe_error(error))
