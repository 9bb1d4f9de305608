"""`/readyz`: 503 until all that is on offer works, 200 `degraded` when verdicts are given and not kept."""

from __future__ import annotations

import fcntl
import time
from pathlib import Path

import httpx
from serving import Client, serving, verify


def wait_for(client: Client, status: str) -> httpx.Response:
    """Ask until the service says so."""
    deadline = time.monotonic() + 20
    while (reply := client.get("/readyz")).json()["status"] != status:
        assert time.monotonic() < deadline, reply.text
        time.sleep(0.01)
    return reply


def test_not_ready_while_the_database_is_being_opened(tmp_path: Path) -> None:
    """Nobody is sent to a worker that may yet find that it cannot write, though it would answer."""
    with (tmp_path / "goldcheck.db.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process prepares the same file
        with serving(tmp_path) as client:
            reply = client.get("/readyz")
            assert reply.status_code == 503
            assert reply.json() == {
                "status": "not_ready",
                "reasons": ["verdict log: the database is being opened"],
            }
            assert verify(client)["reward"] == 1.0
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert wait_for(client, "ready").status_code == 200


def test_a_data_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """The service starts, verdicts are given, and the reason is told."""
    (tmp_path / "file").touch()
    with serving(tmp_path / "file" / "folder") as client:
        reply = wait_for(client, "degraded")
        assert reply.status_code == 200
        (reason,) = reply.json()["reasons"]
        assert "Not a directory" in reason
        assert verify(client)["reward"] == 1.0
