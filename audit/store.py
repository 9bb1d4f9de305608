"""Writing: one open connection, one transaction per batch. For one thread."""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path

from sqlalchemy import Connection, Dialect, Table, bindparam, update

from audit import schema
from audit.database import insert_into, prepare, sqlite_path, writing_engine
from audit.groups import GroupCell, GroupCount
from audit.payload import Rows
from audit.retention import Tidying
from audit.trim import trim
from audit.types import Cell, LogConfig


@dataclass(slots=True)
class Count:
    """What happened in one cell."""

    verdicts: int = 0
    sampled: int = 0
    shed: int = 0


@dataclass(slots=True)
class Transaction:
    """What is written together. Repeating one with the same `sequence` changes nothing."""

    sequence: int
    complete_until_ms: int = 0
    """All that was counted before this time is in it or in those before it."""
    counts: dict[Cell, Count] = field(default_factory=dict)
    groups: dict[GroupCell, GroupCount] = field(default_factory=dict)
    rows: Rows = field(default_factory=Rows)

    def sampled_cells(self) -> list[Cell]:
        """Cells whose sample it adds to."""
        return [cell for cell, count in sorted(self.counts.items(), key=itemgetter(0)) if count.sampled]

    def drop_rows(self) -> None:
        """Give up the payloads and keep the counts."""
        self.rows = Rows()
        for count in self.counts.values():
            count.shed += count.sampled
            count.sampled = 0


_ADVANCE = (
    update(schema.writer)
    .where(schema.writer.c.id == bindparam("writer"), schema.writer.c.sequence < bindparam("now"))
    .values(sequence=bindparam("now"), complete_until_ms=bindparam("complete_until_ms"))
)


class Store:
    """The database as the writer sees it. Every method raises the driver's errors, wrapped by SQLAlchemy."""

    def __init__(self, config: LogConfig) -> None:
        self._engine = writing_engine(config.url, config.durability)
        self._path = sqlite_path(config.url)
        self._budget = config.budget
        self._tidying = Tidying(config.retention)
        self._writer_id = uuid.uuid4().hex
        self._sql = Statements(self._engine.dialect)
        self._connection: Connection | None = None
        self._file: tuple[int, int] | None = None

    def open(self) -> None:
        """Connect, migrate, and prove that the database can be written."""
        self.close()
        prepare(self._engine)
        self._connection = self._engine.connect()
        self._file = _identity(self._path)
        with self._connection.begin():
            now_ms = time.time_ns() // 1_000_000
            values = (self._writer_id, now_ms, None, 0, now_ms)
            self._connection.exec_driver_sql(self._sql.insert[schema.writer], values)

    @property
    def is_open(self) -> bool:
        """Whether there is a connection, and the file behind it is still the one at the path."""
        return self._connection is not None and self._file == _identity(self._path)

    def write(self, transaction: Transaction) -> None:
        """Commit `transaction` whole, unless this writer has committed it already."""
        connection = self._connected()
        with connection.begin():
            if not self._advance(connection, transaction):
                return
            self._write_counts(connection, transaction)
            self._write_rows(connection, transaction.rows)
            trim(connection, transaction.sampled_cells(), self._budget)

    def _advance(self, connection: Connection, transaction: Transaction) -> bool:
        """Claim its `sequence`; False if it is claimed already, by a commit whose end was not seen."""
        claim = {
            "writer": self._writer_id,
            "now": transaction.sequence,
            "complete_until_ms": transaction.complete_until_ms,
        }
        return connection.execute(_ADVANCE, claim).rowcount == 1

    def _write_counts(self, connection: Connection, transaction: Transaction) -> None:
        rows = [
            (*stratum, window_start_s, count.verdicts, count.sampled, count.shed)
            # In one order everywhere, so that two writers never wait for each other's rows.
            for (stratum, window_start_s), count in sorted(transaction.counts.items(), key=itemgetter(0))
        ]
        if rows:
            connection.exec_driver_sql(self._sql.add_counts, rows)
        groups = [
            (*cell, count.groups, count.measured, count.tokens)
            for cell, count in sorted(transaction.groups.items(), key=itemgetter(0))
        ]
        if groups:
            connection.exec_driver_sql(self._sql.add_groups, groups)

    def _write_rows(self, connection: Connection, rows: Rows) -> None:
        for table, values in rows.by_table():
            if values:
                connection.exec_driver_sql(self._sql.insert[table], values)

    def mark_alive(self, complete_until_ms: int) -> None:
        """Note that all that this writer counted before this time is there."""
        self._note(complete_until_ms=complete_until_ms)

    def mark_closed(self) -> None:
        """Note that this writer ended by itself, with nothing left to write."""
        now_ms = time.time_ns() // 1_000_000
        self._note(closed_at_ms=now_ms, complete_until_ms=now_ms)

    def _note(self, **values: int) -> None:
        connection = self._connected()
        mine = schema.writer.c.id == self._writer_id
        with connection.begin():
            connection.execute(update(schema.writer).where(mine).values(values))

    def tidy(self) -> bool:
        """Remove a little of what is too much; says whether there is more to do now."""
        return self._tidying.step(self._connected())

    def close(self) -> None:
        """Drop the connection, if there is one."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()

    def size_bytes(self) -> int:
        """Size of the database file; 0 where there is none."""
        return self._path.stat().st_size if self._path is not None and self._path.exists() else 0

    def _connected(self) -> Connection:
        if self._connection is None:
            raise RuntimeError("the store is not open")
        return self._connection


class Statements:
    """SQL for one dialect, compiled once and given tuples: half the cost of a row given as a dictionary."""

    def __init__(self, dialect: Dialect) -> None:
        self.insert = {
            table: str(insert_into(table, dialect).on_conflict_do_nothing().compile(dialect=dialect))
            for table in (schema.verdict, schema.payload, schema.verdict_flag, schema.writer)
        }
        self.insert[schema.document] = _adding(schema.document, dialect, {"uses"})
        self.add_counts = _adding(schema.stratum_count, dialect)
        self.add_groups = _adding(schema.group_count, dialect)


def _adding(table: Table, dialect: Dialect, only: Collection[str] = ()) -> str:
    """An insert that adds its numbers, or `only` some of them, to those of the row that is there already."""
    insert = insert_into(table, dialect)
    sums = {
        column.name: column + insert.excluded[column.name]
        for column in table.c
        if (column.name in only if only else not column.primary_key)
    }
    upsert = insert.on_conflict_do_update(index_elements=list(table.primary_key), set_=sums)
    return str(upsert.compile(dialect=dialect))


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Which file is at `path`."""
    if path is None:
        return None
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino)
