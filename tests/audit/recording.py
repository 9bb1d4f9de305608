"""Verdicts to keep, and the database as another program would read it."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import itertools
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from audit.log import VerdictLog
from audit.types import Cell, LogConfig, LogObserver, Stratum, VerdictRecord

ACCEPT = Cell(Stratum("numeric", "1.0.0", "gsm8k", "accept/plain"), 1_763_996_400)
REJECT = Cell(Stratum("numeric", "1.0.0", "gsm8k", "reject/plain"), 1_763_996_400)

_serial = itertools.count(1)


def make_id(milliseconds: int = 1_764_000_000_000, serial: int | None = None) -> str:
    """A UUIDv7; the serial number makes it unique and later ones greater."""
    tail = f"{next(_serial) if serial is None else serial:015x}"
    head = f"{milliseconds:012x}"
    return f"{head[:8]}-{head[8:]}-7000-8{tail[:3]}-{tail[3:]}"


def make_record(**fields: Any) -> VerdictRecord:
    """A record with likely values, but for `fields`."""
    record = VerdictRecord(
        id=make_id(),
        created_at_ms=1_764_000_000_000,
        cell=ACCEPT,
        draw=0.5,
        environment="b41c",
        status="scored",
        correct=True,
        reward=1.0,
        reason="within_tolerance",
        flags={},
        stop_reason="eos",
        truncated=False,
        meta={"run": "r7", "step": 1200},
        response="so \\boxed{3/7}",
        ground_truth="3/7",
        prompt="What part is blue?",
        request={"stop": {"reason": "stop"}},
        reply=b'{"verdict":{"correct":true,"reason":"within_tolerance","detail":{}}}',
    )
    return dataclasses.replace(record, **fields)


def url_of(path: Path) -> str:
    """The SQLAlchemy URL of a SQLite file."""
    return f"sqlite:///{path}"


@contextlib.asynccontextmanager
async def opened(path: Path, observer: LogObserver | None = None, **config: Any) -> AsyncIterator[VerdictLog]:
    """A log on `path` that is open and keeps everything, closed afterwards."""
    log = VerdictLog(LogConfig(url_of(path), **{"budget": 1_000_000} | config), observer)
    log.start()
    try:
        await until(lambda: not log.status().degraded)
        yield log
    finally:
        await log.close()


async def keep(log: VerdictLog, *records: VerdictRecord) -> bool:
    """Count, store and acknowledge."""
    for record in records:
        log.count(record.cell)
        log.store(record)
    return await log.acknowledge()


async def until(condition: Callable[[], bool], limit_s: float = 20.0) -> None:
    """Wait for `condition`; the limit is only there to end a test that has failed."""
    async with asyncio.timeout(limit_s):
        while not condition():
            await asyncio.sleep(0.01)


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    """What `query` gives on a connection of its own."""
    with contextlib.closing(sqlite3.connect(path, timeout=20)) as connection:
        return connection.execute(query).fetchall()


def counted(path: Path) -> dict[Cell, tuple[int, int, int]]:
    """Verdicts, sampled and shed of each cell."""
    query = """SELECT verifier, version, data_source, stratum, window_start_s, verdicts, sampled, shed
               FROM stratum_count"""
    return {Cell(Stratum(*row[:4]), row[4]): row[5:] for row in rows(path, query)}
