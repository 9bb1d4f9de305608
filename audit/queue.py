"""What waits to be written: a bounded queue from the event loop to the writer's thread."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, field

from audit.exact_json import weight
from audit.groups import GroupCell, GroupCount
from audit.types import Cell, VerdictRecord


@dataclass(slots=True)
class Unit:
    """Counts and records that belong together: they are written in one transaction or not at all."""

    counts: dict[Cell, int] = field(default_factory=dict)
    shed: dict[Cell, int] = field(default_factory=dict)
    """Of those counted: payloads that were selected and dropped."""
    groups: dict[GroupCell, GroupCount] = field(default_factory=dict)
    records: list[VerdictRecord] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    """Approximate bytes of each record."""
    number: int = 0
    since_ms: int = 0
    """When the first of it was counted, in milliseconds since the epoch; 0: nothing has been."""

    def add(self, record: VerdictRecord) -> None:
        """Append a record."""
        self.records.append(record)
        self.sizes.append(_size(record))

    def drop_last(self) -> None:
        """Give up the last record's payload; its verdict stays counted."""
        cell = self.records.pop().cell
        self.sizes.pop()
        self.shed[cell] = self.shed.get(cell, 0) + 1

    def absorb(self, later: Unit) -> None:
        """Take in all of a later unit: from now on the two are written together."""
        for own, other in ((self.counts, later.counts), (self.shed, later.shed)):
            for cell, n in other.items():
                own[cell] = own.get(cell, 0) + n
        for group, count in later.groups.items():
            self.groups.setdefault(group, GroupCount()).add(count)
        self.records += later.records
        self.sizes += later.sizes
        self.number = later.number

    def __bool__(self) -> bool:
        return bool(self.counts or self.groups or self.records or self.shed)


class UnitQueue:
    """First in, first out, bounded in records and in bytes. What is being written still counts as queued.

    group: how many records, about, are taken at once. linger_s: how long they wait for that many.
    """

    def __init__(self, max_records: int, max_bytes: int, group: int, linger_s: float = 0.0) -> None:
        self._max_records = max_records
        self._max_bytes = max_bytes
        self._group = group
        self._linger_s = linger_s
        self._units: deque[Unit] = deque()
        self._waiting = 0
        self._changed = threading.Condition()
        self._closing = False
        self.records = 0
        self.bytes = 0
        self.last_number = 0
        """Number of the unit put last."""

    def fits(self, unit: Unit) -> bool:
        """Whether the whole unit has room now."""
        return (
            self.records + len(unit.records) <= self._max_records
            and self.bytes + sum(unit.sizes) <= self._max_bytes
        )

    def put(self, unit: Unit) -> int:
        """Append, dropping the last payloads if there is no room for all; returns how many were dropped."""
        with self._changed:
            before = self._waiting if self._units else None
            dropped = 0
            size = sum(unit.sizes)
            while unit.records and (
                self.records + len(unit.records) > self._max_records or self.bytes + size > self._max_bytes
            ):
                size -= unit.sizes[-1]
                unit.drop_last()
                dropped += 1
            self.records += len(unit.records)
            self.bytes += size
            self.last_number = unit.number
            self._append(unit)
            self._waiting += len(unit.records)
            if before is None or before < self._group <= self._waiting:
                # Only when it matters: each wake-up of the writer takes the interpreter from the event loop.
                self._changed.notify()
        return dropped

    def _append(self, unit: Unit) -> None:
        """Join small units, so that counts alone do not pile up behind a broken database."""
        last = self._units[-1] if self._units else None
        if last is not None and len(last.records) + len(unit.records) <= self._group:
            last.absorb(unit)
        else:
            self._units.append(unit)

    def take(self, wait_s: float | None = None) -> list[Unit]:
        """Wait for something, then up to `linger_s` for company; units of about `group` records together.

        Empty when nothing came in `wait_s` seconds, or `is_drained`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._units or self._closing, timeout=wait_s):
                return []
            if self._linger_s:
                self._changed.wait_for(
                    lambda: self._waiting >= self._group or self._closing, timeout=self._linger_s
                )
            taken: list[Unit] = []
            found = 0
            while self._units and found < self._group:
                unit = self._units.popleft()
                found += len(unit.records)
                taken.append(unit)
            self._waiting -= found
            return taken

    def release(self, units: list[Unit]) -> None:
        """What was taken has been written or given up: its room is free."""
        with self._changed:
            self.records -= sum(len(unit.records) for unit in units)
            self.bytes -= sum(sum(unit.sizes) for unit in units)

    @property
    def is_drained(self) -> bool:
        """It is closing, and all has been taken."""
        return self._closing and not self._units

    def oldest_ms(self) -> int:
        """When the oldest of what waits was counted; now, if nothing waits. Milliseconds since the epoch."""
        with self._changed:
            return self._units[0].since_ms if self._units else time.time_ns() // 1_000_000

    def close(self) -> None:
        """Let `take` end once all has been taken."""
        with self._changed:
            self._closing = True
            self._changed.notify()


def _size(record: VerdictRecord) -> int:
    """Roughly how many bytes `record` keeps in memory: what can be large is weighed, the rest is small."""
    size = 4096 + len(record.response) + len(record.reply)
    for value in (record.ground_truth, record.prompt, record.meta.get("tags")):
        if isinstance(value, str):
            size += len(value)
        elif value is not None:
            size += weight(value)
    return size
