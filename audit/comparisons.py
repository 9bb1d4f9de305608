"""Two proportions beside each other, and two judges of the same things."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from audit.intervals import CONFIDENCE, Bounded, mover_difference, wilson


def newcombe(
    errors: int, labels: int, other_errors: int, other_labels: int, confidence: float = CONFIDENCE
) -> Bounded:
    """The difference of two independent proportions (Newcombe 1998, method 10). labels: above 0."""

    def bounded(k: int, n: int) -> Bounded:
        return Bounded(k / n, *wilson(k, n, confidence))

    return mover_difference(bounded(errors, labels), bounded(other_errors, other_labels))


def score_test(errors: int, labels: int, other_errors: int, other_labels: int) -> float:
    """Two-sided p-value for two independent proportions being equal (Miettinen and Nurminen 1985)."""
    total = labels + other_labels
    pooled = (errors + other_errors) / total
    variance = pooled * (1.0 - pooled) * (1.0 / labels + 1.0 / other_labels) * total / (total - 1)
    if variance == 0.0:
        return 1.0
    z = (errors / labels - other_errors / other_labels) / math.sqrt(variance)
    return 2.0 * NormalDist().cdf(-abs(z))


def mcnemar_exact(one_way: int, other_way: int) -> float:
    """Two-sided p-value for two verifiers of the same items erring equally often (McNemar, exact).

    one_way, other_way: items that only the one, only the other judged wrongly.
    """
    flips = one_way + other_way
    fewer = min(one_way, other_way)
    tail = sum(math.comb(flips, k) for k in range(fewer + 1))
    # In integers: beyond 1,023 flips the powers of two leave the range of floats.
    p_value: float = 2 * tail / 2**flips
    return min(1.0, p_value)


def cohen_kappa(table: Sequence[Sequence[int]]) -> float | None:
    """Agreement of two labelers beyond chance (Cohen 1960); None where chance alone agrees everywhere.

    table: items by the one's answer (rows) and the other's (columns).
    """
    total = sum(map(sum, table))
    if total == 0:
        return None
    size = range(len(table))
    observed = sum(table[i][i] for i in size) / total
    by_chance = sum(sum(table[i]) * sum(row[i] for row in table) for i in size) / total**2
    return None if by_chance == 1.0 else (observed - by_chance) / (1.0 - by_chance)
