"""The database stays within its bounds, and only the oldest unlabelled texts pay for it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from recording import ACCEPT, keep, make_id, make_record, opened, rows, until, url_of
from sqlalchemy import create_engine, select
from test_trim import CANARY, label, read

from audit import retention
from audit.log import VerdictLog
from audit.retention import Tidying
from audit.schema import document, payload, stratum_count, verdict
from audit.store import Store
from audit.types import LogConfig, Retention, VerdictRecord

NOW_MS = time.time_ns() // 1_000_000
DAY_MS = 86_400_000


def aged(days: float, serial: int, **fields: object) -> VerdictRecord:
    """A record of so many days ago, with texts that do not compress."""
    noise = random.Random(serial).randbytes(1500).hex()
    made_ms = NOW_MS - int(days * DAY_MS)
    texts = {"prompt": noise[:1200], "response": noise}
    return make_record(id=make_id(made_ms, serial), created_at_ms=made_ms, **texts | fields)


async def filled(url: str, *records: VerdictRecord) -> None:
    """Keep these verdicts."""
    log = VerdictLog(LogConfig(url, budget=10_000, durability="commit"))
    log.start()
    await until(lambda: not log.status().degraded)
    assert await keep(log, *records)
    await log.close()


def tidy(url: str, **bounds: float) -> int:
    """Tidy up until there is nothing more to do; returns how many steps it took."""
    store = Store(LogConfig(url, retention=Retention(**bounds)))  # type: ignore[arg-type]
    store.open()
    steps = 1
    while store.tidy():
        steps += 1
        assert steps < 1_000
    store.close()
    return steps


async def test_by_age(new_database: Callable[[], str]) -> None:
    """What is older goes with all that belongs to it; labelled verdicts, canaries and counts stay."""
    url = new_database()
    old = [aged(30.01 + n / 100, n) for n in range(600)]
    kept = [aged(31, 601), aged(32, 602, cell=CANARY), aged(29, 603)]
    shared = aged(40, 604, prompt=kept[2].prompt)
    await filled(url, *old, *kept, shared)
    label(url, kept[0].id)
    assert tidy(url, max_age_days=30) >= 3
    assert {row[0] for row in read(url, select(verdict.c.id))} == {record.id for record in kept}
    assert {row[0] for row in read(url, select(payload.c.verdict_id))} == {record.id for record in kept}
    assert sorted(read(url, select(document.c.uses))) == [(1,), (1,), (1,)]
    counted = {
        row[0]: row[1:] for row in read(url, select(stratum_count.c.stratum, stratum_count.c.verdicts))
    }
    assert counted == {"accept/plain": (603,), "canary/accept": (1,)}


async def test_by_bytes_the_oldest_go_and_the_file_shrinks(tmp_path: Path) -> None:
    """Above its bound the file loses the oldest verdicts, a little below it, and gives the space back."""
    path = tmp_path / "log.db"
    records = [aged(30 - n / 100, n) for n in range(2_000)]
    await filled(url_of(path), *records)
    label(url_of(path), records[0].id)
    before = path.stat().st_size
    bound = before // 2
    tidy(url_of(path), max_bytes=bound)
    slack = retention.FREE_PAGES * 4096
    assert path.stat().st_size <= bound * retention.LOW_WATER * 1.05 + slack
    left = [row[0] for row in rows(path, "SELECT id FROM verdict ORDER BY id")]
    assert left == [records[0].id, *(record.id for record in records[-len(left) + 1 :])]
    assert len(left) > 700
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    assert tidy(url_of(path), max_bytes=bound) == 1


async def test_by_bytes_in_postgresql(new_postgresql: Callable[[], str]) -> None:
    """Where files do not shrink with their rows, what the rows hold is what counts."""
    url = new_postgresql()
    await filled(url, *(aged(30 - n / 100, n) for n in range(1_000)))
    bound = 1 << 20
    tidy(url, max_bytes=bound)
    engine = create_engine(url)
    with engine.begin() as connection:
        used = retention._used_bytes(connection, bound)
    engine.dispose()
    assert bound // 2 < used <= bound
    assert len(read(url, select(verdict.c.id))) < 1_000


async def test_open_windows_are_left_alone(tmp_path: Path) -> None:
    """However small the bound, verdicts of this hour and the one before stay: samples still change."""
    path = tmp_path / "log.db"
    records = [aged(0.02, 1), aged(0.0, 2), aged(0.2, 3)]
    await filled(url_of(path), *records)
    tidy(url_of(path), max_bytes=1)
    assert {row[0] for row in rows(path, "SELECT id FROM verdict")} == {records[0].id, records[1].id}


async def test_the_writer_tidies_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that is open removes what is too old while it goes on writing."""
    monkeypatch.setattr("audit.writer.REST_S", 0.05)
    path = tmp_path / "log.db"
    await filled(url_of(path), *(aged(30, n) for n in range(700)))
    async with opened(path, retention=Retention(max_age_days=1)) as log:
        for n in range(5):
            await keep(log, aged(0, 1_000 + n))
        await until(lambda: rows(path, "SELECT count(*) FROM verdict") == [(5,)])


def test_no_bounds_no_work(tmp_path: Path) -> None:
    """Without bounds nothing is looked for."""
    store = Store(LogConfig(url_of(tmp_path / "log.db")))
    store.open()
    assert not store.tidy()
    assert Tidying(Retention())._too_many == 0
    assert ACCEPT.stratum.name == "accept/plain"
