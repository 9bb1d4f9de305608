"""Leases: work that one process at a time does for all that share the database."""

from __future__ import annotations

import time
from functools import cached_property

from sqlalchemy import Engine, delete, or_
from sqlalchemy.dialects import postgresql, sqlite

from audit import schema
from audit.database import DATABASE_ERRORS, fault, writing_engine
from audit.errors import LogUnavailableError


class Lease:
    """The right to do the work `name`, for `lasts_s` at a time. Methods block; from any thread.

    holder: names this process, as nobody else is named. Whoever dies without giving it up blocks the work for
    `lasts_s` at most. Clocks of hosts that share a database should agree to well within that.
    """

    def __init__(self, url: str, name: str, holder: str, lasts_s: float = 60.0) -> None:
        self._url = url
        self._name = name
        self._holder = holder
        self._lasts_ms = int(lasts_s * 1000)

    @cached_property
    def _engine(self) -> Engine:
        return writing_engine(self._url, "enqueue")

    def take(self) -> bool:
        """Take or renew it; False while another holds it. Raises `LogUnavailableError`."""
        now_ms = time.time_ns() // 1_000_000
        table = schema.lease
        try:
            with self._engine.begin() as connection:
                insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
                row = insert(table).values(
                    name=self._name, holder=self._holder, expires_at_ms=now_ms + self._lasts_ms
                )
                is_free = or_(table.c.holder == self._holder, table.c.expires_at_ms <= now_ms)
                change = {"holder": row.excluded.holder, "expires_at_ms": row.excluded.expires_at_ms}
                taken = row.on_conflict_do_update(index_elements=["name"], set_=change, where=is_free)
                return connection.execute(taken).rowcount == 1
        except DATABASE_ERRORS as error:
            raise LogUnavailableError(fault(error)[1]) from error

    def give_up(self) -> None:
        """Let others have it at once. Raises `LogUnavailableError`."""
        mine = (schema.lease.c.name == self._name) & (schema.lease.c.holder == self._holder)
        try:
            with self._engine.begin() as connection:
                connection.execute(delete(schema.lease).where(mine))
        except DATABASE_ERRORS as error:
            raise LogUnavailableError(fault(error)[1]) from error
