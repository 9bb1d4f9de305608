"""Counts over windows and steps, in either database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from recording import make_record, until
from sqlalchemy import update

from audit.database import writing_engine
from audit.errors import LogUnavailableError
from audit.log import VerdictLog
from audit.schema import verdict
from audit.series import SeriesFilter, SeriesReader
from audit.types import Cell, LogConfig, Stratum, VerdictRecord

WINDOW = 1_763_996_400
HOUR = 3600


def made(name: str, hour: int = 0, **fields: Any) -> VerdictRecord:
    """A verdict of a stratum in an hour."""
    source = fields.pop("data_source", "gsm8k")
    cell = Cell(Stratum("numeric", "1", source, name), WINDOW + hour * HOUR)
    return make_record(**{"cell": cell, "meta": {"run": "r7", "step": 10}} | fields)


@pytest.fixture
def url(new_database: Callable[[], str]) -> str:
    """Two hours of verdicts, each stored one standing for ten that were counted."""
    found = new_database()
    records = [
        made("accept/plain"),
        made("accept/edge", flags={"edge": None}, meta={"run": "r8", "step": 130}),
        made("reject/plain", 1),
        made("unscorable/verifier_timeout", 1),
        made("canary/accept", 1, meta={"canary": True, "step": -5}),
        made("canary/reject", 1, meta={"canary": True}),
        made("accept/plain", 1, data_source="svamp"),
    ]

    async def write() -> None:
        log = VerdictLog(LogConfig(found, budget=1_000, durability="commit"))
        log.start()
        await until(lambda: not log.status().degraded)
        for record in records:
            log.count(record.cell, 10)
            log.store(record)
        await log.acknowledge()
        await log.close()

    asyncio.run(write())
    with writing_engine(found, "commit").begin() as connection:
        connection.execute(update(verdict).where(verdict.c.id == records[0].id).values(second="rejects"))
    return found


def test_windows_are_exact(url: str) -> None:
    """Accepts, rejects, nulls and canaries as counted; flags and second opinions by weight."""
    first, second = SeriesReader(url).points("window", SeriesFilter())
    assert (first.at, second.at) == (WINDOW, WINDOW + HOUR)
    assert (first.accepted, first.rejected, first.unscorable) == (20, 0, {})
    assert (first.flags, first.second) == ({"edge": 10}, {"rejects": 10})
    assert (second.accepted, second.rejected) == (10, 10)
    assert second.unscorable == {"verifier_timeout": 10}
    assert (second.canaries, second.canary_accepts) == (20, 10)


def test_steps_are_estimated(url: str) -> None:
    """Each stored verdict stands for its cell's; steps below 0 too; those without a step are left out."""
    points = SeriesReader(url).points("step", SeriesFilter(), step_width=100)
    assert [(point.at, point.accepted, point.canary_accepts) for point in points] == [
        (-100, 0, 10),
        (0, 20, 0),
        (100, 10, 0),
    ]
    assert points[2].flags == {"edge": 10}


def test_filters(url: str) -> None:
    """By verifier, data source, and by run for steps."""
    reader = SeriesReader(url)
    assert [point.accepted for point in reader.points("window", SeriesFilter(data_source="svamp"))] == [10]
    assert reader.points("window", SeriesFilter(verifier="math")) == []
    assert [point.at for point in reader.points("step", SeriesFilter(run="r8"))] == [100]


def test_range_of_steps(url: str) -> None:
    """Of what is stored; none where none was named."""
    reader = SeriesReader(url)
    assert reader.steps(SeriesFilter()) == (-5, 130)
    assert reader.steps(SeriesFilter(run="r7")) == (10, 10)
    assert reader.steps(SeriesFilter(verifier="math")) is None


def test_a_database_in_trouble_is_named(tmp_path: Any) -> None:
    """As for every other reader."""
    reader = SeriesReader(f"sqlite:///{tmp_path}/none/log.db")
    with pytest.raises(LogUnavailableError):
        reader.points("window", SeriesFilter())
    with pytest.raises(LogUnavailableError):
        reader.steps(SeriesFilter())
