"""Worker processes for `math`, driven from the event loop. Imports neither FLINT nor sympy.

Items wait in one queue; each worker takes a chunk of them per message and answers them one by one. The
parent's clock ends an item at its deadline by killing the worker: the item is tried once more, alone, and the
rest of the chunk goes back into the queue. A worker that dies costs its current item the same one retry.
"""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from typing import Any

from verifiers.math.forks import Forks
from verifiers.math.link import Item, Link, TimedOut, WorkerLost

CHUNK = 32
"""Items of one message at most: an upper bound on what one death sends back to the queue."""
RETRY_START_S = 1.0


class Pool:
    """A fixed number of workers. `start` before the first `run`, `close` at the end."""

    def __init__(self, size: int = 2, deadline_s: float = 5.0) -> None:
        self.size = size
        self.deadline_s = deadline_s
        self.restarts = 0
        """Workers replaced since the start."""
        self.forks = Forks()
        self._waiting: deque[Item] = deque()
        self._workers: set[Link] = set()
        self._free: list[Link] = []
        """Workers without work, the last one used at the end: its caches are warm."""
        self._replacing: set[asyncio.Task[None]] = set()
        self._alone = asyncio.Lock()
        self._quiet = True
        """Nothing is being retried alone; else nothing new is taken from the queue."""
        self._all_free = asyncio.Event()

    async def start(self) -> None:
        """Start the nursery and the workers. Raises `OSError` or `TimeoutError` when they do not come up."""
        await self.forks.start()
        for _ in range(self.size):
            self._join(await self._new_worker(self._done))

    async def close(self) -> None:
        """End the workers; what still waits is cancelled."""
        for task in self._replacing:
            task.cancel()
        await asyncio.gather(*self._replacing, return_exceptions=True)
        for worker in self._workers:
            worker.hang_up()
            self._waiting.extend(worker.left)
        self._workers.clear()
        self._free.clear()
        for item in self._waiting:
            item.future.cancel()
        self._waiting.clear()
        await self.forks.close()

    @property
    def ready(self) -> bool:
        """Whether every worker is up or being replaced."""
        return len(self._workers) + len(self._replacing) == self.size

    async def run(self, payload: Any) -> dict[str, Any]:
        """The worker's reply to `payload`. Raises `TimedOut`, `WorkerLost`. Cancelling drops waiting work."""
        item = _item(payload)
        self._waiting.append(item)
        self._feed()
        try:
            return await item.future
        except (TimedOut, WorkerLost):
            return await self._retry(payload)

    async def _retry(self, payload: Any) -> dict[str, Any]:
        """Try again in a new worker while no other works."""
        async with self._alone:
            self._quiet = False
            worker: Link | None = None
            try:
                await self._all_free.wait()
                worker = await self._new_worker(lambda _: None)
                item = _item(payload)
                worker.begin([item])
                return await item.future
            finally:
                if worker is not None:
                    await self._discard(worker)
                self._quiet = True
                self._feed()

    def _feed(self) -> None:
        """Give waiting items to free workers."""
        while self._waiting and self._free and self._quiet:
            share = min(CHUNK, -(-len(self._waiting) // self.size))
            chunk: list[Item] = []
            while self._waiting and len(chunk) < share:
                item = self._waiting.popleft()
                if not item.future.done():
                    chunk.append(item)
            if chunk:
                self._all_free.clear()
                self._free.pop().begin(chunk)

    def _done(self, worker: Link) -> None:
        """A worker has answered everything, or has ended."""
        if worker.ended:
            self._workers.discard(worker)
            if worker in self._free:
                self._free.remove(worker)
            self._waiting.extendleft(reversed(worker.left))
            task = asyncio.create_task(self._replace(worker))
            self._replacing.add(task)
            task.add_done_callback(self._replacing.discard)
        else:
            self._free.append(worker)
        if len(self._free) == len(self._workers):
            self._all_free.set()
        self._feed()

    async def _replace(self, worker: Link) -> None:
        """Another worker instead; while none can be had, what waits fails instead of hanging."""
        await self._discard(worker)
        self.restarts += 1
        while True:
            try:
                self._join(await self._new_worker(self._done))
            except (OSError, TimeoutError) as fault:
                while self._waiting and not self._workers:
                    item = self._waiting.popleft()
                    if not item.future.done():
                        item.future.set_exception(WorkerLost(str(fault)))
                await asyncio.sleep(RETRY_START_S)
            else:
                return

    def _join(self, worker: Link) -> None:
        self._workers.add(worker)
        self._done(worker)

    async def _new_worker(self, on_done: Any) -> Link:
        pid, channel = await self.forks.fork()
        make = partial(Link, pid, self.deadline_s, on_done)
        _, link = await asyncio.get_running_loop().create_unix_connection(make, sock=channel)
        return link

    async def _discard(self, worker: Link) -> None:
        worker.hang_up()
        await self.forks.kill(worker.pid)


def _item(payload: Any) -> Item:
    return Item(payload, asyncio.get_running_loop().create_future())
