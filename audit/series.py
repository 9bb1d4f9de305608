"""Counts over time and over steps, for plots: exact per window, estimated per range of steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from sqlalchemy import ColumnElement, Connection, Float, and_, cast, func, select

from audit.connections import Database
from audit.keys import index_key
from audit.schema import stratum_count, verdict, verdict_flag

By = Literal["window", "step"]

MAX_POINTS: Final = 1000
"""Points told at once: the newest windows, or the last steps."""

_SIDES: Final = {"accept": "accepted", "reject": "rejected", "unscorable": "unscorable"}


@dataclass(frozen=True, slots=True)
class SeriesFilter:
    """Which verdicts to count; None does not filter."""

    verifier: str | None = None
    version: str | None = None
    data_source: str | None = None
    run: str | None = None
    """Only by step: windows are counted without it."""


@dataclass(slots=True)
class Point:
    """What was judged in one window, or in one range of steps."""

    at: int
    """Start of the window in seconds since the epoch, or the first step."""
    accepted: float = 0.0
    rejected: float = 0.0
    unscorable: dict[str, float] = field(default_factory=dict)
    """By failure kind."""
    canaries: float = 0.0
    canary_accepts: float = 0.0
    flags: dict[str, float] = field(default_factory=dict)
    """Estimated number of verdicts with each flag."""
    second: dict[str, float] = field(default_factory=dict)
    """Estimated number of verdicts by what a second opinion says; without those that have none."""


class SeriesReader:
    """Queries, from any thread; a connection for each."""

    def __init__(self, url: str) -> None:
        self._database = Database(url)

    def points(self, by: By, wanted: SeriesFilter, step_width: int = 100) -> list[Point]:
        """The points in order, at most `MAX_POINTS`. Raises `LogUnavailableError`."""
        found: dict[int, Point] = {}
        with self._database.transaction() as connection:
            if by == "window":
                _add(found, _exact_counts(connection, wanted))
            else:
                _add(found, _sampled_counts(connection, wanted, step_width))
            _add_sampled(found, "flags", _flags(connection, by, wanted, step_width))
            _add_sampled(found, "second", _seconds(connection, by, wanted, step_width))
        return [found[at] for at in sorted(found)[-MAX_POINTS:]]

    def steps(self, wanted: SeriesFilter) -> tuple[int, int] | None:
        """The least and the greatest step in the sample; None: no step was named."""
        query = select(func.min(verdict.c.step), func.max(verdict.c.step)).where(
            verdict.c.sampled, *_conditions(verdict.c, wanted)
        )
        if wanted.run is not None:
            query = query.where(verdict.c.run == index_key(wanted.run))
        with self._database.transaction() as connection:
            least, greatest = connection.execute(query).one()
        return None if least is None else (int(least), int(greatest))


def _add(found: dict[int, Point], counts: Iterable[tuple[int, str, float]]) -> None:
    """Add numbers of verdicts, each with the name of its stratum."""
    for at, stratum, n in counts:
        point = found.setdefault(at, Point(at))
        side, _, kind = stratum.partition("/")
        if side == "canary":
            point.canaries += n
            point.canary_accepts += n if kind == "accept" else 0
        elif side == "unscorable":
            point.unscorable[kind] = point.unscorable.get(kind, 0.0) + n
        elif side in _SIDES:
            setattr(point, _SIDES[side], getattr(point, _SIDES[side]) + n)


def _add_sampled(
    found: dict[int, Point], name: Literal["flags", "second"], counts: Iterable[tuple[int, str, float]]
) -> None:
    for at, word, n in counts:
        getattr(found.setdefault(at, Point(at)), name)[word] = n


def _exact_counts(connection: Connection, wanted: SeriesFilter) -> list[tuple[int, str, float]]:
    table = stratum_count.c
    query = (
        select(table.window_start_s, table.stratum, func.sum(table.verdicts))
        .where(*_conditions(table, wanted))
        .group_by(table.window_start_s, table.stratum)
    )
    return [(row[0], row[1], float(row[2])) for row in connection.execute(query)]


def _sampled_counts(
    connection: Connection, wanted: SeriesFilter, step_width: int
) -> list[tuple[int, str, float]]:
    return _weighted(connection, "step", wanted, step_width, verdict.c.stratum)


def _flags(
    connection: Connection, by: By, wanted: SeriesFilter, step_width: int
) -> list[tuple[int, str, float]]:
    return _weighted(connection, by, wanted, step_width, verdict_flag.c.flag)


def _seconds(
    connection: Connection, by: By, wanted: SeriesFilter, step_width: int
) -> list[tuple[int, str, float]]:
    return _weighted(connection, by, wanted, step_width, verdict.c.second)


def _weighted(
    connection: Connection, by: By, wanted: SeriesFilter, step_width: int, word: ColumnElement[Any]
) -> list[tuple[int, str, float]]:
    """Verdicts by point and word, each sampled one weighted with how many of its cell it stands for."""
    step = verdict.c.step
    at = (
        verdict.c.window_start_s if by == "window" else step - ((step % step_width) + step_width) % step_width
    )
    same_cell = and_(*(verdict.c[column.name] == column for column in stratum_count.primary_key))
    source = verdict.join(stratum_count, same_cell)
    if word.table is verdict_flag:
        source = source.join(verdict_flag, verdict_flag.c.verdict_id == verdict.c.id)
    weight = func.sum(cast(stratum_count.c.verdicts, Float) / stratum_count.c.sampled)
    query = (
        select(at.label("at"), word.label("word"), weight.label("n"))
        .select_from(source)
        .where(verdict.c.sampled, stratum_count.c.sampled > 0, word.is_not(None), at.is_not(None))
        .where(*_conditions(verdict.c, wanted))
        .group_by("at", "word")
    )
    if wanted.run is not None:
        query = query.where(verdict.c.run == index_key(wanted.run))
    return [(int(row.at), str(row.word), float(row.n)) for row in connection.execute(query)]


def _conditions(columns: Any, wanted: SeriesFilter) -> list[ColumnElement[bool]]:
    found = [
        columns[name] == getattr(wanted, name)
        for name in ("verifier", "version")
        if getattr(wanted, name) is not None
    ]
    if wanted.data_source is not None:
        found.append(columns.data_source == index_key(wanted.data_source))
    return found
