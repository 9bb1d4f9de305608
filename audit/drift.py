"""Did a rate change? Successive windows or versions beside what came before, without alarms by repetition."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from audit.comparisons import newcombe
from audit.estimate_queries import EstimateFilter
from audit.estimate_reader import EstimateReader, Group, GroupKey
from audit.estimates import Rate, estimate
from audit.intervals import Bounded, mover_difference
from audit.strata import StratumData

Measure = Literal["fdr", "for", "null_rate"]
MEASURES: Final[tuple[Measure, ...]] = ("fdr", "for", "null_rate")

ALPHA: Final = 0.05
"""The chance of any alarm at all, over all looks and measures, while nothing changes."""

TOLERANCE: Final = 0.002
"""A change that is surely smaller than this raises no alarm."""


class Span(NamedTuple):
    """What was judged in one stretch of time, or by one version."""

    version: str | None
    start_s: int
    end_s: int
    group: Group


@dataclass(frozen=True, slots=True)
class Change:
    """One measure of a span beside that of what came before."""

    before: float | None
    after: float | None
    difference: Bounded | None
    """None: one of the two has too few labels, or no verdicts."""
    confidence: float
    """Of the difference's bounds."""
    alarm: Literal["rose", "fell"] | None


@dataclass(frozen=True, slots=True)
class Look:
    """All measures of one span."""

    span: Span
    changes: dict[Measure, Change]


def looks(spans: Sequence[Span], *, pooled: bool, tolerance: float = TOLERANCE) -> list[Look]:
    """Each span but the first, beside those before it (`pooled`) or beside the last before it.

    Those before it begin with the span that last alarmed, for each measure: a change is told once. The t-th
    look spends 6 alpha / (pi t)², a third of it on each measure: in all no more than `ALPHA`, however many
    looks there are.
    """
    found: list[Look] = []
    begins = dict.fromkeys(MEASURES, 0)
    for t in range(1, len(spans)):
        confidence = 1.0 - 6.0 * ALPHA / (math.pi * t) ** 2 / len(MEASURES)
        changes: dict[Measure, Change] = {}
        for measure in MEASURES:
            earlier = spans[begins[measure] : t] if pooled else spans[t - 1 : t]
            before = merged(span.group for span in earlier)
            changes[measure] = _change(measure, before, spans[t].group, confidence, tolerance)
            if changes[measure].alarm:
                begins[measure] = t
        found.append(Look(spans[t], changes))
    return found


def merged(groups: Iterable[Group]) -> Group:
    """Several groups, of different windows, as one."""
    whole = Group()
    for group in groups:
        for stratum, data in group.strata.items():
            into = whole.of(stratum)
            into.verdicts.update(data.verdicts)
            into.samples.update(data.samples)
            into.labels.extend(data.labels)
    return whole


def _change(measure: Measure, before: Group, after: Group, confidence: float, tolerance: float) -> Change:
    if measure == "null_rate":
        old, new, difference = _null_rates(before, after, confidence)
    else:
        side = "accept" if measure == "fdr" else "reject"
        was, now = (_error_rate(group.scored, side, confidence) for group in (before, after))
        old, new = was.estimate, now.estimate
        difference = (
            None if old is None or new is None else mover_difference(_bounded(now, new), _bounded(was, old))
        )
    alarm: Literal["rose", "fell"] | None = None
    if difference is not None and difference.lower > tolerance:
        alarm = "rose"
    elif difference is not None and difference.upper < -tolerance:
        alarm = "fell"
    return Change(old, new, difference, confidence, alarm)


def _null_rates(
    before: Group, after: Group, confidence: float
) -> tuple[float | None, float | None, Bounded | None]:
    """Unscorable verdicts of all, which are counted, not estimated."""
    counts = [(_nulls(group), _nulls(group) + _scored(group)) for group in (after, before)]
    new, old = (nulls / n if n else None for nulls, n in counts)
    if new is None or old is None:
        return old, new, None
    return old, new, newcombe(*counts[0], *counts[1], confidence)


def _nulls(group: Group) -> int:
    return round(math.fsum(group.sizes("unscorable").values()))


def _scored(group: Group) -> int:
    return round(math.fsum(data.size for data in group.scored))


def _error_rate(strata: Sequence[StratumData], side: str, confidence: float) -> Rate:
    accepts, rejects = estimate([one for one in strata if one.side == side], confidence=confidence).sides
    return (accepts if side == "accept" else rejects).rate


def _bounded(rate: Rate, estimated: float) -> Bounded:
    return Bounded(estimated, rate.lower, rate.upper)


def spans_of_time(reader: EstimateReader, wanted: EstimateFilter, span_s: int) -> list[Span]:
    """Stretches of `span_s` seconds in which something was judged. Raises `LogUnavailableError`."""
    by_span: dict[int, list[Group]] = {}
    for key, group in reader.strata("window", wanted).items():
        start_s = key.window_start_s or 0
        by_span.setdefault(start_s // span_s * span_s, []).append(group)
    return [Span(None, start, start + span_s, merged(by_span[start])) for start in sorted(by_span)]


def spans_of_versions(reader: EstimateReader, wanted: EstimateFilter) -> list[Span]:
    """The versions of one verifier in the order in which they first judged. Raises `LogUnavailableError`."""
    found = [_of_version(key, group) for key, group in reader.strata("version", wanted).items()]
    return sorted(found, key=lambda span: (span.start_s, span.version or ""))


def _of_version(key: GroupKey, group: Group) -> Span:
    windows = [window for data in group.strata.values() for window in data.verdicts]
    return Span(key.version, min(windows, default=0), max(windows, default=0), group)
