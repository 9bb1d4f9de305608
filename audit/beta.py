"""The beta distribution, in plain floats: what exact binomial intervals are made of."""

from __future__ import annotations

import math
from statistics import NormalDist

_TINY = 1e-300
_EPSILON = 1e-15
_MAX_STEPS = 10_000
_TOLERANCE = 1e-13


def beta_cdf(x: float, a: float, b: float) -> float:
    """P(X <= x) for X ~ Beta(a, b); a and b above 0. Good to about 1e-12 for a + b up to a million."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    front = math.exp(_log_density(x, a, b) + math.log(x) + math.log1p(-x))
    # The fraction converges fast on this side of the mean only.
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _continued_fraction(x, a, b) / a
    return 1.0 - front * _continued_fraction(1.0 - x, b, a) / b


def beta_quantile(p: float, a: float, b: float) -> float:
    """The x with P(X <= x) = p for X ~ Beta(a, b): Halley's steps, by bisection where they lead outside."""
    low, high = 0.0, 1.0
    x = _first_guess(p, a, b)
    for _ in range(200):
        error = beta_cdf(x, a, b) - p
        if error > 0.0:
            high = x
        else:
            low = x
        step = error / max(math.exp(_log_density(x, a, b)), _TINY)
        bend = step * ((a - 1.0) / x - (b - 1.0) / (1.0 - x))
        step /= 1.0 - 0.5 * min(1.0, bend)
        if abs(step) <= _TOLERANCE * x or high - low <= _TOLERANCE * x:
            return x
        x -= step
        if not low < x < high:
            x = (low + high) / 2.0
    return x


def _first_guess(p: float, a: float, b: float) -> float:
    """By the normal distribution (Abramowitz and Stegun, 26.5.22); the mean where that is not for."""
    if a <= 1.0 or b <= 1.0:
        return a / (a + b)
    z = -NormalDist().inv_cdf(p)
    curve = (z * z - 3.0) / 6.0
    of_a, of_b = 1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0)
    h = 2.0 / (of_a + of_b)
    w = z * math.sqrt(max(0.0, curve + h)) / h - (of_b - of_a) * (curve + 5.0 / 6.0 - 2.0 / (3.0 * h))
    guess = a / (a + b * math.exp(min(700.0, 2.0 * w)))
    return min(max(guess, 1e-12), 1.0 - 1e-12)


def _log_density(x: float, a: float, b: float) -> float:
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return (a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x) - log_beta


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Lentz's evaluation of the fraction of the incomplete beta function (Numerical Recipes, 6.4)."""
    c, d = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _MAX_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / _away_from_zero(1.0 + term * d)
            c = _away_from_zero(1.0 + term / c)
            value *= c * d
        if abs(c * d - 1.0) < _EPSILON:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
