"""The database from nothing to the present schema."""

from __future__ import annotations

import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from recording import rows, url_of
from sqlalchemy import text

from audit import schema
from audit.database import prepare, writing_engine
from audit.migrations.upgrade import configuration

PREPARE = """
import sys
from audit.database import prepare, writing_engine
prepare(writing_engine(sys.argv[1], "enqueue"))
print("alembic" in sys.modules)
"""


def prepare_elsewhere(url: str) -> subprocess.Popen[str]:
    """Prepare the database in another process, which prints whether it loaded Alembic."""
    command = [sys.executable, "-c", PREPARE, url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_migrations_build_the_schema(tmp_path: Path) -> None:
    """From an empty file the migrations give the tables that the code uses, column by column."""
    engine = writing_engine(url_of(tmp_path / "log.db"), "enqueue")
    prepare(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []


def test_revision_is_the_newest(tmp_path: Path) -> None:
    """The revision that the code names is the last of the migrations, and the one a new database has."""
    path = tmp_path / "log.db"
    engine = writing_engine(url_of(path), "enqueue")
    prepare(engine)
    with engine.connect() as connection:
        script = ScriptDirectory.from_config(configuration(connection))
    assert script.get_current_head() == schema.REVISION
    assert rows(path, "SELECT version_num FROM alembic_version") == [(schema.REVISION,)]


def test_file_settings(tmp_path: Path) -> None:
    """A new file keeps a write-ahead log, and can give back space without being rewritten."""
    path = tmp_path / "deep" / "folder" / "log.db"
    prepare(writing_engine(url_of(path), "enqueue"))
    assert rows(path, "PRAGMA journal_mode") == [("wal",)]
    assert rows(path, "PRAGMA auto_vacuum") == [(2,)]


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    """The log and what SQLite keeps beside it; a file that is there keeps the mode that it was given."""
    path = tmp_path / "log.db"
    engine = writing_engine(url_of(path), "enqueue")
    prepare(engine)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE more (n)"))
        modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in tmp_path.glob("log.db*")}
    del modes["log.db.lock"]  # empty
    assert modes == {"log.db": 0o600, "log.db-wal": 0o600, "log.db-shm": 0o600}
    path.chmod(0o640)
    prepare(engine)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_several_processes_at_once(new_database: Callable[[], str]) -> None:
    """Workers that start together on an empty database all find it ready; one of them builds it."""
    url = new_database()
    processes = [prepare_elsewhere(url) for _ in range(4)]
    loaded = [process.communicate(timeout=60)[0].strip() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert sorted(loaded) == ["False", "False", "False", "True"]
