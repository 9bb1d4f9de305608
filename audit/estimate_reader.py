"""Counts, samples and labels from the database -> estimates by group, for any thread."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from audit.connections import Database
from audit.estimate_queries import EstimateFilter, Rows, read
from audit.estimates import Estimates, estimate
from audit.intervals import CONFIDENCE, clopper_pearson
from audit.strata import SampleCount, StratumData
from audit.types import Stratum
from audit.windows import Lack, incomplete_windows

MAX_GROUPS: Final = 500
"""Groups told at once; of windows and steps the newest."""

By = Literal["none", "verifier", "version", "data_source", "stratum", "window", "step"]


class GroupKey(NamedTuple):
    """What the verdicts of a group have in common; None where the group is not by that."""

    verifier: str | None = None
    version: str | None = None
    data_source: str | None = None
    stratum: str | None = None
    window_start_s: int | None = None
    step: int | None = None
    """The least of the group's range of steps."""


@dataclass(frozen=True, slots=True)
class Canaries:
    """Items whose ground truth cannot be reached: every accept is a false positive, without any label."""

    verdicts: int
    accepted: int
    unscorable: int
    fpr_lower: float
    """One-sided lower bound of the share of canaries accepted."""


@dataclass(frozen=True, slots=True)
class GroupEstimates:
    """One group of verdicts: exact counts, and rates from the labels."""

    key: GroupKey
    sizes_exact: bool
    """Counts are exact; else they are estimated from the sample, and the intervals allow for that."""
    scored: float
    unscorable: dict[str, float]
    """By failure kind."""
    estimates: Estimates
    canaries: Canaries | None
    """None where no canaries were sent."""

    @property
    def null_rate(self) -> float | None:
        """Share of unscorable verdicts, canaries apart."""
        nulls = math.fsum(self.unscorable.values())
        return nulls / (self.scored + nulls) if self.scored + nulls else None


class EstimateReader:
    """Estimates on demand; a fresh connection for each call. Blocks: call it in a thread."""

    def __init__(self, url: str) -> None:
        self._database = Database(url)

    def estimates(
        self, by: By, wanted: EstimateFilter, step_width: int = 100, confidence: float = CONFIDENCE
    ) -> list[GroupEstimates]:
        """The groups that match, by key; at most `MAX_GROUPS`, the newest where they are by time.

        step_width: how many steps make a group. Raises `LogUnavailableError`.
        """
        groups = self.strata(by, wanted, step_width)
        keys = sorted(groups, key=_order)[-MAX_GROUPS:]
        return [_told(key, groups[key], confidence) for key in keys]

    def incomplete(self, wanted: EstimateFilter) -> dict[int, list[Lack]]:
        """Windows of that time whose numbers are not whole, and why. Raises `LogUnavailableError`."""
        with self._database.transaction() as connection:
            found = incomplete_windows(connection)
        since_s, until_s = wanted.since_s or 0, wanted.until_s
        return {
            start: sorted(lacks)
            for start, lacks in sorted(found.items())
            if start >= since_s and (until_s is None or start < until_s)
        }

    def strata(self, by: By, wanted: EstimateFilter, step_width: int = 100) -> dict[GroupKey, Group]:
        """What was counted, sampled and labelled, by group. Raises `LogUnavailableError`."""
        with self._database.transaction() as connection:
            rows = read(connection, wanted, step_width if by == "step" else None)
        collected = _Collected(_key_of(by, step_width))
        if by == "step" or wanted.within_windows:
            collected.add_parts_of_cells(rows)
        else:
            collected.add_cells(rows)
        return collected.groups


@dataclass(slots=True)
class Group:
    """The strata of one group, whatever their side."""

    strata: dict[Stratum, StratumData] = field(default_factory=dict)
    weights: float = 0.0
    squares: float = 0.0
    """Sums of the weights of sampled scored verdicts and of their squares, where sizes are estimated."""

    def of(self, stratum: Stratum) -> StratumData:
        """The stratum's data, made when it is met first."""
        return self.strata.setdefault(stratum, StratumData(stratum))

    @property
    def known_from(self) -> float:
        """Effective number of sampled verdicts behind the sizes; infinite when they are exact."""
        return self.weights**2 / self.squares if self.squares else math.inf

    @property
    def scored(self) -> list[StratumData]:
        """Accepts and rejects, canaries apart."""
        return [data for data in self.strata.values() if data.side is not None]

    def sizes(self, side: str) -> dict[str, float]:
        """Verdicts of strata whose names begin with `side`, by the rest of the name."""
        found: dict[str, float] = {}
        for data in self.strata.values():
            beginning, _, kind = data.stratum.name.partition("/")
            if beginning == side:
                found[kind] = found.get(kind, 0.0) + data.size
        return found


