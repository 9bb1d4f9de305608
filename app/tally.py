"""What some verdicts come to, counted in one go: for the verdict log and for metrics."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from audit.types import WINDOW_S, VerdictRecord


class TallyCell(NamedTuple):
    """What verdicts have in common when they are counted."""

    stratum: str
    verifier: str
    data_source: str
    result: str
    """`correct`, `incorrect` or `unscorable`."""
    reason: str
    """Reason, or failure kind."""
    stop_reason: str
    flags: tuple[str, ...]
    canary: bool


class Tally:
    """What some verdicts come to, for counting them in one go."""

    def __init__(self) -> None:
        self.window_start_s = int(time.time()) // WINDOW_S * WINDOW_S
        """The window in which they all are counted, whether or not it ends meanwhile."""
        # Plain tuples while counting: making a named one for each verdict would cost as much as its id.
        self._counts: dict[tuple[str, str, str, str, str, str, tuple[str, ...], bool], int] = {}
        self.durations_s: dict[str, list[float]] = {}
        """Seconds of judging, by verifier."""
        self.records: list[VerdictRecord] = []

    def add(  # noqa: PLR0913, PLR0917 - the fields of a cell
        self,
        stratum: str,
        verifier: str,
        data_source: str,
        result: str,
        reason: str,
        stop_reason: str,
        flags: tuple[str, ...],
        canary: bool,
    ) -> None:
        """Count one verdict in the cell of these fields."""
        key = (stratum, verifier, data_source, result, reason, stop_reason, flags, canary)
        self._counts[key] = self._counts.get(key, 0) + 1

    def cells(self) -> Iterator[tuple[TallyCell, int]]:
        """Each cell and how many verdicts are in it."""
        return ((TallyCell._make(key), n) for key, n in self._counts.items())
