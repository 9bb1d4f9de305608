"""Databases to keep verdicts in."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import postgresql
import pytest
from killable import start

__all__ = ["start"]

_serial = itertools.count()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """URL of a PostgreSQL server; skipped where the host has none."""
    if not postgresql.is_installed():
        pytest.skip("PostgreSQL is not installed")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with postgresql.running(Path(folder)) as url:
            yield url


@pytest.fixture(scope="session")
def new_postgresql(postgresql_server: str) -> Callable[[], str]:
    """Makes an empty PostgreSQL database and returns its URL."""
    return lambda: postgresql.new_database(postgresql_server, f"log{next(_serial)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], str]:
    """Makes an empty database, of either kind, and returns its URL."""
    if request.param == "postgresql":
        make: Callable[[], str] = request.getfixturevalue("new_postgresql")
        return make
    folder = tmp_path_factory.mktemp("databases")
    return lambda: f"sqlite:///{folder}/{next(_serial)}.db"
