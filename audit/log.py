"""The verdict log as the service uses it: cheap calls on the event loop, a thread that writes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from typing import Any

from audit.groups import GroupCell, GroupCount, GroupField, GroupFilter, GroupReader, one_group
from audit.queue import Unit, UnitQueue
from audit.reader import Reader
from audit.sampling import Sampler, unit_interval
from audit.store import Store
from audit.types import (
    CANARY_ACCEPT,
    Cell,
    LogConfig,
    LogObserver,
    LogStatus,
    Page,
    VerdictFilter,
    VerdictRecord,
)
from audit.writer import GROUP, LINGER_S, Writer

ROOM_WAIT_S = 0.05
"""With durability `enqueue`, how long `acknowledge` waits for room before payloads are shed."""

COMMIT_WAIT_S = 5.0
"""With durability `commit`, how long `acknowledge` waits for room and for the disk."""

FLUSH_S = 0.05
"""What nobody acknowledges is handed to the writer after this long: part of the loss window."""

_log = logging.getLogger("goldcheck.audit")


class VerdictLog:
    """Counts every verdict and stores the payloads of a share of them.

    Except for `search`, `get` and `group_metrics`, all methods belong to one event loop: that in which
    `start` was called. What is counted and stored without an `await` in between is written in one
    transaction, or not at all.

    With durability `enqueue`, a process that is killed loses what was acknowledged in its last
    `FLUSH_S + LINGER_S` seconds, and what was queued or being committed then; with `commit`, nothing for
    which `acknowledge` said True.
    """

    def __init__(self, config: LogConfig, observer: LogObserver | None = None) -> None:
        self._config = config
        self._observer = observer
        linger_s = LINGER_S if config.durability == "enqueue" else 0.0
        self._queue = UnitQueue(config.queue_records, config.queue_bytes, GROUP, linger_s)
        self._sampler = Sampler(config.budget)
        self._writer = Writer(Store(config), self._queue, self._sampler, observer, self._settled)
        self._reader = Reader(config.url)
        self._group_reader = GroupReader(config.url)
        self._pending = Unit()
        self._sealed: deque[Unit] = deque()
        self._flush: asyncio.TimerHandle | None = None
        self._gate = asyncio.Lock()
        self._handing_over = 0
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

    async def close(self, deadline_s: float = 5.0) -> None:
        """Write what is there, for at most `deadline_s`; what could not be written is named in the log."""
        if self._flush is not None:
            self._flush.cancel()
        self._seal()
        self._hand_over_until(self._number)
        done = await asyncio.to_thread(self._writer.close, deadline_s)
        if not done:
            _log.error("counts and %d payloads were not written", self._queue.records)

    def count(self, cell: Cell, n: int = 1) -> None:
        """Count `n` verdicts in `cell`."""
        counts = self._pending.counts
        counts[cell] = counts.get(cell, 0) + n
        self._begin()

    def count_group(self, cell: GroupCell, tokens: int | None) -> None:
        """Count a group. tokens: of all its responses; None if some are not known."""
        self._pending.groups.setdefault(cell, GroupCount()).add(one_group(tokens))
        self._begin()

    def select(self, cell: Cell, verdict_id: str) -> float | None:
        """The verdict's draw if its payload is to be stored, as it looks now, else None."""
        draw = unit_interval(verdict_id)
        admitted = self._sampler.admit(cell, draw)
        return draw if admitted or cell[0][3] == CANARY_ACCEPT else None

    def store(self, record: VerdictRecord) -> None:
        """Store a payload. The record and all that it holds must not change afterwards."""
        self._pending.add(record)
        self._begin()

    async def acknowledge(self) -> bool:
        """Hand over what was counted and stored: before answering, and between chunks of a large batch.

        Waits for room in the queue, for `ROOM_WAIT_S` at most, then sheds payloads. With durability `commit`
        it waits for the disk and says whether all is there; False while the database takes no writes.
        """
        if self._config.durability == "enqueue" and not self._pending.records and not self._sealed:
            return True  # counts alone need no room: the timer hands them over
        self._seal()
        number = self._number
        wait_s = ROOM_WAIT_S if self._config.durability == "enqueue" else COMMIT_WAIT_S
        deadline = self._running().time() + wait_s
        self._handing_over += 1
        try:
            async with self._gate:
                while self._sealed and self._sealed[0].number <= number:
                    await self._wait_for_room(self._sealed[0], deadline)
                    self._hand_over()
        finally:
            self._handing_over -= 1
        if self._config.durability == "enqueue" or self._written >= number:
            return True
        return await self._committed(number, deadline)

    def status(self) -> LogStatus:
        """How the log is doing now."""
        fault = self._writer.fault
        opening = fault is None and not self._writer.opened
        reason = fault[1] if fault is not None else "the database is being opened" if opening else ""
        return LogStatus(
            degraded=bool(reason),
            reason=reason,
            opening=opening,
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

    def group_metrics(
        self, wanted: GroupFilter, by: GroupField | None = None, cursor: str | None = None, limit: int = 1000
    ) -> dict[str, Any]:
        """What became of the groups that match, in all and for each value of the field `by`.

        Blocks: call it in a thread. Raises `BadCursorError` and `LogUnavailableError`.
        """
        return self._group_reader.metrics(wanted, by, cursor, limit)

    def _begin(self) -> None:
        """See to it that the pending unit is handed over soon."""
        if not self._pending.since_ms:
            self._pending.since_ms = time.time_ns() // 1_000_000
        if self._flush is None:
            self._schedule()

    def _schedule(self) -> None:
        self._flush = self._running().call_later(FLUSH_S, self._flush_all)

    def _flush_all(self) -> None:
        """Hand over what nobody acknowledges, because the caller went away."""
        self._flush = None
        if self._handing_over:
            self._schedule()
        else:
            self._seal()
            self._hand_over_until(self._number)

    def _seal(self) -> None:
        """Close the pending unit: it is handed over as it is, after those sealed before."""
        if self._pending:
            self._number += 1
            self._pending.number = self._number
            self._sealed.append(self._pending)
            self._pending = Unit()

    def _hand_over(self) -> None:
        """Give the oldest sealed unit to the writer, without the payloads for which there is no room."""
        self._shed += self._queue.put(self._sealed.popleft())
        if self._observer is not None:
            self._observer.queued(self._queue.records)

    def _hand_over_until(self, number: int) -> None:
        while self._sealed and self._sealed[0].number <= number:
            self._hand_over()

    async def _wait_for_room(self, unit: Unit, deadline: float) -> None:
        """Return once `unit` fits, or cannot be helped: past the deadline, or while nothing is written."""
        while not self._queue.fits(unit) and self._queue.records and self._writer.fault is None:
            if not await self._moves_before(deadline):
                return

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
                written: bool = await future
                return written
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
