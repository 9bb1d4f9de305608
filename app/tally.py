"""What some verdicts come to, counted in one go: for the verdict log and for metrics."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from audit.keys import index_key
from audit.sampling import window_of
from audit.types import Cell, Stratum, VerdictRecord
from verifiers.base import Contract


class Alike(NamedTuple):
    """What verdicts have in common when they are counted."""

    cell: Cell
    """Where the verdict log counts them."""
    result: str
    """`correct`, `incorrect` or `unscorable`."""
    reason: str
    """Reason, or failure kind."""
    stop_reason: str
    flags: tuple[str, ...]


class Tally:
    """What some verdicts come to, for counting them in one go.

    counted: False for repeats, which are neither counted nor stored again.
    """

    def __init__(self, *, counted: bool = True) -> None:
        self.counted = counted
        self._window_start_s = window_of(time.time())  # of all of them, even if it ends meanwhile
        self._cells: dict[tuple[str, str, str], Cell] = {}
        # Plain tuples while counting: making a named one for each verdict would cost as much as its id.
        self._counts: dict[tuple[Cell, str, str, str, tuple[str, ...]], int] = {}
        self.durations_s: dict[str, list[float]] = {}
        """Seconds of judging, by verifier."""
        self.records: list[VerdictRecord] = []

    def cell(self, verifier: Contract, meta: Mapping[str, Any], stratum: str) -> Cell:
        """Where a verdict is counted. meta, stratum: of its request and reply; canaries are kept apart."""
        source = meta.get("data_source") or ""
        if meta.get("canary"):
            stratum = f"canary/{stratum.partition('/')[0]}"
        key = (verifier.name, source, stratum)
        cell = self._cells.get(key)
        if cell is None:
            named = Stratum(verifier.name, verifier.version, index_key(source), stratum)
            cell = self._cells[key] = Cell(named, self._window_start_s)
        return cell

    def add(self, cell: Cell, result: str, reason: str, stop_reason: str, flags: tuple[str, ...]) -> None:
        """Count one verdict; see `Alike`."""
        key = (cell, result, reason, stop_reason, flags)
        self._counts[key] = self._counts.get(key, 0) + 1

    def counts(self) -> Iterator[tuple[Alike, int]]:
        """Verdicts that are alike and how many of them there are."""
        return ((Alike._make(key), n) for key, n in self._counts.items())
