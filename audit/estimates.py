"""Error rates of a group of strata, with intervals, and what must not be said for want of labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from audit import rates
from audit.intervals import CONFIDENCE, Bounded, Proportion, mover_product, mover_sum
from audit.strata import Part, StratumData, Undecided, parts_of

MIN_LABELS: Final = 20
"""Fewer labels on a side, and no rate is told: even without any error the interval is wider than 0.16."""

MAX_UNCOVERED: Final = 0.5
"""Verdicts of a side in strata without labels: beyond this share the estimate speaks of too few."""

Refusal = Literal[
    "no_verdicts", "no_labels", "too_few_labels", "too_little_covered", "one_side_only", "undefined"
]
"""Why a rate is not told. Its bounds hold all the same."""


@dataclass(frozen=True, slots=True)
class Rate:
    """An error rate. The bounds hold always; no estimate, but a reason, where too little is known."""

    estimate: float | None
    lower: float
    upper: float
    reason: Refusal | None = None


@dataclass(frozen=True, slots=True)
class SideSummary:
    """What the labels say about the accepts, or about the rejects."""

    verdicts: float
    labels: int
    """Decided ones: the answer is right or wrong."""
    errors: int
    undecided: int
    unlabelled_parts: int
    unlabelled_share: float
    """Of the side's verdicts, those in parts of strata without labels: the estimate is about the others."""
    rate: Rate
    """False discoveries among accepts, false omissions among rejects."""
    with_undecided: Rate
    """Its bounds if every undecided verdict were right, and if every one were wrong."""
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Estimates:
    """All rates of one group of strata."""

    accepts: SideSummary
    rejects: SideSummary
    accepted: Rate
    """Share of scored verdicts that are accepts."""
    prevalence: Rate
    fpr: Rate
    fnr: Rate
    informedness: Rate

    @property
    def sides(self) -> tuple[SideSummary, SideSummary]:
        """Accepts and rejects."""
        return self.accepts, self.rejects


class _Strata:
    """The strata of one side: their parts with the weight of the stratum, and bounds at any confidence."""

    def __init__(self, strata: Sequence[StratumData], known_from: float) -> None:
        self._strata = strata
        self._known_from = known_from
        self.size = math.fsum(one.size for one in strata)
        self.parts = self._parts("left_out")

    def _parts(self, undecided: Undecided) -> list[tuple[Proportion, Part]]:
        return [
            (Proportion(one.size / self.size, self._known_from), part)
            for one in self._strata
            if one.size
            for part in parts_of(one, undecided)
        ]

    @property
    def unlabelled_share(self) -> float:
        """Share of the verdicts that lie in parts without labels."""
        return math.fsum(
            weight.estimate * part.share.estimate for weight, part in self.parts if not part.labels
        )

    def bounds(self, confidence: float, undecided: Undecided = "left_out") -> Bounded:
        """The rate over all parts: the estimate is about those with labels, the bounds are about all."""
        if not self.parts:
            return Bounded(0.0, 0.0, 1.0)
        terms, unknown, covered = [], [], 0.0
        for weight, part in self.parts if undecided == "left_out" else self._parts(undecided):
            size = mover_product(weight.bounds(confidence), part.share.bounds(confidence))
            if part.labels:
                covered += size.estimate
                terms.append((1.0, mover_product(size, part.rate.bounds(confidence))))
            else:
                unknown.append(size)
        total = mover_sum(terms)
        upper = total.upper + math.fsum(one.upper for one in unknown)
        return Bounded(total.estimate / covered if covered else 0.0, total.lower, min(1.0, upper))


def estimate(
    strata: Sequence[StratumData], sizes_known_from: float = math.inf, confidence: float = CONFIDENCE
) -> Estimates:
    """The rates of scored strata.

    sizes_known_from: effective number of sampled verdicts that the strata's sizes were estimated from;
    infinite where they are exact counts.
    """
    sides = [
        _Strata([one for one in strata if one.side == side], sizes_known_from)
        for side in ("accept", "reject")
    ]
    accepts, rejects = (_summary(side, confidence) for side in sides)
    total = accepts.verdicts + rejects.verdicts
    q = Proportion(accepts.verdicts / total, sizes_known_from) if total else Proportion(0.0, 0.0)
    # Two or three intervals together hold `confidence` if each misses half or a third as often.
    each = 1.0 - (1.0 - confidence) / (2.0 if math.isinf(sizes_known_from) else 3.0)
    box = (q.bounds(each), *(side.bounds(each) for side in sides))
    reason = _joint_refusal(accepts, rejects)
    fpr = rates.corners(rates.false_positive_rate, *box)
    fnr = rates.corners(rates.false_negative_rate, *box)
    both = None if fpr is None or fnr is None else rates.informedness(fpr, fnr)
    return Estimates(
        accepts=accepts,
        rejects=rejects,
        accepted=_told(q.bounds(confidence), None if total else "no_verdicts"),
        prevalence=_told(rates.corners(rates.prevalence, *box), reason),
        fpr=_told(fpr, reason),
        fnr=_told(fnr, reason),
        informedness=_told(both, reason, least=-1.0),
    )


def _summary(side: _Strata, confidence: float) -> SideSummary:
    parts = tuple(part for _, part in side.parts)
    labels = sum(part.labels for part in parts)
    undecided = sum(part.undecided for part in parts)
    reason = _refusal(side, labels)
    bounds = side.bounds(confidence)
    lower, upper = bounds.lower, bounds.upper
    if undecided:
        lower = min(lower, side.bounds(confidence, "as_right").lower)
        upper = max(upper, side.bounds(confidence, "as_wrong").upper)
    return SideSummary(
        verdicts=side.size,
        labels=labels,
        errors=sum(part.errors for part in parts),
        undecided=undecided,
        unlabelled_parts=sum(not part.labels for part in parts),
        unlabelled_share=side.unlabelled_share,
        rate=_told(bounds, reason),
        with_undecided=_told(Bounded(bounds.estimate, lower, upper), reason),
        parts=parts,
    )


def _refusal(side: _Strata, labels: int) -> Refusal | None:
    if not side.size:
        return "no_verdicts"
    if not labels:
        return "no_labels"
    if labels < MIN_LABELS:
        return "too_few_labels"
    return "too_little_covered" if side.unlabelled_share > MAX_UNCOVERED else None


def _joint_refusal(accepts: SideSummary, rejects: SideSummary) -> Refusal | None:
    """Why rates that need both sides are not told."""
    empty = [side for side in (accepts, rejects) if not side.verdicts]
    if empty:
        return "no_verdicts" if len(empty) == 2 else "one_side_only"
    return accepts.rate.reason or rejects.rate.reason


def _told(bounds: Bounded | None, reason: Refusal | None, least: float = 0.0) -> Rate:
    if bounds is None or reason in ("no_verdicts", "one_side_only"):
        return Rate(None, least, 1.0, reason or "undefined")
    return Rate(None if reason else bounds.estimate, bounds.lower, bounds.upper, reason)
