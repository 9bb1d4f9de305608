"""The beta distribution, in plain floats: what exact binomial intervals are made of."""

from __future__ import annotations

import math

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
    """The x with P(X <= x) = p for X ~ Beta(a, b): Newton's steps, by bisection where they lead outside."""
    low, high = 0.0, 1.0
    x = a / (a + b)
    for _ in range(200):
        error = beta_cdf(x, a, b) - p
        if error > 0.0:
            high = x
        else:
            low = x
        step = error / max(math.exp(_log_density(x, a, b)), _TINY)
        x_next = x - step
        if not low < x_next < high:
            x_next = (low + high) / 2.0
        if abs(x_next - x) <= _TOLERANCE * x:
            return x_next
        x = x_next
    return x


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
