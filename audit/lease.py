"""Leases: work that one process at a time does for all that share the database."""

from __future__ import annotations

import time

from sqlalchemy import delete, or_

from audit import schema
from audit.connections import Database
from audit.database import insert_into


class Lease:
    """The right to do the work `name`, for `lasts_s` at a time. Methods block; from any thread.

    holder: names this process, as nobody else is named. Whoever dies without giving it up blocks the work for
    `lasts_s` at most. Clocks of hosts that share a database should agree to well within that.
    """

    def __init__(self, url: str, name: str, holder: str, lasts_s: float = 60.0) -> None:
        self._database = Database(url, "enqueue")
        self._name = name
        self._holder = holder
        self._lasts_s = lasts_s
        self._held_until = 0.0

    def take(self) -> bool:
        """Take or renew it; False while another holds it. Raises `LogUnavailableError`.

        Asking again costs nothing until a quarter of its time is over.
        """
        asked_at = time.monotonic()
        if asked_at < self._held_until - 0.75 * self._lasts_s:
            return True
        now_ms = time.time_ns() // 1_000_000
        table = schema.lease
        with self._database.transaction() as connection:
            row = insert_into(table, connection.dialect).values(
                name=self._name, holder=self._holder, expires_at_ms=now_ms + int(self._lasts_s * 1000)
            )
            is_free = or_(table.c.holder == self._holder, table.c.expires_at_ms <= now_ms)
            change = {"holder": row.excluded.holder, "expires_at_ms": row.excluded.expires_at_ms}
            taken = row.on_conflict_do_update(index_elements=["name"], set_=change, where=is_free)
            is_mine = connection.execute(taken).rowcount == 1
        self._held_until = asked_at + self._lasts_s if is_mine else 0.0
        return is_mine

    def give_up(self) -> None:
        """Let others have it at once. Raises `LogUnavailableError`."""
        self._held_until = 0.0
        mine = (schema.lease.c.name == self._name) & (schema.lease.c.holder == self._holder)
        with self._database.transaction() as connection:
            connection.execute(delete(schema.lease).where(mine))
