"""Keeping the samples at their size: the smallest draws of each cell, whichever worker handed them in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Table, bindparam, select, update

from audit.removal import remove
from audit.schema import stratum_count, verdict
from audit.types import Cell


def _in_cell(table: Table) -> list[ColumnElement[bool]]:
    return [table.c[column.name] == bindparam(f"the_{column.name}") for column in stratum_count.primary_key]


# Written once: in the writer's thread, what Python does between two statements holds up every request.
_SAMPLED: Final = select(stratum_count.c.sampled).where(*_in_cell(stratum_count))
_LARGEST: Final = (
    select(verdict.c.id)
    .where(*_in_cell(verdict), verdict.c.sampled.is_(True))
    .order_by(verdict.c.draw.desc(), verdict.c.id.desc())
    .limit(bindparam("n"))
)
_COUNT_LESS: Final = (
    update(stratum_count)
    .where(*_in_cell(stratum_count))
    .values(sampled=stratum_count.c.sampled - bindparam("n"))
)


def trim(connection: Connection, cells: Sequence[Cell], budget: int) -> None:
    """Leave the `budget` smallest draws in the sample of each cell.

    Verdicts that fall out are removed; those that must stay for another reason are marked as not sampled.
    For the transaction that has just counted in these cells: by that it holds their rows of `stratum_count`.
    """
    out: list[str] = []
    less: list[dict[str, Any]] = []
    for cell in cells:
        here = _key(cell)
        sampled = connection.scalar(_SAMPLED, here) or 0
        if sampled > budget:
            largest = connection.scalars(_LARGEST, {**here, "n": sampled - budget}).all()
            out += largest
            less.append({**here, "n": len(largest)})
    if out:
        kept = set(out).difference(remove(connection, out))
        if kept:
            connection.execute(update(verdict).where(verdict.c.id.in_(kept)).values(sampled=False))
        connection.execute(_COUNT_LESS, less)


def _key(cell: Cell) -> dict[str, Any]:
    stratum, window_start_s = cell
    values = (*stratum, window_start_s)
    return {
        f"the_{column.name}": value for column, value in zip(stratum_count.primary_key, values, strict=True)
    }
