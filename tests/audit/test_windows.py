"""Windows whose numbers are not whole are named, and no others."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from killable import Start, kill, read_acknowledged, wait_for
from recording import ACCEPT, keep, make_record, opened, rows, until, url_of
from sqlalchemy import create_engine

from audit.database import prepare, writing_engine
from audit.schema import stratum_count, writer
from audit.types import WINDOW_S, Durability
from audit.windows import ALIVE_S, incomplete_windows

HOUR_MS = WINDOW_S * 1000
T0 = 1_764_000_000 // WINDOW_S * WINDOW_S
"""Start of a window, in seconds."""


def incomplete(url: str, now_s: float | None = None) -> dict[int, set[str]]:
    """What `incomplete_windows` says."""
    engine = create_engine(url)
    with engine.connect() as connection:
        found = incomplete_windows(connection, now_s)
    engine.dispose()
    return {window: set(lacks) for window, lacks in found.items()}


def write_down(
    url: str,
    writers: list[tuple[float, float, float | None]],
    counts: list[tuple[int, int, int]],
) -> None:
    """Writers (began, complete until, closed) and counts (window, sampled, shed), in hours after T0."""
    engine = writing_engine(url, "enqueue")
    prepare(engine)
    with engine.begin() as connection:
        for n, (began, until_, closed) in enumerate(writers):
            at = [
                None if hours is None else int(T0 * 1000 + hours * HOUR_MS)
                for hours in (began, until_, closed)
            ]
            connection.execute(
                writer.insert().values(
                    id=str(n), started_at_ms=at[0], complete_until_ms=at[1], closed_at_ms=at[2], sequence=1
                )
            )
        for window, sampled, shed in counts:
            row = (*ACCEPT.stratum, T0 + window * WINDOW_S, 1000, sampled, shed)
            connection.execute(stratum_count.insert().values(row))
    engine.dispose()


@pytest.mark.parametrize(
    ("writers", "now", "lost"),
    [
        ([(0, 5, 5)], 9, []),  # ended by itself
        ([(0, 5.5, None)], 5.51, []),  # was heard of just now
        ([(0, 2.5, None), (2.6, 9, None)], 9, [2]),  # died, and was started again
        ([(0, 2.9, None), (3.1, 9, None)], 9, [2, 3]),  # died somewhere between two windows
        ([(0, 2.5, None), (4.5, 9, None)], 9, [2, 3, 4]),  # could not write for long
        ([(0, 2.5, None)], 5.2, [2, 3, 4, 5]),  # and still cannot, or nobody started it again
        ([(0, 2.5, None), (0, 9, None), (2.6, 9, None)], 9, [2]),  # one of two
        ([(0, 2.5, 2.5), (3, 3.5, None), (3.6, 9, 9)], 9, [3]),
    ],
)
def test_what_a_dead_writer_leaves(
    tmp_path: Path, writers: list[tuple[float, float, float | None]], now: float, lost: list[int]
) -> None:
    """From the last moment known to be whole until the next start, windows with counts are incomplete."""
    url = url_of(tmp_path / "log.db")
    write_down(url, writers, [(window, 10, 0) for window in range(9)])
    assert incomplete(url, T0 + now * WINDOW_S) == {T0 + n * WINDOW_S: {"lost_counts"} for n in lost}


@pytest.mark.parametrize(
    ("sampled", "shed", "named"), [(99, 1, False), (98, 2, True), (0, 1, True), (0, 0, False)]
)
def test_too_much_shed(new_database: Callable[[], str], sampled: int, shed: int, named: bool) -> None:
    """More than one in a hundred of what was selected, and a window is not whole."""
    url = new_database()
    write_down(url, [], [(0, sampled, shed), (1, 5, 0)])
    assert incomplete(url) == ({T0: {"shed"}} if named else {})


@pytest.mark.parametrize("durability", ["enqueue", "commit"])
def test_sigkill_makes_its_window_incomplete(start: Start, tmp_path: Path, durability: Durability) -> None:
    """A process that is killed leaves its window incomplete once it is missed; one that ends does not."""
    path = tmp_path / "log.db"
    ended = start(path, "commit", 0, 3)
    ended.communicate()
    wait_for(lambda: len(rows(path, "SELECT 1 FROM writer WHERE closed_at_ms IS NOT NULL")) == 1)
    assert incomplete(url_of(path), time.time() + 2 * ALIVE_S) == {}
    process = start(path, durability, 10, 5)
    read_acknowledged(process, 5)
    wait_for(lambda: len(rows(path, "SELECT 1 FROM verdict")) == 8)
    kill(process)
    windows = {row[0] for row in rows(path, "SELECT window_start_s FROM stratum_count")}
    assert incomplete(url_of(path), time.time()) == {}
    missed = incomplete(url_of(path), time.time() + 2 * ALIVE_S)
    assert max(windows) in missed
    assert set(missed) <= windows
    assert all(lacks == {"lost_counts"} for lacks in missed.values())
    # Once it is started again, later windows are whole.
    start(path, durability, 20, 1).communicate()
    assert incomplete(url_of(path), time.time() + 2 * ALIVE_S) == missed


async def test_an_idle_writer_says_that_it_is_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without anything to write, what is known to be whole still moves on."""
    monkeypatch.setattr("audit.writer.REST_S", 0.02)
    monkeypatch.setattr("audit.writer.UNSEEN_MS", 0)
    path = tmp_path / "log.db"
    query = "SELECT complete_until_ms FROM writer"
    async with opened(path) as log:
        await keep(log, make_record())
        [(first,)] = rows(path, query)
        await until(lambda: rows(path, query)[0][0] > first + 50)


async def test_nothing_is_called_whole_that_still_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While verdicts wait behind a broken database, their time is not called complete."""
    monkeypatch.setattr("audit.database.BUSY_TIMEOUT_S", 0.05)
    monkeypatch.setattr("audit.writer.REST_S", 0.02)
    monkeypatch.setattr("audit.writer.UNSEEN_MS", 0)
    path = tmp_path / "log.db"
    async with opened(path) as log:
        blocker = sqlite3.connect(path, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        before_ms = time.time() * 1000
        await keep(log, make_record())
        await until(lambda: log.status().degraded)
        [(known,)] = rows(path, "SELECT complete_until_ms FROM writer")
        assert known <= before_ms
        blocker.execute("COMMIT")
        blocker.close()
        await until(lambda: rows(path, "SELECT count(*) FROM verdict") == [(1,)])
