"""The replies of one request as they come, for several that follow it: the first caller and its repeats."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from app.replies import Chunks, Reply


class Run:
    """Collects what a source gives, in a task of its own; followers see everything from the beginning."""

    def __init__(self, source: Chunks) -> None:
        self._chunks: list[Sequence[Reply]] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._ended = False
        self.size = 0
        """Bytes of the replies so far."""
        self.task = asyncio.create_task(self._collect(source))

    async def follow(self) -> Chunks:
        """All chunks, those to come included. Raises what the source raised."""
        seen = 0
        while True:
            while seen < len(self._chunks):
                yield self._chunks[seen]
                seen += 1
            if self._ended:
                break
            changed = asyncio.get_running_loop().create_future()
            self._waiting.append(changed)
            await changed
        await asyncio.wait([self.task])  # a follower that is cancelled must not cancel the task
        self.task.result()

    async def _collect(self, source: Chunks) -> None:
        try:
            async for chunk in source:
                self._chunks.append(chunk)
                self.size += sum(len(reply.encoded) for reply in chunk)
                self._notify()
        finally:
            self._ended = True
            self._notify()

    def _notify(self) -> None:
        for changed in self._waiting:
            if not changed.done():
                changed.set_result(None)
        self._waiting.clear()
