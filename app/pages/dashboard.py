"""What the dashboard says in words and tables; its plots come from the API."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from app.pages.query import PageQuery
from app.service import Service
from audit.drift import Look, looks, spans_of_time, spans_of_versions
from audit.estimate_queries import EstimateFilter
from audit.estimate_reader import By, GroupEstimates
from audit.estimates import MIN_LABELS, Rate, estimate
from audit.series import Point, SeriesFilter
from audit.strata import Part
from audit.types import WINDOW_S, VerdictFilter

REFUSALS: Final = {
    "no_verdicts": "no verdicts",
    "no_labels": "no labels yet",
    "too_few_labels": f"fewer than {MIN_LABELS} labels",
    "too_little_covered": "most strata have no label",
    "one_side_only": "verdicts of one side only",
    "undefined": "undefined",
}
MEASURES: Final = {"fdr": "false discoveries", "for": "false omissions", "null_rate": "null rewards"}

_DAY_S: Final = 24 * 3600
_PLOT_POINTS: Final = 40
_LABELS_PER_POINT: Final = 3 * MIN_LABELS
_SPANS_H: Final = (1, 3, 6, 12, 24, 48, 168, 336, 720, 2160)
_SCALES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


class RateRow(NamedTuple):
    """The rates of one group."""

    name: str
    group: GroupEstimates
    labels: int
    rates: list[Rate]
    """FDR, FOR, FPR, FNR."""
    filters: dict[str, str]


class BacklogRow(NamedTuple):
    """A stratum, and what its labels say so far."""

    part: Part
    share: float
    """Of the scored verdicts of its verifier."""
    rate: Rate
    queue: str
    """Query string of its queue."""


class Alarm(NamedTuple):
    """A rate that surely changed."""

    verifier: str
    measure: str
    look: Look
    by_version: bool


def dashboard_values(service: Service, query: PageQuery, by: By) -> dict[str, Any]:
    """What the template `dashboard.html` needs. by: one row of rates for each value of it. Blocks."""
    wanted = EstimateFilter(query.verifier, query.version, query.data_source)
    groups = service.estimates.estimates(by, wanted)
    rows = [_row(group) for group in groups]
    points = service.series.points("window", _series_filter(query))
    steps = service.series.steps(_series_filter(query))
    verdicts = VerdictFilter(query.verifier, query.version, query.data_source)
    return {
        "page": "dashboard",
        "query": query,
        "by": by,
        "rows": rows,
        "scale": _scale(rate.upper for row in rows for rate in row.rates if rate.reason is None),
        "totals": _Totals(points),
        "queue": service.review.queue(verdicts, "", 1),
        "agreement": service.review.agreement(),
        "backlog": _backlog(groups),
        "alarms": _alarms(service, wanted),
        "canaries": [(row.name, row.group.canaries) for row in rows if row.group.canaries is not None],
        "refusals": REFUSALS,
        "measures": MEASURES,
        "vocabulary": service.review.vocabulary(),
        "step_width": _step_width(steps, _PLOT_POINTS),
        "rate_step_width": _step_width(steps, _rate_points(rows)),
        "rates_over_time": _rates_over_time(service, wanted, points, _rate_points(rows)),
        "slice": urlencode({name: value for name, value in query.filters.items() if name in _SLICE}),
        "log": service.log.status(),
        "incomplete": service.estimates.incomplete(wanted),
    }


_SLICE: Final = ("verifier", "version", "data_source", "run")


class _Totals:
    """Sums over all windows."""

    def __init__(self, points: Iterable[Point]) -> None:
        points = list(points)
        self.accepted = int(sum(point.accepted for point in points))
        self.rejected = int(sum(point.rejected for point in points))
        self.unscorable = int(sum(sum(point.unscorable.values()) for point in points))
        self.canaries = int(sum(point.canaries for point in points))
        self.canary_accepts = int(sum(point.canary_accepts for point in points))
        self.verdicts = self.accepted + self.rejected + self.unscorable
        seconds = [point.second for point in points]
        self.opinions = sum(sum(n for word, n in one.items() if word != "unknown") for one in seconds)
        self.contradicted = sum(one.get("accepts", 0.0) + one.get("rejects", 0.0) for one in seconds)

    @property
    def accepted_share(self) -> float | None:
        """Of the scored ones."""
        scored = self.accepted + self.rejected
        return self.accepted / scored if scored else None

    @property
    def null_share(self) -> float | None:
        """Of all."""
        return self.unscorable / self.verdicts if self.verdicts else None

    @property
    def contradicted_share(self) -> float | None:
        """Of those on which a second opinion was had."""
        return self.contradicted / self.opinions if self.opinions else None


def _row(group: GroupEstimates) -> RateRow:
    key, found = group.key, group.estimates
    named = {
        name: value
        for name in ("verifier", "version", "data_source", "stratum")
        if (value := getattr(key, name)) is not None
    }
    words = [value or "no data source" for value in named.values()]
    return RateRow(
        " ".join(words) or "everything",
        group,
        found.accepts.labels + found.rejects.labels,
        [found.accepts.rate, found.rejects.rate, found.fpr, found.fnr],
        named,
    )


def _backlog(groups: Iterable[GroupEstimates]) -> list[BacklogRow]:
    """Strata by how many verdicts their bounds leave open, most first."""
    rows = []
    for group in groups:
        for side in group.estimates.sides:
            for part in side.parts:
                estimate, lower, upper = part.rate.bounds(0.95)
                rate = Rate(
                    estimate if part.labels else None, lower, upper, None if part.labels else "no_labels"
                )
                stratum = part.stratum
                asked = {
                    "verifier": stratum.verifier,
                    "version": stratum.version,
                    "data_source": stratum.data_source,
                    "stratum": stratum.name,
                }
                share = part.size / group.scored if group.scored else 0.0
                rows.append(BacklogRow(part, share, rate, urlencode({k: v for k, v in asked.items() if v})))
    return sorted(rows, key=lambda row: row.part.size * (row.rate.upper - row.rate.lower), reverse=True)


def _alarms(service: Service, wanted: EstimateFilter) -> list[Alarm]:
    """Changes from day to day and from version to version, newest first."""
    found = []
    for verifier in service.registry.names if wanted.verifier is None else [wanted.verifier]:
        of_verifier = EstimateFilter(verifier, wanted.version, wanted.data_source)
        days = looks(spans_of_time(service.estimates, of_verifier, _DAY_S), pooled=True)
        versions = looks(spans_of_versions(service.estimates, of_verifier), pooled=False)
        found += [
            Alarm(verifier, measure, look, by_version)
            for by_version, all_looks in ((False, days), (True, versions))
            for look in all_looks
            for measure, change in look.changes.items()
            if change.alarm
        ]
    return sorted(found, key=lambda alarm: alarm.look.span.start_s, reverse=True)


def _series_filter(query: PageQuery) -> SeriesFilter:
    return SeriesFilter(query.verifier, query.version, query.data_source, query.run)


def _rate_points(rows: Iterable[RateRow]) -> int:
    """How many points a plot of rates may have, so that most have labels enough."""
    labels = sum(row.labels for row in rows)
    return max(1, min(_PLOT_POINTS, labels // _LABELS_PER_POINT))


def _step_width(steps: tuple[int, int] | None, points: int) -> int:
    """A round number of steps, so that there are at most about so many points."""
    if steps is None:
        return 100
    wanted = max(1.0, (steps[1] - steps[0] + 1) / points)
    power = 10 ** math.floor(math.log10(wanted))
    return int(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wanted))


def _rates_over_time(
    service: Service, wanted: EstimateFilter, points: Sequence[Point], most: int
) -> dict[str, Any]:
    """Rates of equal stretches of time, as long as it takes to have labels in most of them."""
    whole_s = points[-1].at - points[0].at + WINDOW_S if points else WINDOW_S
    hours = next((hours for hours in _SPANS_H if hours * 3600 * most >= whole_s), _SPANS_H[-1])
    spans = spans_of_time(service.estimates, wanted, hours * 3600)[-_PLOT_POINTS:]
    sides = [(span.start_s, estimate(span.group.scored).sides) for span in spans]
    return {
        "hours": hours,
        "items": [
            {"at": start_s, "rates": {"fdr": asdict(accepts.rate), "for": asdict(rejects.rate)}}
            for start_s, (accepts, rejects) in sides
        ],
    }


def _scale(uppers: Iterable[float]) -> float:
    """Where the axis of the rates ends."""
    most = max(uppers, default=1.0)
    return next((scale for scale in _SCALES if scale >= most), 1.0)
