"""Intervals of one proportion, and of weighted sums of proportions.

Why these: with error rates of a few percent and strata of very different weight, intervals by normal theory
cover 63 to 94 % of the time where they claim 95; see `docs/audit.md` and `benchmarks/audit_coverage.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from statistics import NormalDist
from typing import Final, NamedTuple

from audit.beta import beta_quantile

CONFIDENCE: Final = 0.95


class Interval(NamedTuple):
    """Lower and upper bound of a proportion."""

    lower: float
    upper: float


class Bounded(NamedTuple):
    """An estimate of a proportion and the bounds of its interval."""

    estimate: float
    lower: float
    upper: float


@lru_cache(maxsize=65_536)
def clopper_pearson(errors: float, labels: float, confidence: float = CONFIDENCE) -> Interval:
    """The exact interval of a proportion (Clopper and Pearson 1934); (0, 1) without labels.

    The numbers may be fractions: counts scaled to an effective sample size (Korn and Graubard 1998).
    """
    if labels <= 0:
        return Interval(0.0, 1.0)
    tail = (1.0 - confidence) / 2.0
    right = labels - errors
    lower = 0.0 if errors <= 0 else _quantile(tail, errors, right + 1.0)
    upper = 1.0 if right <= 0 else _quantile(1.0 - tail, errors + 1.0, right)
    return Interval(lower, upper)


class Proportion(NamedTuple):
    """A proportion as it was estimated."""

    estimate: float
    known_from: float
    """Effective number of verdicts behind it: 0 none, infinite an exact count."""

    def bounds(self, confidence: float = CONFIDENCE) -> Bounded:
        """With its exact interval."""
        if math.isinf(self.known_from):
            return Bounded(self.estimate, self.estimate, self.estimate)
        errors = self.estimate * self.known_from
        return Bounded(self.estimate, *clopper_pearson(errors, self.known_from, confidence))


def _quantile(p: float, a: float, b: float) -> float:
    """The beta quantile, in closed form where there is one: for no error, and for nothing but errors."""
    if a == 1.0:
        return -math.expm1(math.log1p(-p) / b)
    if b == 1.0:
        return math.exp(math.log(p) / a)
    return beta_quantile(p, a, b)


def bound_without_errors(labels: float, confidence: float = CONFIDENCE) -> float:
    """One-sided upper bound of a rate of which no case was found in `labels`; about 3 / labels."""
    return 1.0 if labels <= 0 else -math.expm1(math.log1p(-confidence) / labels)


def wilson(errors: float, labels: float, confidence: float = CONFIDENCE) -> Interval:
    """The score interval of a proportion (Wilson 1927); (0, 1) without labels."""
    if labels <= 0:
        return Interval(0.0, 1.0)
    z2 = normal_quantile(confidence) ** 2
    p = errors / labels
    middle = p + z2 / (2.0 * labels)
    half = math.sqrt(z2 * (p * (1.0 - p) + z2 / (4.0 * labels)) / labels)
    scale = 1.0 + z2 / labels
    # At 0 and 1 the bound is exact, which rounding would miss.
    lower = 0.0 if errors <= 0 else (middle - half) / scale
    upper = 1.0 if errors >= labels else (middle + half) / scale
    return Interval(lower, upper)


def normal_quantile(confidence: float) -> float:
    """How many standard deviations to either side hold `confidence`: 1.96 for 0.95."""
    return NormalDist().inv_cdf(0.5 + confidence / 2.0)


def mover_sum(terms: Iterable[tuple[float, Bounded]]) -> Bounded:
    """A weighted sum of independent proportions, its variance recovered from their intervals.

    MOVER (Zou and Donner 2008): the distances of the sum's bounds are the roots of the summed squares of
    w_h (p_h - l_h) and w_h (u_h - p_h). With Clopper-Pearson intervals it holds its level for few errors and
    unequal weights.
    """
    estimate = below = above = 0.0
    for weight, (p, lower, upper) in terms:
        estimate += weight * p
        below += (weight * (p - lower)) ** 2
        above += (weight * (upper - p)) ** 2
    return Bounded(estimate, max(0.0, estimate - math.sqrt(below)), min(1.0, estimate + math.sqrt(above)))


def mover_product(one: Bounded, other: Bounded) -> Bounded:
    """The product of two independent proportions, its variance recovered from their intervals.

    With the distances a and b of the bounds from x and y it is x²b² + y²a², plus a²b² above the product and
    minus a²b² below: so the bounds never go beyond those of both factors at once.
    """

    def distance(a: float, b: float, sign: int) -> float:
        mixed = (one.estimate * b) ** 2 + (other.estimate * a) ** 2 + sign * (a * b) ** 2
        return math.sqrt(max(0.0, mixed))

    estimate = one.estimate * other.estimate
    below = distance(one.estimate - one.lower, other.estimate - other.lower, -1)
    above = distance(one.upper - one.estimate, other.upper - other.estimate, +1)
    return Bounded(estimate, max(0.0, estimate - below), min(1.0, estimate + above))


def mover_difference(one: Bounded, other: Bounded) -> Bounded:
    """`one` minus `other`, independent of each other. With Wilson intervals this is Newcombe's (1998)."""
    estimate = one.estimate - other.estimate
    below = math.hypot(one.estimate - one.lower, other.upper - other.estimate)
    above = math.hypot(one.upper - one.estimate, other.estimate - other.lower)
    return Bounded(estimate, max(-1.0, estimate - below), min(1.0, estimate + above))
