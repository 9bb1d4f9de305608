"""The chance that an answer is right, given its verdict: for those who ask for it, or a reason why not.

It differs between strata and never moves the reward itself. See `docs/audit.md` for why a correction that is
the same for all verdicts would change nothing under group-normalised advantages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from audit.drift import Span, looks, merged, spans_of_time
from audit.estimate_queries import EstimateFilter
from audit.estimate_reader import EstimateReader, Group
from audit.estimates import estimate
from audit.strata import StratumData

MIN_VERSION_LABELS: Final = 200
"""Labels of one version of a verifier, without which nothing is calibrated."""

SPAN_S: Final = 24 * 3600
"""Drift is looked for from day to day."""

Refusal = Literal["too_few_labels", "labels_before_drift", "uninformative", "too_few_labels_in_stratum"]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the labels of one version of a verifier say about its verdicts."""

    refused: Refusal | None
    """Why nothing is calibrated."""
    labels: int
    """Decided labels that it is made of."""
    by_stratum: dict[str, float]
    """Share of right answers by stratum, where there are enough labels: 1 - F of accepts, O of rejects."""

    def of(self, stratum: str) -> tuple[float | None, Refusal | None]:
        """The chance that an answer in this stratum is right; or None, and why."""
        if self.refused is not None:
            return None, self.refused
        chance = self.by_stratum.get(stratum)
        return chance, "too_few_labels_in_stratum" if chance is None else None


def calibrate(reader: EstimateReader, verifier: str, version: str) -> Calibration:
    """From all labels of this version since its error rates last changed. Blocks; see `EstimateReader`."""
    return of_spans(spans_of_time(reader, EstimateFilter(verifier=verifier, version=version), SPAN_S))


def of_spans(spans: Sequence[Span]) -> Calibration:
    """From what was judged and labelled in successive stretches of time."""
    changed = [
        look.span.start_s
        for look in looks(spans, pooled=True)
        if look.changes["fdr"].alarm or look.changes["for"].alarm
    ]
    since_s = max(changed, default=0)
    current = merged(span.group for span in spans if span.start_s >= since_s)
    found = estimate(current.scored)
    labels = sum(side.labels for side in found.sides)
    refused: Refusal | None = None
    if labels < MIN_VERSION_LABELS:
        refused = "labels_before_drift" if changed else "too_few_labels"
    elif found.informedness.lower <= 0.0:
        # The upper bounds of both rates together reach 1: the verdicts may be worth nothing, or less.
        refused = "uninformative"
    return Calibration(refused, labels, {} if refused else _chances(current))


def _chances(group: Group) -> dict[str, float]:
    """By name of the stratum, over all data sources."""
    by_name: dict[str, list[StratumData]] = {}
    for data in group.scored:
        by_name.setdefault(data.stratum.name, []).append(data)
    chances: dict[str, float] = {}
    for name, strata in by_name.items():
        accepts, rejects = estimate(strata).sides
        side = accepts if strata[0].side == "accept" else rejects
        wrong = side.rate.estimate
        if wrong is not None:  # there are at least `MIN_LABELS`
            chances[name] = 1.0 - wrong if strata[0].side == "accept" else wrong
    return chances
