"""Which Idempotency-Keys were used lately, by any worker: a small file that all workers share."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Final, Literal

_SWEEP_EVERY_S: Final = 30.0
_LOCK_WAIT_S: Final = 0.05  # the event loop waits: rather count a repeat twice than stand still

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS claim (key BLOB PRIMARY KEY, body BLOB NOT NULL, until REAL NOT NULL) WITHOUT ROWID
"""

Claim = Literal["first", "repeat", "mismatch"]


class Claims:
    """Remembers keys and the digests of their bodies for `window_s`. Raises sqlite3.Error when it cannot."""

    def __init__(self, path: Path, window_s: float) -> None:
        self._window_s = window_s
        self._sweep_at = 0.0
        self._connection = sqlite3.connect(
            path, timeout=_LOCK_WAIT_S, isolation_level=None, check_same_thread=False
        )
        try:
            # What a power failure takes away is a few keys of the last minutes; the verdicts are elsewhere.
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = OFF")
            self._connection.execute(_TABLE)
        except sqlite3.Error:
            self._connection.close()
            raise

    def claim(self, key: bytes, body: bytes) -> Claim:
        """Say whether `key` is new, and remember it with `body` if so."""
        now = time.time()
        if now >= self._sweep_at:
            self._connection.execute("DELETE FROM claim WHERE until < ?", (now,))
            self._sweep_at = now + _SWEEP_EVERY_S
        inserted = self._connection.execute(
            "INSERT INTO claim VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE"
            " SET body = ?2, until = ?3 WHERE until < ?4",
            (key, body, now + self._window_s, now),
        ).rowcount
        if inserted:
            return "first"
        row = self._connection.execute("SELECT body FROM claim WHERE key = ?", (key,)).fetchone()
        return "repeat" if row is None or row[0] == body else "mismatch"

    def release(self, key: bytes) -> None:
        """Forget `key`: its request was not answered."""
        self._connection.execute("DELETE FROM claim WHERE key = ?", (key,))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
