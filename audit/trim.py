"""Keeping the samples at their size: the smallest draws of each cell, whichever worker handed them in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, select, update

from audit.removal import remove
from audit.schema import stratum_count, verdict
from audit.types import Cell


def trim(connection: Connection, cells: Sequence[Cell], budget: int) -> None:
    """Leave the `budget` smallest draws in the sample of each cell.

    Verdicts that fall out are removed; those that must stay for another reason are marked as not sampled.
    For the transaction that has just counted in these cells: by that it holds their rows of `stratum_count`.
    """
    for cell in cells:
        here = _in_cell(stratum_count, cell)
        sampled = connection.scalar(select(stratum_count.c.sampled).where(*here)) or 0
        if sampled > budget:
            out = _largest(connection, cell, sampled - budget)
            kept = set(out).difference(remove(connection, out))
            if kept:
                connection.execute(update(verdict).where(verdict.c.id.in_(kept)).values(sampled=False))
            less = stratum_count.c.sampled - len(out)
            connection.execute(update(stratum_count).where(*here).values(sampled=less))


def _largest(connection: Connection, cell: Cell, n: int) -> list[str]:
    """The ids of the `n` largest draws in the sample of a cell."""
    query = (
        select(verdict.c.id)
        .where(*_in_cell(verdict, cell), verdict.c.sampled.is_(True))
        .order_by(verdict.c.draw.desc(), verdict.c.id.desc())
        .limit(n)
    )
    return list(connection.scalars(query))


def _in_cell(table: Table, cell: Cell) -> list[ColumnElement[Any]]:
    stratum, window_start_s = cell
    return [
        table.c.verifier == stratum.verifier,
        table.c.version == stratum.version,
        table.c.data_source == stratum.data_source,
        table.c.stratum == stratum.name,
        table.c.window_start_s == window_start_s,
    ]
