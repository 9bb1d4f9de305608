"""Windows whose numbers are not whole: a writer died with counts in hand, or too many payloads were shed."""

from __future__ import annotations

import time
from typing import Final, Literal

from sqlalchemy import Connection, func, select

from audit.sampling import window_of
from audit.schema import stratum_count, writer

Lack = Literal["lost_counts", "shed"]
"""`lost_counts`: verdicts may be missing in the counts; `shed`: more than `MAX_SHED` of the sample is."""

MAX_SHED: Final = 0.01

ALIVE_S: Final = 60.0
"""A writer that has not been heard of for so long has died, or cannot write. They report far more often."""


def incomplete_windows(connection: Connection, now_s: float | None = None) -> dict[int, set[Lack]]:
    """The windows in which something was counted whose numbers are not whole, by their start, and why.

    now_s: the present, in seconds since the epoch; None: by the clock.
    """
    now_ms = int((time.time() if now_s is None else now_s) * 1000)
    gaps = _gaps(connection, now_ms)
    sampled, shed = func.sum(stratum_count.c.sampled), func.sum(stratum_count.c.shed)
    query = select(stratum_count.c.window_start_s, sampled, shed).group_by(stratum_count.c.window_start_s)
    found: dict[int, set[Lack]] = {}
    for window_start_s, kept, dropped in connection.execute(query):
        lacks: set[Lack] = set()
        # PostgreSQL's sums are decimals.
        if int(dropped) > MAX_SHED * int(kept + dropped):
            lacks.add("shed")
        if any(window_of(first / 1000) <= window_start_s <= last / 1000 for first, last in gaps):
            lacks.add("lost_counts")
        if lacks:
            found[window_start_s] = lacks
    return found


def _gaps(connection: Connection, now_ms: int) -> list[tuple[int, int]]:
    """Spans of time, in milliseconds, in which a writer that did not end by itself may have counted."""
    rows = connection.execute(select(writer)).all()
    starts = sorted(row.started_at_ms for row in rows)
    gaps = []
    for row in rows:
        known_ms = row.complete_until_ms
        if row.closed_at_ms is None and known_ms < now_ms - ALIVE_S * 1000:
            # It died before the next one began: that one is started in its place, and could not have
            # opened the database while whatever kept this one from writing lasted.
            restarted = next((start for start in starts if start > known_ms), now_ms)
            gaps.append((known_ms, max(restarted, known_ms + int(ALIVE_S * 1000))))
    return gaps
