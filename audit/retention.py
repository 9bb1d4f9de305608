"""Keeping the database within its bounds: the oldest stored verdicts go first, in small steps.

Labelled verdicts and accepted canaries stay, and so do all counts: a stratum's numbers are those of its time
even when its texts are gone. Windows that are still open, or have just ended, are left alone.
"""

from __future__ import annotations

import math
import time
from typing import Final

from sqlalchemy import Connection, func, select

from audit.removal import remove
from audit.sampling import window_of
from audit.schema import document, payload, verdict
from audit.types import CANARY_ACCEPT, WINDOW_S, Retention

STEP: Final = 250
"""Verdicts removed in one transaction."""

LOW_WATER: Final = 0.95
"""Share of the allowed bytes down to which verdicts are removed once there are more."""

FREE_PAGES: Final = 256
"""Free pages of an SQLite file that are kept for what comes next; given back as many at a time."""

_DAY_MS: Final = 86_400_000


class Tidying:
    """Removes what is too much. For one thread; `connection` is in no transaction."""

    def __init__(self, retention: Retention) -> None:
        self._retention = retention
        self._after = ""
        self._too_many = 0

    def step(self, connection: Connection) -> bool:
        """Do a little; says whether there is more to do now."""
        with connection.begin():
            outdated = self._outdated(connection)
            removed = len(remove(connection, outdated))
        self._too_many -= removed
        if outdated:
            self._after = outdated[-1]
            return True
        self._after, self._too_many = "", 0
        return connection.dialect.name == "sqlite" and _give_back(connection)

    def _outdated(self, connection: Connection) -> list[str]:
        """Ids of the next verdicts that are to go; those that must stay are stepped over once."""
        now_ms = time.time_ns() // 1_000_000
        before = ""
        if self._retention.max_age_days:
            before = _first_id(now_ms - int(self._retention.max_age_days * _DAY_MS))
        if self._too_many <= 0:
            self._too_many = self._count_too_many(connection)
        if self._too_many > 0:
            before = max(before, _first_id((window_of(now_ms / 1000) - WINDOW_S) * 1000))
        query = (
            select(verdict.c.id)
            .where(verdict.c.id > self._after, verdict.c.id < before)
            .where(verdict.c.labelled.is_(False), verdict.c.stratum != CANARY_ACCEPT)
            .order_by(verdict.c.id)
            .limit(STEP)
        )
        return list(connection.scalars(query)) if before else []

    def _count_too_many(self, connection: Connection) -> int:
        """How many verdicts must go to be below `LOW_WATER`; 0 while there are not too many bytes."""
        allowed = self._retention.max_bytes
        used = _used_bytes(connection, allowed) if allowed else 0
        if used <= allowed:
            return 0
        stored = connection.scalar(select(func.count()).select_from(verdict)) or 0
        return math.ceil(stored * (1 - LOW_WATER * allowed / used))


def _first_id(unix_ms: int) -> str:
    """Not above any id that was made at this time or later."""
    unix_ms = max(0, unix_ms)
    return f"{unix_ms >> 16:08x}-{unix_ms & 0xFFFF:04x}"


def _used_bytes(connection: Connection, allowed: int) -> int:
    """Bytes in use: of an SQLite file without its free pages, else of the stored bodies."""
    if connection.dialect.name == "sqlite":
        pages, free, size = (
            int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size
    names = ("verdict", "payload", "document")
    whole = sum(int(connection.scalar(select(func.pg_total_relation_size(name))) or 0) for name in names)
    if whole <= allowed:
        return whole
    # The files do not shrink with the rows, so what counts is what the rows hold.
    return sum(
        int(connection.scalar(select(func.coalesce(func.sum(func.octet_length(table.c.body)), 0))) or 0)
        for table in (payload, document)
    )


def _give_back(connection: Connection) -> bool:
    """Hand a few free pages back to the file system; says whether there are more."""
    driver = connection.connection.driver_connection
    assert driver is not None  # noqa: S101 - there is a connection
    connection.rollback()
    (free,) = driver.execute("PRAGMA freelist_count").fetchone()
    if free <= FREE_PAGES:
        return False
    # As a script: fetched like a query, the statement would end after its first page.
    driver.executescript(f"PRAGMA incremental_vacuum({FREE_PAGES})")
    (left,) = driver.execute("PRAGMA freelist_count").fetchone()
    if left > FREE_PAGES:
        return True
    driver.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # only now does the file itself shrink
    return False