class _Collected:
    """Sorts rows into groups."""

    def __init__(self, key_of: Callable[[Any], GroupKey]) -> None:
        self._key_of = key_of
        self.groups: dict[GroupKey, Group] = {}

    def _group(self, row: Any) -> Group:
        return self.groups.setdefault(self._key_of(row), Group())

    def add_cells(self, rows: Rows) -> None:
        """Whole cells: their sizes are exact."""
        drawn = {_cell(row): row.sampled for row in rows.counts}
        for row in rows.counts:
            self._group(row).of(_stratum(row)).verdicts[row.window_start_s] = float(row.verdicts)
        for row in rows.samples:
            samples = self._group(row).of(_stratum(row)).samples
            count = SampleCount(drawn.get(_cell(row), row.kept), row.kept, int(row.differing))
            samples[row.window_start_s] = count
        self._add_labels(rows)

    def add_parts_of_cells(self, rows: Rows) -> None:
        """Parts of cells: each sampled verdict stands for as many of its cell."""
        kept = {_cell(row): row.kept for row in rows.cells}
        weights = {_cell(row): row.verdicts / kept[_cell(row)] for row in rows.counts if _cell(row) in kept}
        for row in rows.samples:
            group = self._group(row)
            data = group.of(_stratum(row))
            weight = weights.get(_cell(row), 0.0)
            data.verdicts[row.window_start_s] = row.kept * weight
            data.samples[row.window_start_s] = SampleCount(row.kept, row.kept, int(row.differing))
            if data.side is not None:
                group.weights += row.kept * weight
                group.squares += row.kept * weight**2
        self._add_labels(rows)

    def _add_labels(self, rows: Rows) -> None:
        for row, labelled in rows.labels:
            self._group(row).of(_stratum(row)).labels.append(labelled)


def _told(key: GroupKey, group: Group, confidence: float) -> GroupEstimates:
    scored, canaries = group.scored, group.sizes("canary")
    return GroupEstimates(
        key=key,
        sizes_exact=math.isinf(group.known_from),
        scored=math.fsum(one.size for one in scored),
        unscorable=group.sizes("unscorable"),
        estimates=estimate(scored, group.known_from, confidence),
        canaries=_canaries(canaries, confidence) if canaries else None,
    )


def _canaries(sizes: dict[str, float], confidence: float) -> Canaries:
    accepted, rejected, unscorable = (
        round(sizes.get(kind, 0.0)) for kind in ("accept", "reject", "unscorable")
    )
    judged = accepted + rejected
    one_sided = 2.0 * confidence - 1.0
    lower = clopper_pearson(accepted, judged, one_sided).lower
    return Canaries(judged + unscorable, accepted, unscorable, lower)


def _key_of(by: By, step_width: int) -> Callable[[Any], GroupKey]:
    makers: dict[By, Callable[[Any], GroupKey]] = {
        "none": lambda row: GroupKey(),
        "verifier": lambda row: GroupKey(row.verifier),
        "version": lambda row: GroupKey(row.verifier, row.version),
        "data_source": lambda row: GroupKey(data_source=row.data_source),
        "stratum": lambda row: GroupKey(stratum=row.stratum),
        "window": lambda row: GroupKey(window_start_s=row.window_start_s),
        "step": lambda row: GroupKey(step=None if row.step is None else row.step // step_width * step_width),
    }
    return makers[by]


def _order(key: GroupKey) -> tuple[tuple[bool, Any], ...]:
    """Ascending, with what was not named first."""
    return tuple((part is not None, part if part is not None else 0) for part in key)


_CellKey = tuple[Stratum, int]


def _stratum(row: Any) -> Stratum:
    return Stratum(row.verifier, row.version, row.data_source, row.stratum)


def _cell(row: Any) -> _CellKey:
    return _stratum(row), row.window_start_s
