"""The acceptance rule against `Fraction`, and how numbers are shown."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiers.numeric.compare import difference, make_rule, make_target, number_text, tolerance_text, within
from verifiers.numeric.parse import Rational

RATIONALS = st.tuples(st.integers(-(10**9), 10**9), st.integers(1, 10**6))
TOLERANCES = st.decimals(0, 10, places=9).map(lambda value: f"{value:f}")


def accepted(answer: Rational, gold: Rational, rtol: str, atol: str, *, relative: bool = False) -> bool:
    """What the verifier's own functions say."""
    target = make_target(gold, make_rule(rtol, atol, relative=relative))
    return within(difference(answer, target.value), target.tolerance)


@given(RATIONALS, RATIONALS, TOLERANCES, TOLERANCES, st.booleans())
@settings(max_examples=50)
def test_rule_equals_the_reference(
    answer: Rational, gold: Rational, rtol: str, atol: str, relative: bool
) -> None:
    """Integer cross multiplication decides as `Fraction` does."""
    a, g = Fraction(*answer), Fraction(*gold)
    scale = abs(g) if relative else max(Fraction(1), abs(g))
    expected = abs(a - g) <= Fraction(atol) + Fraction(rtol) * scale
    assert accepted(answer, gold, rtol, atol, relative=relative) == expected


@given(RATIONALS, TOLERANCES, TOLERANCES, st.booleans(), st.sampled_from([1, -1]), st.integers(1, 400))
@settings(max_examples=50)
def test_edge_is_accepted_and_nothing_beyond(
    gold: Rational, rtol: str, atol: str, relative: bool, side: int, places: int
) -> None:
    """Exactly at the tolerance an answer is right, any power of ten further out it is wrong."""
    g = Fraction(*gold)
    scale = abs(g) if relative else max(Fraction(1), abs(g))
    edge = g + side * (Fraction(atol) + Fraction(rtol) * scale)
    beyond = edge + side * Fraction(1, 10**places)
    assert accepted(edge.as_integer_ratio(), gold, rtol, atol, relative=relative)
    assert not accepted(beyond.as_integer_ratio(), gold, rtol, atol, relative=relative)


@pytest.mark.parametrize("text", ["-1e-9", "nan", "inf", "-inf", "", "x", "1e10001"])
def test_unusable_tolerance_is_refused(text: str) -> None:
    """A tolerance is finite and not negative."""
    with pytest.raises(ValueError, match="must be a finite number"):
        make_rule(text, "0")
    with pytest.raises(ValueError, match="must be a finite number"):
        make_rule("0", text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((0, 7), "0"),
        ((0, 10**9000), "0"),
        ((-6, 4), "-3/2"),
        ((6, 3), "2"),
        ((10**600, 1), "1" + "0" * 600),
        ((10**9000, 1), "1.0000000000000000…e+9000"),
        ((-2, 3 * 10**9000), "-6.6666666666666666…e-9001"),
        ((10**9000 - 1, 10**9000), "9.9999999999999999…e-1"),
    ],
    ids=["0", "0/large", "lowest", "whole", "600", "9000", "-9001", "below 1"],
)
def test_numbers_are_shown_exactly_or_cut(value: Rational, text: str) -> None:
    """Numbers of moderate size in lowest terms, larger ones by their first digits."""
    assert number_text(value) == text


@given(st.integers(-(10**20), 10**20), st.integers(-12_000, 12_000))
@settings(max_examples=50)
def test_shown_number_is_short_and_close(digits: int, exponent: int) -> None:
    """Whatever is shown is at most 2 KiB and right in all its digits."""
    value = (digits * 10**exponent, 1) if exponent >= 0 else (digits, 10**-exponent)
    text = number_text(value)
    assert len(text) <= 2048
    if "…" in text:
        shown, power = text.split("…e")
        exact = Decimal(digits).scaleb(exponent)
        assert exact.adjusted() == int(power)
        assert abs(exact.scaleb(-int(power)) - Decimal(shown)) < Decimal("1e-15")
    else:
        assert Fraction(text) == Fraction(*value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1001, 10**9), "1.001e-06"),
        ((0, 1), "0.0"),
        ((1, 3), "1/3"),
        ((5, 1), "5.0"),
        ((10**400, 1), "1" + "0" * 400),
    ],
    ids=["decimal", "zero", "third", "whole", "large"],
)
def test_tolerance_is_shown_as_a_decimal_if_exact(value: Rational, text: str) -> None:
    """A tolerance reads like a float only where that is the exact value."""
    assert tolerance_text(value) == text
