"""What estimates are made of, as the database gives it: counts, samples and labels of some verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    case,
    func,
    literal_column,
    or_,
    select,
)

from audit.keys import index_key
from audit.labels import Label, as_label, truth
from audit.schema import label, stratum_count, verdict
from audit.strata import LabelledVerdict


@dataclass(frozen=True, slots=True)
class EstimateFilter:
    """Which verdicts to speak of; None does not filter. All conditions must hold."""

    verifier: str | None = None
    version: str | None = None
    data_source: str | None = None
    stratum: str | None = None
    since_s: int | None = None
    """Windows that begin then or later, seconds since the epoch."""
    until_s: int | None = None
    """Windows that begin before."""
    run: str | None = None
    step_min: int | None = None
    step_max: int | None = None

    @property
    def within_windows(self) -> bool:
        """Whether it asks for a part of what was counted together, so that sizes must be estimated."""
        return (self.run, self.step_min, self.step_max) != (None, None, None)


class Rows(NamedTuple):
    """What was found. Rows have the columns of a cell: verifier, version, data_source, stratum, window."""

    counts: Sequence[Row[Any]]
    """Exact, one per cell: `verdicts`, `sampled`."""
    samples: Sequence[Row[Any]]
    """One per cell, and per range of steps where that is asked for: `kept`, `differing`."""
    cells: Sequence[Row[Any]]
    """The samples of whole cells: the same, unless only parts of windows are asked for."""
    labels: list[tuple[Row[Any], LabelledVerdict]]


def read(connection: Connection, wanted: EstimateFilter, step_width: int | None) -> Rows:
    """All that matches. step_width: how many steps make a range; None: not by step."""
    counts = connection.execute(select(stratum_count).where(*_conditions(stratum_count.c, wanted))).all()
    samples = cells = connection.execute(_samples(wanted, step_width)).all()
    if step_width is not None or wanted.within_windows:
        windows = replace(wanted, run=None, step_min=None, step_max=None)
        cells = connection.execute(_samples(windows, None)).all()
    return Rows(counts, samples, cells, _labelled(connection, wanted))


_DIFFERS: Final[ColumnElement[bool]] = or_(
    and_(verdict.c.correct.is_(True), verdict.c.second == "rejects"),
    and_(verdict.c.correct.is_(False), verdict.c.second == "accepts"),
)
"""The second opinion contradicts the verdict."""

_CELL: Final[tuple[Column[Any], ...]] = (
    verdict.c.verifier,
    verdict.c.version,
    verdict.c.data_source,
    verdict.c.stratum,
    verdict.c.window_start_s,
)


def _samples(wanted: EstimateFilter, step_width: int | None) -> Select[Any]:
    """Sampled verdicts of each cell that are still stored, by range of steps too where that is asked for."""
    columns: list[ColumnElement[Any]] = list(_CELL)
    if step_width is not None:
        # As text in the statement: PostgreSQL does not see that two parameters are the same.
        step = verdict.c.step
        width: ColumnElement[int] = literal_column(str(int(step_width)))
        columns.append((step - ((step % width) + width) % width).label("step"))
    differing = func.sum(case((_DIFFERS, 1), else_=0)).label("differing")
    query = select(*columns, func.count().label("kept"), differing)
    return query.where(verdict.c.sampled, *_conditions(verdict.c, wanted)).group_by(*columns)


def _labelled(connection: Connection, wanted: EstimateFilter) -> list[tuple[Row[Any], LabelledVerdict]]:
    """Sampled verdicts with labels that were drawn, and what those come to."""
    names = ("run", "step", "group_id", "prompt_id", "prompt_hash")
    columns = [*_CELL, *(verdict.c[name] for name in names), _DIFFERS.label("differs")]
    query = (
        select(verdict.c.id, *columns)
        .where(verdict.c.labelled, verdict.c.sampled, *_conditions(verdict.c, wanted))
        .order_by(verdict.c.id)
    )
    rows = connection.execute(query).all()
    by_verdict: dict[str, list[Label]] = {}
    known = select(label).join(verdict, verdict.c.id == label.c.verdict_id).where(verdict.c.sampled)
    for one in connection.execute(known.where(*_conditions(verdict.c, wanted))):
        by_verdict.setdefault(one.verdict_id, []).append(as_label(one))
    found: list[tuple[Row[Any], LabelledVerdict]] = []
    for row in rows:
        common = truth(by_verdict.get(row.id, []))
        if common is not None and common.drawn:
            labelled = LabelledVerdict(row.window_start_s, bool(row.differs), group_of(row), common.answer)
            found.append((row, labelled))
    return found


def group_of(row: Any) -> str:
    """What responses to one prompt in one step have in common; one of which nothing is known is alone."""
    name = row.group_id or row.prompt_id or row.prompt_hash
    return row.id if name is None else f"{row.run}\0{row.step}\0{name}"


def _conditions(columns: Any, wanted: EstimateFilter) -> list[ColumnElement[bool]]:
    """Those that the table has columns for."""
    equal = {name: getattr(wanted, name) for name in ("verifier", "version", "stratum")}
    found: list[ColumnElement[bool]] = [
        columns[name] == value for name, value in equal.items() if value is not None
    ]
    if wanted.data_source is not None:
        found.append(columns.data_source == index_key(wanted.data_source))
    if wanted.since_s is not None:
        found.append(columns.window_start_s >= wanted.since_s)
    if wanted.until_s is not None:
        found.append(columns.window_start_s < wanted.until_s)
    if wanted.run is not None and "run" in columns:
        found.append(columns.run == index_key(wanted.run))
    if wanted.step_min is not None and "step" in columns:
        found.append(columns.step >= wanted.step_min)
    if wanted.step_max is not None and "step" in columns:
        found.append(columns.step <= wanted.step_max)
    return found
