"""Writing: one open connection, one transaction per batch. For one thread."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, update
from sqlalchemy.dialects import postgresql, sqlite

from audit import schema
from audit.database import prepare, sqlite_path, writing_engine
from audit.payload import CODEC_ZSTD, Rows
from audit.types import Durability, Stratum

WINDOW_S = 3600
"""Counts are kept per window of this length, aligned to the epoch."""


@dataclass(slots=True)
class Count:
    """What happened in one stratum."""

    verdicts: int = 0
    stored: int = 0
    shed: int = 0


@dataclass(slots=True)
class Transaction:
    """What is written together. Repeating one with the same `sequence` changes nothing."""

    sequence: int
    window_start_s: int
    counts: dict[Stratum, Count] = field(default_factory=dict)
    rows: Rows = field(default_factory=Rows)

    def drop_rows(self) -> None:
        """Give up the payloads and keep the counts."""
        self.rows = Rows()
        for count in self.counts.values():
            count.shed += count.stored
            count.stored = 0


class Store:
    """The database as the writer sees it. Every method raises the driver's errors, wrapped by SQLAlchemy."""

    def __init__(self, url: str, durability: Durability) -> None:
        self._url = url
        self._durability: Durability = durability
        self._path = sqlite_path(url)
        self._writer_id = uuid.uuid4().hex
        self._started_at_ms = time.time_ns() // 1_000_000
        self._connection: Connection | None = None
        self._file: tuple[int, int] | None = None

    def open(self) -> None:
        """Connect, migrate, and prove that the database can be written."""
        self.close()
        engine = writing_engine(self._url, self._durability)
        prepare(engine)
        self._connection = engine.connect()
        self._file = _identity(self._path)
        with self._connection.begin():
            statement = self._insert(schema.writer).on_conflict_do_nothing()
            values = {"id": self._writer_id, "started_at_ms": self._started_at_ms, "sequence": 0}
            self._connection.execute(statement, values)

    @property
    def is_open(self) -> bool:
        """Whether there is a connection, and the file behind it is still the one at the path."""
        return self._connection is not None and self._file == _identity(self._path)

    def write(self, transaction: Transaction) -> None:
        """Commit `transaction` whole, unless this writer has committed it already."""
        connection = self._connected()
        with connection.begin():
            if not self._advance(connection, transaction.sequence):
                return
            self._write_counts(connection, transaction)
            rows = transaction.rows
            documents = [
                {"hash": key, "codec": CODEC_ZSTD, "body": body} for key, body in rows.documents.items()
            ]
            self._write_rows(connection, schema.document, documents)
            self._write_rows(connection, schema.verdict, rows.verdicts)
            self._write_rows(connection, schema.payload, rows.payloads)
            self._write_rows(connection, schema.verdict_flag, rows.flags)

    def _advance(self, connection: Connection, sequence: int) -> bool:
        """Claim `sequence`; False if it has been claimed, which happens after a commit whose end was not seen."""
        mine = schema.writer.c.id == self._writer_id
        result = connection.execute(
            update(schema.writer).where(mine, schema.writer.c.sequence < sequence).values(sequence=sequence)
        )
        return result.rowcount == 1

    def _write_counts(self, connection: Connection, transaction: Transaction) -> None:
        counts = schema.stratum_count.c
        statement = self._insert(schema.stratum_count)
        statement = statement.on_conflict_do_update(
            index_elements=list(schema.stratum_count.primary_key),
            set_={name: counts[name] + statement.excluded[name] for name in ("verdicts", "stored", "shed")},
        )
        rows = [
            {
                "verifier": stratum.verifier,
                "version": stratum.version,
                "data_source": stratum.data_source,
                "stratum": stratum.name,
                "window_start_s": transaction.window_start_s,
                "verdicts": count.verdicts,
                "stored": count.stored,
                "shed": count.shed,
            }
            # In one order everywhere, so that two writers never wait for each other's rows.
            for stratum, count in sorted(transaction.counts.items())
        ]
        if rows:
            connection.execute(statement, rows)

    def _write_rows(self, connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            connection.execute(self._insert(table).on_conflict_do_nothing(), rows)

    def mark_closed(self) -> None:
        """Note that this writer ended by itself, with nothing left to write."""
        connection = self._connected()
        with connection.begin():
            connection.execute(
                update(schema.writer)
                .where(schema.writer.c.id == self._writer_id)
                .values(closed_at_ms=time.time_ns() // 1_000_000)
            )

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

    def _insert(self, table: Table) -> Any:
        """An INSERT that can say ON CONFLICT, which both dialects spell alike."""
        dialect = self._connected().dialect.name
        return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Which file is at `path`."""
    if path is None:
        return None
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino)
