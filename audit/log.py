"""The verdict log as the service uses it: cheap calls on the event loop, a thread that writes."""

from __future__ import annotations

import asyncio
import logging
from collections import deque

from audit import reader, sampling
from audit.queue import Unit, UnitQueue
from audit.store import Store
from audit.types import (
    Durability,
    LogObserver,
    LogStatus,
    Page,
    Stratum,
    VerdictFilter,
    VerdictRecord,
)
from audit.writer import Writer

ROOM_WAIT_S = 0.05
"""With durability `enqueue`, how long `acknowledge` waits for room before payloads are shed."""

COMMIT_WAIT_S = 5.0
"""With durability `commit`, how long `acknowledge` waits for room and for the disk."""

FLUSH_S = 0.05
"""What nobody acknowledges is handed to the writer after this long: part of the loss window."""

_log = logging.getLogger("goldcheck.audit")


class VerdictLog:
    """Counts every verdict and stores the payloads of a share of them.

    Except for `search` and `get`, all methods belong to one event loop: that in which `start` was called.
    What is counted and stored without an `await` in between is written in one transaction, or not at all.

    With durability `enqueue`, a process that is killed loses what it gave out in the last
    `FLUSH_S + LINGER_S` seconds and the commit under way; with `commit` nothing for which `acknowledge` said True.
    """

    def __init__(
        self,
        url: str,
        *,
        sample: float = 0.1,
        durability: Durability = "enqueue",
        queue_records: int = 4096,
        queue_bytes: int = 64 << 20,
        observer: LogObserver | None = None,
    ) -> None:
        self._url = url
        self._sample = sample
        self._durability: Durability = durability
        self._observer = observer
        self._queue = UnitQueue(queue_records, queue_bytes)
        self._writer = Writer(Store(url, durability), self._queue, durability, observer, self._settled)
        self._reader = reader.Reader(url)
        self._pending = Unit()
        self._flush: asyncio.TimerHandle | None = None
        self._gate = asyncio.Lock()
        self._moved = asyncio.Event()
        self._number = 0
        self._written = 0
        self._waiters: deque[tuple[int, asyncio.Future[bool]]] = deque()
        self._shed = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Begin to write. The database is opened meanwhile: `status` is degraded until it is."""
        self._loop = asyncio.get_running_loop()
        self._writer.start()

    async def close(self, deadline_s: float = 10.0) -> None:
        """Write what is there, for at most `deadline_s`; what could not be written is named in the log."""
        self._hand_over()
        done = await asyncio.to_thread(self._writer.close, deadline_s)
        if not done:
            _log.error("%d payloads and their counts were not written", self._queue.records)

    def count(self, stratum: Stratum, n: int = 1) -> None:
        """Count `n` verdicts in `stratum`."""
        counts = self._pending.counts
        counts[stratum] = counts.get(stratum, 0) + n
        if self._flush is None:
            self._schedule()

    def select(self, verdict_id: str, unscorable: bool) -> float | None:
        """The inclusion probability if this verdict's payload is to be stored, else None."""
        return sampling.inclusion_probability(verdict_id, unscorable, self._sample)

    def store(self, record: VerdictRecord) -> None:
        """Store a payload. The record and all that it holds must not change afterwards."""
        self._pending.add(record)
        if self._flush is None:
            self._schedule()

    async def acknowledge(self) -> bool:
        """Call before answering, and between the chunks of a large batch: hands over what was counted and stored.

        Waits for room in the queue, for `ROOM_WAIT_S` at most, then sheds payloads. With durability `commit`
        it waits for the disk and says whether all is there; False while the database takes no writes.
        """
        loop = self._running()
        wait_s = ROOM_WAIT_S if self._durability == "enqueue" else COMMIT_WAIT_S
        deadline = loop.time() + wait_s
        async with self._gate:
            while not self._queue.fits(self._pending) and self._writer.fault is None:
                if not await self._moves_before(deadline):
                    break
            self._hand_over()
        if self._durability == "enqueue" or self._written >= self._number:
            return True
        return await self._committed(self._number, deadline)

    def status(self) -> LogStatus:
        """How the log is doing now."""
        fault = self._writer.fault
        reason = (
            fault[1] if fault is not None else "" if self._writer.opened else "the database is being opened"
        )
        return LogStatus(
            degraded=bool(reason),
            reason=reason,
            queue_length=self._queue.records,
            queue_bytes=self._queue.bytes,
            shed=self._shed,
            failures=self._writer.failures,
        )

    def search(self, wanted: VerdictFilter, cursor: str | None = None, limit: int = 100) -> Page:
        """Stored verdicts that match, newest first. Blocks: call it in a thread.

        Raises `BadCursorError` and `LogUnavailableError`.
        """
        return self._reader.search(wanted, cursor, limit)

    def get(self, verdict_id: str) -> bytes | None:
        """One stored verdict with its payload, as a JSON document in which texts and numbers are as judged.

        None if there is none. Blocks: call it in a thread. Raises `LogUnavailableError`.
        """
        return self._reader.get(verdict_id)

    def _schedule(self) -> None:
        self._flush = self._running().call_later(FLUSH_S, self._flush_pending)

    def _flush_pending(self) -> None:
        self._flush = None
        if not self._gate.locked():
            # Otherwise somebody waits for room, and hands over what is pending when there is some.
            self._hand_over()

    def _hand_over(self) -> None:
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        unit = self._pending
        if not unit:
            return
        self._pending = Unit()
        self._number += 1
        unit.number = self._number
        self._shed += self._queue.put(unit)
        if self._observer is not None:
            self._observer.queued(self._queue.records)

    async def _moves_before(self, deadline: float) -> bool:
        """Wait until the writer has settled something; False if it has not by `deadline`."""
        self._moved.clear()
        try:
            async with asyncio.timeout_at(deadline):
                await self._moved.wait()
        except TimeoutError:
            return False
        return True

    async def _committed(self, number: int, deadline: float) -> bool:
        """Whether everything up to unit `number` is on disk by `deadline`."""
        if self._writer.fault is not None:
            return False
        future = self._running().create_future()
        self._waiters.append((number, future))
        try:
            async with asyncio.timeout_at(deadline):
                return await future
        except TimeoutError:
            return False

    def _settled(self, number: int, written: bool) -> None:
        """From the writer's thread: units up to `number` are on disk, or cannot be written now."""
        try:
            self._running().call_soon_threadsafe(self._settle, number, written)
        except RuntimeError:
            # The loop has ended without waiting for `close`: nobody is left to be told.
            return

    def _settle(self, number: int, written: bool) -> None:
        if written:
            self._written = number
        self._moved.set()
        while self._waiters and self._waiters[0][0] <= number:
            _, future = self._waiters.popleft()
            if not future.done():
                future.set_result(written)

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise RuntimeError("the verdict log has not been started")
        return self._loop
