"""Intervals and estimators that the service does not use, to be measured beside those it does.

N: verdicts, n: labels, k: errors, each by stratum. All bounds are for 95 %.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from audit.beta import beta_quantile
from audit.intervals import Bounded, Interval, clopper_pearson, mover_sum, normal_quantile, wilson

Z = normal_quantile(0.95)


class Counted(NamedTuple):
    """One stratum."""

    verdicts: int
    labels: int
    errors: int


class Estimated(NamedTuple):
    """A rate and its standard error."""

    rate: float
    error: float


def agresti_coull(k: int, n: int) -> Interval:
    """Agresti and Coull's interval of one proportion."""
    n_tilde = n + Z**2
    p = (k + Z**2 / 2) / n_tilde
    half = Z * math.sqrt(p * (1 - p) / n_tilde)
    return Interval(max(0.0, p - half), min(1.0, p + half))


def jeffreys(k: int, n: int) -> Interval:
    """The interval of Jeffreys' prior of one proportion."""
    return Interval(beta_quantile(0.025, k + 0.5, n - k + 0.5), beta_quantile(0.975, k + 0.5, n - k + 0.5))


def stratified(strata: Sequence[Counted]) -> Estimated:
    """The rate of all strata, with the finite population's correction."""
    total = sum(one.verdicts for one in strata)
    rate = variance = 0.0
    for one in strata:
        p, weight = one.errors / one.labels, one.verdicts / total
        rate += weight * p
        variance += weight**2 * (1 - one.labels / one.verdicts) * p * (1 - p) / (one.labels - 1)
    return Estimated(rate, math.sqrt(variance))


def wald(strata: Sequence[Counted]) -> Interval:
    """The stratified rate and 1.96 standard errors."""
    rate, error = stratified(strata)
    return Interval(max(0.0, rate - Z * error), rate + Z * error)


def wilson_effective(strata: Sequence[Counted]) -> Interval:
    """Wilson's interval at the number of labels that would give the same variance."""
    rate, error = stratified(strata)
    labels = rate * (1 - rate) / error**2 if error else sum(one.labels for one in strata)
    return wilson(rate * labels, labels)


def mover_of(interval: Callable[[int, int], Interval]) -> Callable[[Sequence[Counted]], Interval]:
    """MOVER over another interval of one proportion."""

    def bounds(strata: Sequence[Counted]) -> Interval:
        total = sum(one.verdicts for one in strata)
        terms = [
            (one.verdicts / total, Bounded(one.errors / one.labels, *interval(one.errors, one.labels)))
            for one in strata
        ]
        return Interval(*mover_sum(terms)[1:])

    return bounds


def bonferroni(strata: Sequence[Counted]) -> Interval:
    """Each stratum's exact interval at a level that lets all of them hold together."""
    total = sum(one.verdicts for one in strata)
    confidence = 1 - 0.05 / len(strata)
    bounds = [(one.verdicts / total, clopper_pearson(one.errors, one.labels, confidence)) for one in strata]
    return Interval(sum(w * b.lower for w, b in bounds), sum(w * b.upper for w, b in bounds))


def jeffreys_draws(strata: Sequence[Counted], draws: int = 4_000, seed: int = 0) -> Interval:
    """Quantiles of the weighted sum of draws from each stratum's Jeffreys posterior."""
    rng = random.Random(seed)
    total = sum(one.verdicts for one in strata)
    sums = sorted(
        sum(
            one.verdicts / total * rng.betavariate(one.errors + 0.5, one.labels - one.errors + 0.5)
            for one in strata
        )
        for _ in range(draws)
    )
    return Interval(sums[int(0.025 * draws)], sums[int(0.975 * draws)])


def horvitz_thompson(wrong: Sequence[int], chances: Sequence[float], population: int) -> Estimated:
    """The rate by inverse inclusion probabilities, over a known population."""
    rate = sum(y / pi for y, pi in zip(wrong, chances, strict=True)) / population
    variance = sum((1 - pi) * (y / pi) ** 2 for y, pi in zip(wrong, chances, strict=True)) / population**2
    return Estimated(rate, math.sqrt(variance))


def hajek(wrong: Sequence[int], chances: Sequence[float]) -> Estimated:
    """The same over the population that the probabilities themselves come to."""
    population = sum(1 / pi for pi in chances)
    rate = sum(y / pi for y, pi in zip(wrong, chances, strict=True)) / population
    variance = sum((1 - pi) * ((y - rate) / pi) ** 2 for y, pi in zip(wrong, chances, strict=True))
    return Estimated(rate, math.sqrt(variance) / population)


def hajek_normal(strata: Sequence[Counted]) -> Interval:
    """Hájek's estimate and 1.96 standard errors, labels drawn by stratum."""
    wrong = [y for one in strata for y in [1] * one.errors + [0] * (one.labels - one.errors)]
    chances = [one.labels / one.verdicts for one in strata for _ in range(one.labels)]
    rate, error = hajek(wrong, chances)
    return Interval(max(0.0, rate - Z * error), rate + Z * error)


def aipw(
    predicted: Sequence[float], chances: Sequence[float], labelled: Sequence[int], wrong: Sequence[float]
) -> float:
    """Predictions for all, corrected by what the labelled ones show (active inference)."""
    rows = zip(predicted, chances, labelled, wrong, strict=True)
    terms = [f + (y - f) * xi / pi for f, pi, xi, y in rows]
    return sum(terms) / len(terms)
