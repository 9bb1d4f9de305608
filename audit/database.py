"""Opening the database: connection settings, migrations, and what its errors mean."""

from __future__ import annotations

import errno
import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Dialect, Engine, Table, create_engine, event, func, inspect, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from audit import schema
from audit.types import Durability, FaultKind

BUSY_TIMEOUT_S = 2.0
"""How long a writer waits for another process's transaction; those of this service take milliseconds."""

JOURNAL_BYTES = 64 << 20
"""The write-ahead log is cut back to this size after a checkpoint."""

_PREPARING = 0x676F6C64
"""PostgreSQL's advisory lock of those who prepare a database."""

DATABASE_ERRORS = (SQLAlchemyError, sqlite3.Error, OSError)
"""What a database in trouble raises. SQLite's own error comes unwrapped where a connection is set up."""


def sqlite_path(url: str) -> Path | None:
    """The file behind an SQLite URL; None for other databases and in memory."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        return None
    return Path(str(parsed.database))


def writing_engine(url: str, durability: Durability) -> Engine:
    """An engine whose transactions take the write lock at once, for one thread."""
    engine = _create(url)
    if engine.dialect.name == "sqlite":
        synchronous = "FULL" if durability == "commit" else "NORMAL"
        _configure_sqlite(engine, begin="BEGIN IMMEDIATE", pragmas=(f"synchronous={synchronous}",))
    return engine


def reading_engine(url: str) -> Engine:
    """An engine for queries, from any thread."""
    engine = _create(url)
    if engine.dialect.name == "sqlite":
        _configure_sqlite(engine, begin="BEGIN", pragmas=("query_only=ON",))
    return engine


def _create(url: str) -> Engine:
    # Parameters by position, as `Statements` gives them. Errors must not quote responses.
    style = "qmark" if make_url(url).get_backend_name() == "sqlite" else "format"
    return create_engine(url, poolclass=NullPool, paramstyle=style, hide_parameters=True)


def _configure_sqlite(engine: Engine, *, begin: str, pragmas: tuple[str, ...]) -> None:
    @event.listens_for(engine, "connect")
    def connect(connection: sqlite3.Connection, _record: Any) -> None:
        # The driver must not begin transactions of its own accord: `begin` below says how they begin.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={int(BUSY_TIMEOUT_S * 1000)}")
        cursor.execute(f"PRAGMA journal_size_limit={JOURNAL_BYTES}")
        for pragma in pragmas:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def do_begin(connection: Any) -> None:
        connection.exec_driver_sql(begin)


def insert_into(table: Table, dialect: Dialect) -> sqlite.Insert | postgresql.Insert:
    """An insert that may say what becomes of a row that is there already."""
    return sqlite.insert(table) if dialect.name == "sqlite" else postgresql.insert(table)


def prepare(engine: Engine) -> None:
    """Make the database, or bring it to `schema.REVISION`; several processes may do so at once."""
    with _one_at_a_time(engine):
        if engine.dialect.name == "sqlite":
            _make_write_ahead(engine)
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(select(func.pg_advisory_xact_lock(_PREPARING)))
            if _revision(connection) != schema.REVISION:
                from audit.migrations.upgrade import upgrade

                upgrade(connection)


def _make_write_ahead(engine: Engine) -> None:
    """Switch the file to a write-ahead log. `auto_vacuum` first: afterwards a new file would keep it off."""
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute("PRAGMA auto_vacuum=INCREMENTAL")
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.close()
    finally:
        connection.close()


def _revision(connection: Any) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.scalar(select(text("version_num")).select_from(text("alembic_version")))
    return found


@contextmanager
def _one_at_a_time(engine: Engine) -> Iterator[None]:
    """Keep other processes of this host from preparing the same file; the kernel frees the lock."""
    path = sqlite_path(str(engine.url))
    if path is None:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        # For its owner alone: it holds expected answers. SQLite gives its other files the same mode.
        path.touch(mode=0o600)
    with path.with_name(path.name + ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fault(error: Exception) -> tuple[FaultKind, str]:
    """What is wrong with the database, as a kind and in words, given the error it raised."""
    origin = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    message = str(origin) or type(origin).__name__
    code = getattr(origin, "sqlite_errorcode", None)
    if code is not None:
        return _SQLITE_FAULTS.get(code & 0xFF, "unavailable"), message
    if isinstance(origin, OSError):
        return _OS_FAULTS.get(origin.errno or 0, "unavailable"), message
    return "unavailable", message


_SQLITE_FAULTS: dict[int, FaultKind] = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_READONLY: "read_only",
    sqlite3.SQLITE_CANTOPEN: "unavailable",
    sqlite3.SQLITE_CORRUPT: "corrupt",
    sqlite3.SQLITE_NOTADB: "corrupt",
}
_OS_FAULTS: dict[int, FaultKind] = {
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EROFS: "read_only",
    errno.EACCES: "read_only",
}
