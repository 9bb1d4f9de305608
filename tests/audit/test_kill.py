"""Processes that are killed: what each durability promises, with real processes and SIGKILL."""

from __future__ import annotations

from pathlib import Path

import pytest
from killable import Start, kill, read_acknowledged, wait_for
from recording import make_id, rows


def stored(path: Path) -> list[str]:
    """Ids of the verdicts in the file, oldest first; the file must be sound and agree with its counts."""
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    ids = [row[0] for row in rows(path, "SELECT id FROM verdict ORDER BY id")]
    assert rows(path, "SELECT verdict_id FROM payload ORDER BY 1") == [(verdict_id,) for verdict_id in ids]
    sums = rows(path, "SELECT sum(verdicts), sum(sampled), sum(shed) FROM stratum_count")
    assert sums == [(len(ids), len(ids), 0)]
    return ids


@pytest.mark.parametrize("after", [1, 40, 300])
def test_commit_loses_nothing_acknowledged(start: Start, tmp_path: Path, after: int) -> None:
    """With durability commit, everything acknowledged before SIGKILL is in the file, and at most one more."""
    path = tmp_path / "log.db"
    process = start(path, "commit", 0, 100_000)
    acknowledged = read_acknowledged(process, after)
    acknowledged += kill(process)
    ids = stored(path)
    assert ids[: len(acknowledged)] == [make_id(serial=serial) for serial in acknowledged]
    assert len(ids) <= len(acknowledged) + 1


def test_enqueue_loses_only_the_newest(start: Start, tmp_path: Path) -> None:
    """With durability enqueue, SIGKILL under load costs the newest verdicts; none before, none in part."""
    path = tmp_path / "log.db"
    process = start(path, "enqueue", 0, 100_000)
    acknowledged = read_acknowledged(process, 2_000)
    # Not read meanwhile, the process goes on until its pipe is full: the writer may be behind by thousands.
    wait_for(lambda: bool(rows(path, "SELECT id FROM verdict LIMIT 1")))
    acknowledged += read_acknowledged(process, 2_000)
    acknowledged += kill(process)
    ids = stored(path)
    assert ids == [make_id(serial=serial) for serial in range(len(ids))]
    assert 0 < len(ids) <= len(acknowledged) + 1


def test_enqueue_writes_without_being_asked(start: Start, tmp_path: Path) -> None:
    """With durability enqueue, a process left alone writes everything; SIGKILL then costs nothing."""
    path = tmp_path / "log.db"
    process = start(path, "enqueue", 0, 100)
    read_acknowledged(process, 100)
    wait_for(lambda: len(rows(path, "SELECT id FROM verdict")) == 100)
    kill(process)
    assert len(stored(path)) == 100


def test_two_writers_on_one_file(start: Start, tmp_path: Path) -> None:
    """Two processes write at the same time; every verdict of both is there, and the counts are their sum."""
    path = tmp_path / "log.db"
    processes = [start(path, "commit", first, 150) for first in (0, 1_000)]
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0, 0]
    serials = [*range(150), *range(1_000, 1_150)]
    assert stored(path) == [make_id(serial=serial) for serial in serials]
    assert rows(path, "SELECT count(*) FROM writer WHERE closed_at_ms IS NOT NULL") == [(2,)]


def test_one_of_two_writers_is_killed(start: Start, tmp_path: Path) -> None:
    """A worker that is killed holds up no other, and takes nothing acknowledged with it."""
    path = tmp_path / "log.db"
    survivor, victim = start(path, "commit", 0, 200), start(path, "commit", 1_000, 100_000)
    acknowledged = read_acknowledged(victim, 20)
    acknowledged += kill(victim)
    survivor.communicate()
    assert survivor.returncode == 0
    ids = set(stored(path))
    assert ids >= {make_id(serial=serial) for serial in [*range(200), *acknowledged]}
