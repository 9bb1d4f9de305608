"""The table of units, against pint."""

from __future__ import annotations

from fractions import Fraction

import pint
import pytest

from verifiers.math.read.units import UNITS, resolve

REGISTRY = pint.UnitRegistry(non_int_type=Fraction)

OURS_ALONE = {
    "USD", "dollar", "dollars", "cent", "cents", "US cent", "bucks", "EUR", "euro", "euros", "GBP", "JPY",
    "yen", "INR", "rupee",
    "rupees", "CNY", "yuan", "RMB", "%", "percent", "pct", "percentage", "percents", "unit", "units",
    "month", "months", "yr", "yrs",
    "year", "years", "decade", "decades", "century", "centuries", "degC", "degF", "celsius", "fahrenheit",
    "deg", "degree",
    "degrees", "kmh", "rads", "acre", "acres",
}  # fmt: skip
"""Money, parts, calendar units (12 months a year here, days in pint), offset temperatures,
angles with pi, and the international acre (the survey acre of pint is 4 parts in a million larger)."""

SPELLED_OTHERWISE = {"henries": "henrys",
    "secs": "second", "mins": "minute", "hrs": "hour", "lbs": "pound", "um": "micrometer",
    "us": "microsecond", "ohms": "ohm",
    "amp": "ampere", "amps": "ampere", "KB": "kilobyte", "kB": "kilobyte", "KiB": "kibibyte",
    "MiB": "mebibyte", "dyn": "dyne",
    "T": "tesla", "C": "coulomb", "t": "tonne", "h": "hour", "L": "liter", "l": "liter",
    "kilo": "kilogram", "kilos": "kilogram",
    "cal": "calorie", "kcal": "kilocalorie", "hertz": "hertz", "mi": "mile", "nmi": "nautical_mile",
    "kph": "kilometer/hour", "kmph": "kilometer/hour", "M": "molar",
}  # fmt: skip

_BASE = {
    "m": "meter", "kg": "kilogram", "s": "second", "A": "ampere", "K": "kelvin", "mol": "mole",
    "cd": "candela", "byte": "byte",
    "rad": "radian",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(UNITS) - OURS_ALONE))
def test_unit_agrees_with_pint(name: str) -> None:
    """Factor and dimensions of every physical unit are pint's, exactly up to a part in 10^9."""
    factor, dimensions, _ = resolve(((name, 1),))
    base = REGISTRY.Unit("dimensionless")
    for symbol, power in dimensions:
        base *= REGISTRY.Unit(_BASE[symbol]) ** power
    theirs = REGISTRY.Quantity(Fraction(1), SPELLED_OTHERWISE.get(name, name)).to(base).magnitude
    assert abs(Fraction(theirs) / factor - 1) < Fraction(1, 10**9)


def test_every_unit_that_pint_does_not_check_is_named_here() -> None:
    """The list of exceptions holds no name that is not in the table."""
    assert set(UNITS) >= OURS_ALONE
    assert set(UNITS) >= set(SPELLED_OTHERWISE)
