"""Counting and storing: exact, together, bounded."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recording import ACCEPT, REJECT, counted, keep, make_record, opened, rows, until

from audit.log import VerdictLog
from audit.store import Count, Store, Transaction
from audit.types import Cell, Durability, FaultKind, LogConfig, Stratum

CELLS = st.builds(
    Cell,
    st.builds(
        Stratum,
        verifier=st.sampled_from(["numeric", "code"]),
        version=st.sampled_from(["1.0.0", "1.0.1"]),
        data_source=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5),
        name=st.sampled_from(["accept/plain", "reject/plain", "unscorable/verifier_timeout"]),
    ),
    window_start_s=st.sampled_from([0, 3600]),
)
CALLS = st.lists(st.tuples(CELLS, st.integers(1, 5), st.booleans()), max_size=12)


@settings(max_examples=15)
@given(st.lists(CALLS, min_size=1, max_size=5))
def test_counts_are_what_was_counted(callers: list[list[tuple[Cell, int, bool]]]) -> None:
    """Callers side by side, with and without payloads: every cell's numbers come out exact."""

    async def call(log: VerdictLog, calls: list[tuple[Cell, int, bool]]) -> None:
        for cell, n, stored in calls:
            log.count(cell, n)
            if stored:
                log.store(make_record(cell=cell))
            if n > 2:
                await log.acknowledge()

    async def run(path: Path) -> None:
        async with opened(path) as log:
            await asyncio.gather(*(call(log, calls) for calls in callers))

    verdicts: Counter[Cell] = Counter()
    stored: Counter[Cell] = Counter()
    for cell, n, with_payload in (one for calls in callers for one in calls):
        verdicts[cell] += n
        stored[cell] += with_payload
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log.db"
        asyncio.run(run(path))
        assert counted(path) == {s: (n, stored[s], 0) for s, n in verdicts.items()}
        assert rows(path, "SELECT count(*) FROM payload") == [(stored.total(),)]


async def test_commit_means_on_disk(tmp_path: Path) -> None:
    """With durability commit, whoever reads the file right after the acknowledgement finds the verdict."""
    path = tmp_path / "log.db"
    async with opened(path, durability="commit") as log:
        for n in range(1, 6):
            assert await keep(log, make_record())
            assert counted(path) == {ACCEPT: (n, n, 0)}


@pytest.mark.parametrize("durability", ["enqueue", "commit"])
async def test_written_without_acknowledgement(tmp_path: Path, durability: Durability) -> None:
    """What a caller who went away left behind is written all the same, in a moment."""
    path = tmp_path / "log.db"
    async with opened(path, durability=durability) as log:
        log.count(REJECT, 3)
        await until(lambda: counted(path) == {REJECT: (3, 0, 0)})


