"""Is `a` close enough to `g`: `abs(a - g) <= atol + rtol * max(1, abs(g))`, in integers throughout."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from verifiers.numeric.answer import read_answer
from verifiers.numeric.parse import Rational

_EXACT_BITS = 2_100
"""Numbers are shown exactly up to this size (about 630 digits), as leading digits and an exponent beyond."""


@dataclass(frozen=True, eq=False)
class Rule:
    """How far off an answer may be. Made by `make_rule`; compared by identity, so that it is a cheap key.

    relative: `rtol` is multiplied by `abs(g)` instead of `max(1, abs(g))`.
    """

    rtol: Rational
    atol: Rational
    relative: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """A ground truth and what is allowed around it; the texts are for people."""

    value: Rational
    tolerance: Rational
    expected: str
    tolerance_text: str


@lru_cache(maxsize=256)
def make_rule(rtol: str, atol: str, *, relative: bool = False) -> Rule:
    """The rule for two tolerances as written; `ValueError` unless both are finite and not negative."""
    return Rule(read_tolerance(rtol), read_tolerance(atol), relative)


def read_tolerance(written: str) -> Rational:
    """A tolerance as written; `ValueError` unless it is finite and not negative."""
    value = read_answer(written)
    if isinstance(value, str) or value[0] < 0:
        raise ValueError(f"a tolerance must be a finite number of at least 0, not {written[:80]!r}")
    return value


def make_target(value: Rational, rule: Rule) -> Target:
    """Everything about a ground truth that does not depend on the response."""
    numerator, denominator = value
    scale = abs(numerator) if rule.relative else max(denominator, abs(numerator))
    (rn, rd), (an, ad) = rule.rtol, rule.atol
    tolerance = (an * rd * denominator + rn * scale * ad, ad * rd * denominator)
    return Target(value, tolerance, number_text(value), tolerance_text(tolerance))


def difference(answer: Rational, goal: Rational) -> Rational:
    """`abs(answer - goal)`."""
    (an, ad), (gn, gd) = answer, goal
    return (abs(an - gn), ad) if ad == gd else (abs(an * gd - gn * ad), ad * gd)


def within(error: Rational, tolerance: Rational) -> bool:
    """`error <= tolerance`, exactly."""
    return error[0] * tolerance[1] <= tolerance[0] * error[1]


def is_near(error: Rational, tolerance: Rational) -> bool:
    """Whether an error is more than half of the tolerance, exactly."""
    return error[0] != 0 and 2 * error[0] * tolerance[1] > tolerance[0] * error[1]


def number_text(value: Rational) -> str:
    """`n` or `n/d` in lowest terms; beyond about 630 digits `d.ddd…e+N`, cut, never rounded."""
    numerator, denominator = value
    if denominator == 1 and numerator.bit_length() <= _EXACT_BITS:
        return str(numerator)
    if numerator == 0:
        return "0"
    if max(numerator.bit_length(), denominator.bit_length()) <= 2 * _EXACT_BITS:
        divisor = math.gcd(numerator, denominator)
        numerator, denominator = numerator // divisor, denominator // divisor
        if max(numerator.bit_length(), denominator.bit_length()) <= _EXACT_BITS:
            return str(numerator) if denominator == 1 else f"{numerator}/{denominator}"
    return _leading_digits(numerator, denominator)


def _leading_digits(numerator: int, denominator: int, digits: int = 17) -> str:
    """The first digits of a quotient that is not 0, an ellipsis, and its exponent of ten."""
    size = abs(numerator)
    exponent = int((size.bit_length() - denominator.bit_length()) * math.log10(2))
    shift = digits + 1 - exponent
    scaled = size * 10**shift // denominator if shift >= 0 else size // (denominator * 10**-shift)
    text = str(scaled)
    sign = "-" if numerator < 0 else ""
    return f"{sign}{text[0]}.{text[1:digits]}…e{len(text) - 1 - shift:+d}"


def tolerance_text(value: Rational) -> str:
    """As a decimal such as `1.001e-06` where that is exact, else like any other number."""
    numerator, denominator = value
    if max(numerator.bit_length(), denominator.bit_length()) <= 512:
        text = repr(numerator / denominator)
        if Fraction(text) == Fraction(numerator, denominator):
            return text
    return number_text(value)
