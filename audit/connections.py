"""One transaction at a time with the database, for whoever asks or tells it something now and then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from sqlalchemy import Connection, Engine

from audit.database import DATABASE_ERRORS, fault, reading_engine, writing_engine
from audit.errors import LogUnavailableError
from audit.types import Durability


class Database:
    """The database at a URL, for any thread; a connection for each transaction.

    durability: of what is written; None only reads, and neither waits for writers nor keeps them waiting.
    """

    def __init__(self, url: str, durability: Durability | None = None) -> None:
        self._url = url
        self._durability = durability

    @cached_property
    def _engine(self) -> Engine:
        if self._durability is None:
            return reading_engine(self._url)
        return writing_engine(self._url, self._durability)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """All of what is done inside, or nothing. Raises `LogUnavailableError`."""
        try:
            with self._engine.begin() as connection:
                yield connection
        except DATABASE_ERRORS as error:
            raise LogUnavailableError(fault(error)[1]) from error