async def test_full_queue_sheds_payloads_and_keeps_counts(tmp_path: Path) -> None:
    """Behind a locked database only as many payloads wait as the queue holds; every verdict is counted."""
    path = tmp_path / "log.db"
    async with opened(path, queue_records=10) as log:
        blocker = sqlite3.connect(path, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        for _ in range(5):
            await keep(log, *(make_record() for _ in range(7)))
        status = log.status()
        assert status.queue_length == 10
        assert status.shed == 25
        blocker.execute("ROLLBACK")
        blocker.close()
    assert counted(path) == {ACCEPT: (35, 10, 25)}
    assert rows(path, "SELECT count(*) FROM payload") == [(10,)]


async def test_queue_is_bounded_in_bytes(tmp_path: Path) -> None:
    """A few large payloads fill the queue as many small ones do, whatever part of them is large."""
    path = tmp_path / "log.db"
    large = "x" * 40_000
    records = [
        make_record(response=large),
        make_record(ground_truth=[large]),
        make_record(prompt=[{"role": "user", "content": large}]),
        make_record(meta={"tags": {"note": large}}),
        make_record(reply=json.dumps({"verdict": {"detail": {"stdout": large}}}).encode()),
    ]
    async with opened(path, queue_bytes=100_000) as log:
        await keep(log, *records)
        assert log.status().shed == 3
        assert log.status().queue_bytes <= 100_000
    assert counted(path) == {ACCEPT: (5, 2, 3)}


async def test_room_made_in_time_sheds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Producers that acknowledge their chunks are slowed down to the writer's speed before any are shed."""
    monkeypatch.setattr("audit.log.COMMIT_WAIT_S", 60.0)
    path = tmp_path / "log.db"
    async with opened(path, queue_records=60, durability="commit") as log:
        await asyncio.gather(*(keep(log, *(make_record() for _ in range(20))) for _ in range(30)))
        assert log.status().shed == 0
    assert counted(path) == {ACCEPT: (600, 600, 0)}


async def test_one_bad_record_stops_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A record that cannot be written as JSON is named in the log and counted; its neighbours are stored."""
    path = tmp_path / "log.db"
    bad = make_record(ground_truth={1, 2})
    with caplog.at_level(logging.ERROR, "goldcheck.audit"):
        async with opened(path) as log:
            await keep(log, make_record(), bad, make_record())
    assert counted(path) == {ACCEPT: (3, 2, 1)}
    assert bad.id in caplog.text


async def test_rows_the_database_refuses_keep_their_counts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Columns of a wrong type cost that transaction its payloads, not its counts, and not what follows."""
    path = tmp_path / "log.db"
    async with opened(path, durability="commit") as log:
        assert await keep(log, make_record(reward="nothing", created_at_ms=2**70))
        assert await keep(log, make_record())
    assert counted(path) == {ACCEPT: (2, 1, 1)}
    assert "refuses" in caplog.text


def test_a_transaction_is_written_once(tmp_path: Path) -> None:
    """Repeating a commit whose end was not seen changes nothing, and the next one counts again."""
    path = tmp_path / "log.db"
    store = Store(LogConfig(f"sqlite:///{path}"))
    store.open()
    for sequence in (1, 1, 2, 1, 2, 3):
        store.write(Transaction(sequence, counts={ACCEPT: Count(verdicts=5)}))
    store.close()
    assert counted(path) == {ACCEPT: (15, 0, 0)}


async def test_a_writer_says_when_it_ended(tmp_path: Path) -> None:
    """A log that was closed in order says so in its row, and when it last wrote."""
    path = tmp_path / "log.db"
    async with opened(path) as log:
        await keep(log, make_record())
        assert rows(path, "SELECT closed_at_ms FROM writer") == [(None,)]
    [(started, last, closed)] = rows(
        path, "SELECT started_at_ms, complete_until_ms, closed_at_ms FROM writer"
    )
    assert started <= last <= closed


async def test_the_observer_hears_of_everything(tmp_path: Path) -> None:
    """What metrics are made of: outcomes by stratum, commits, the queue's length."""

    class Ear:
        def __init__(self) -> None:
            self.outcomes: Counter[tuple[str, str]] = Counter()
            self.commits = 0
            self.lengths: list[int] = []

        def recorded(self, stratum: str, outcome: str, n: int) -> None:
            self.outcomes[stratum, outcome] += n

        def committed(self, duration_s: float, database_bytes: int) -> None:
            assert duration_s > 0
            assert database_bytes > 0
            self.commits += 1

        def failed(self, kind: FaultKind) -> None:
            raise AssertionError(kind)

        def queued(self, length: int) -> None:
            self.lengths.append(length)

    ear = Ear()
    async with opened(tmp_path / "log.db", ear) as log:
        log.count(REJECT, 4)
        await keep(log, make_record(), make_record(ground_truth={1}))
    assert +ear.outcomes == Counter(
        {("accept/plain", "sampled"): 1, ("accept/plain", "shed"): 1, ("reject/plain", "skipped"): 4}
    )
    assert ear.commits >= 1
    assert ear.lengths[-1] == 0
