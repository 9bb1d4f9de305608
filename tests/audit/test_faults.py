"""Databases in trouble: verdicts go on, the status says why, and later only shed payloads are missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from recording import ACCEPT, counted, keep, make_record, opened, rows, until, url_of

from audit.log import VerdictLog
from audit.types import LogConfig

HERE = Path(__file__).parent
HOLD_LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


def run_in_trouble(
    path: Path, make: str, end: str, before: int, *, own_mounts: bool = False
) -> dict[str, Any]:
    """Run `fault_process.py`; in a mount namespace of its own where it has a small file system at `path`."""
    command = [sys.executable, str(HERE / "fault_process.py"), str(path), make, end, str(before)]
    if own_mounts:
        flags = ["--mount"] if os.geteuid() == 0 else ["--mount", "--map-root-user"]
        mount = f'mount -t tmpfs -o size=2m tmpfs {path.parent} && exec "$@"'
        command = ["unshare", *flags, "sh", "-c", mount, "sh", *command]
    environment = os.environ | {"PYTHONPATH": f"{HERE}:{HERE.parents[1]}"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100, check=False)
    if own_mounts and "permission denied" in done.stderr.lower() + done.stdout.lower():
        pytest.skip("this host lets nobody mount a file system of one's own")
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def assert_survived(seen: dict[str, Any], reason: str) -> None:
    """Degraded with the reason while it lasted, well afterwards; verdicts counted once, no label lost."""
    assert seen["reason"].startswith(reason)
    assert seen["failures"] > 0
    assert seen["acknowledged_before"]
    assert not seen["acknowledged_in_trouble"]
    assert seen["acknowledged_afterwards"]
    assert seen["reason_afterwards"] == ""
    assert any(seen["refusals"])
    assert seen["refused_afterwards"] == ""
    assert seen["labels_stored"] == seen["labels_acknowledged"] > 0
    assert seen["counted"] == seen["kept"]
    assert seen["shed"] > 0
    assert seen["stored"] == seen["rows"] == seen["kept"] - seen["shed"]
    assert seen["check"] == "ok"


def test_disk_full(tmp_path: Path) -> None:
    """A full disk, while the log runs."""
    ballast = tmp_path / "ballast"
    fill = f"head -c 10m /dev/zero > {ballast} 2> /dev/null || true"
    seen = run_in_trouble(tmp_path / "log.db", fill, f"rm {ballast}", 3, own_mounts=True)
    assert_survived(seen, "full: database or disk is full")


def test_disk_full_at_start(tmp_path: Path) -> None:
    """A full disk on which the database does not even exist yet."""
    ballast = tmp_path / "ballast"
    fill = f"head -c 10m /dev/zero > {ballast} 2> /dev/null || true"
    seen = run_in_trouble(tmp_path / "log.db", fill, f"rm {ballast}", 0, own_mounts=True)
    assert_survived(seen, "full: ")


def test_read_only(tmp_path: Path) -> None:
    """A file system that takes no writes."""
    seen = run_in_trouble(
        tmp_path / "log.db",
        f"mount -o remount,ro {tmp_path}",
        f"mount -o remount,rw {tmp_path}",
        0,
        own_mounts=True,
    )
    assert_survived(seen, "read_only: ")


def test_files_may_not_grow(tmp_path: Path) -> None:
    """A limit on the size of files, as service managers set them."""
    seen = run_in_trouble(
        tmp_path / "log.db",
        "prlimit --pid $PPID --fsize=200000:",
        "prlimit --pid $PPID --fsize=unlimited:",
        3,
    )
    assert_survived(seen, "unavailable: disk I/O error")


async def test_locked_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else's transaction that does not end."""
    monkeypatch.setattr("audit.database.BUSY_TIMEOUT_S", 0.1)
    path = tmp_path / "log.db"
    async with opened(path, durability="commit") as log:
        command = [sys.executable, "-c", HOLD_LOCK, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            assert not await keep(log, make_record())
            assert log.status().degraded
            assert log.status().reason == "locked: database is locked"
            assert not await keep(log, make_record())
            holder.communicate()
        await until(lambda: not log.status().degraded)
        assert await keep(log, make_record())
    assert counted(path) == {ACCEPT: (3, 3, 0)}


async def test_not_a_database(tmp_path: Path) -> None:
    """Garbage where the database should be, until somebody moves it away."""
    path = tmp_path / "log.db"
    path.write_bytes(os.urandom(20_000))
    log = VerdictLog(LogConfig(url_of(path), budget=1_000_000, durability="commit"))
    log.start()
    assert not await keep(log, make_record())
    assert log.status().reason == "corrupt: file is not a database"
    assert log.status().failures > 0
    path.rename(tmp_path / "garbage")
    await until(lambda: not log.status().degraded)
    assert await keep(log, make_record())
    await log.close()
    assert counted(path) == {ACCEPT: (2, 2, 0)}


async def test_overwritten_while_open(tmp_path: Path) -> None:
    """Garbage written over the open database, until it is moved away."""
    path = tmp_path / "log.db"
    async with opened(path, durability="commit") as log:
        assert await keep(log, make_record())
        for part in tmp_path.iterdir():
            if not part.name.endswith(".lock"):
                part.write_bytes(os.urandom(40_000))
        await until_degraded(log)
        assert log.status().reason.startswith("corrupt: ")
        for part in tmp_path.iterdir():
            part.unlink()
        await until(lambda: not log.status().degraded)
        assert await keep(log, make_record())
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


async def until_degraded(log: VerdictLog) -> None:
    """Keep verdicts until the log is degraded."""
    while not log.status().degraded:
        await keep(log, make_record())


async def test_removed_while_open(tmp_path: Path) -> None:
    """A database that somebody deletes is made anew at once, instead of writing to a file without a name."""
    path = tmp_path / "log.db"
    async with opened(path, durability="commit") as log:
        assert await keep(log, make_record())
        for part in tmp_path.iterdir():
            part.unlink()
        assert await keep(log, make_record(), make_record())
        assert counted(path) == {ACCEPT: (2, 2, 0)}


async def test_closing_gives_up_at_its_deadline(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A service can end while its database is in trouble, and says what is lost."""
    path = tmp_path / "log.db"
    path.write_bytes(b"garbage" * 1000)
    log = VerdictLog(LogConfig(url_of(path), budget=1_000_000))
    log.start()
    assert await keep(log, make_record(), make_record())
    await log.close(0.3)
    assert "counts and 2 payloads were not written" in caplog.text


async def test_counts_that_are_lost_are_named_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Ending while the database is in trouble is never silent, even when no payload was selected."""
    path = tmp_path / "log.db"
    path.write_bytes(b"garbage" * 1000)
    log = VerdictLog(LogConfig(url_of(path)))
    log.start()
    log.count(ACCEPT)
    await log.close(0.3)
    assert "counts and 0 payloads were not written" in caplog.text
