"""Text to an exact rational by the grammar of `grammar`; nothing is evaluated, nothing is rounded."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from verifiers.numeric.grammar import ARGUMENT, DECIMAL, EXPONENT, SLASH_FRACTION, SP, SUPERSCRIPT, VULGAR
from verifiers.patterns import re

MAX_DIGITS = 4_300
"""Written digits of one decimal, leading zeros not counted."""
MAX_EXPONENT = 10_000

Rational = tuple[int, int]
"""Numerator and positive denominator, not reduced."""
Unreadable = Literal["no_answer", "not_a_number", "several_values", "zero_denominator", "number_too_large"]
"""Why a text is not one number."""

_FRACTION = re.compile(
    rf"(?:(?P<whole>[0-9]++)(?:{SP}*+(?=\\++[dtc]?f)|{SP}++))?"
    rf"(?:\\++[dtc]?frac(?P<over>{ARGUMENT})(?P<under>{ARGUMENT})|(?P<slash>{SLASH_FRACTION}))"
)
_DECIMAL = re.compile(rf"(?P<mantissa>{DECIMAL})(?P<exponent>{EXPONENT})?")
_NOT_NUMERIC = re.compile(r"[^-+.0-9]")
SAFE_DIGITS = 640
"""`int()` takes at least so many digits whatever the interpreter's limit is set to."""


def read_number(core: str) -> Rational | Unreadable:
    """Read `core`, which matches `grammar.NUMBER`: one number without its sign and surroundings."""
    if len(core) <= SAFE_DIGITS and core.isdecimal():
        return int(core), 1
    if core[-1] in VULGAR:
        whole = core[:-1].rstrip("\\,;: ~")
        return _mixed(whole, VULGAR[core[-1]]) if whole else VULGAR[core[-1]]
    decimal = _DECIMAL.fullmatch(core)
    if decimal:
        return read_decimal(decimal["mantissa"], decimal["exponent"])
    fraction = _FRACTION.fullmatch(core)
    if fraction is None:
        return "not_a_number"
    over, under = (fraction["over"], fraction["under"]) if fraction["over"] else fraction["slash"].split("/")
    value = _quotient(read_decimal(over), read_decimal(under))
    return _mixed(fraction["whole"], value) if fraction["whole"] else value


def read_decimal(written: str, exponent: str | None = None) -> Rational | Unreadable:
    """Read a decimal, which may be signed and grouped, and the exponent that follows it."""
    digits = _NOT_NUMERIC.sub("", written)
    if len(digits) > MAX_DIGITS and count_digits(digits) > MAX_DIGITS:
        return "number_too_large"
    whole, _, part = digits.lstrip("+-").partition(".")
    shift = -len(part)
    if exponent:
        power = _power(exponent)
        if abs(power) > MAX_EXPONENT:
            return "number_too_large"
        shift += power
    numerator = _integer(whole + part)
    if digits[0] == "-":
        numerator = -numerator
    return (numerator * 10**shift, 1) if shift >= 0 else (numerator, 10**-shift)


def count_digits(written: str) -> int:
    """Digits of a decimal, leading zeros not counted."""
    whole, _, part = _NOT_NUMERIC.sub("", written).lstrip("+-").partition(".")
    return len(whole.lstrip("0")) + len(part)


def _power(exponent: str) -> int:
    """The exponent of ten, cut off just beyond `MAX_EXPONENT`."""
    written = exponent[1:] if exponent[0] in "eE" else exponent.partition("10")[2].translate(SUPERSCRIPT)
    digits = _NOT_NUMERIC.sub("", written)
    size = digits.lstrip("+-").lstrip("0") or "0"
    power = int(size) if len(size) <= len(str(MAX_EXPONENT)) else MAX_EXPONENT + 1
    return -power if digits[0] == "-" else power


def _integer(digits: str) -> int:
    return int(digits) if len(digits) <= SAFE_DIGITS else int(Decimal(digits.lstrip("0") or "0"))


def _quotient(over: Rational | Unreadable, under: Rational | Unreadable) -> Rational | Unreadable:
    if isinstance(over, str):
        return over
    if isinstance(under, str):
        return under
    numerator, denominator = over[0] * under[1], over[1] * under[0]
    if denominator == 0:
        return "zero_denominator"
    return (numerator, denominator) if denominator > 0 else (-numerator, -denominator)


def _mixed(whole: str, fraction: Rational | Unreadable) -> Rational | Unreadable:
    """A whole number and a fraction of less than one; anything else beside a number is a product."""
    if isinstance(fraction, str):
        return fraction
    count = read_decimal(whole)
    if isinstance(count, str):
        return count
    numerator, denominator = fraction
    if not 0 <= numerator < denominator:
        return "not_a_number"
    return count[0] * denominator + numerator, denominator
