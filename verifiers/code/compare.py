"""Whether what a program gave is what was expected (RULES R1 for texts, R5 for values)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any

from verifiers.code.tests import TextCompare
from verifiers.literals import FloatLiteral

TOLERANCE = Decimal("1e-6")

_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?\Z")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)\Z", re.IGNORECASE)
_SIMPLE = {str, int, float, type(None), FloatLiteral}
_LONGEST_FLOAT_BITS = 1100
# Wide enough that no rounding reaches a verdict: doubles have 17 digits, the tolerance six of them. Programs
# choose the exponents, so none may overflow: `_DECIMAL` admits far fewer digits of them than this does.
_CONTEXT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])


def text_matches(stdout: bytes, accepted: Iterable[str], compare: TextCompare) -> bool:
    """Whether the output of a program equals one of the accepted texts."""
    text = stdout.decode("utf-8", "replace")
    matches = {"tokens": _tokens_match, "exact": _exactly_matches, "float": _floats_match}[compare]
    return any(matches(text, expected) for expected in accepted)


def _tokens_match(text: str, expected: str) -> bool:
    tokens = expected.split()
    return _first_tokens(text, len(tokens)) == tokens


def _exactly_matches(text: str, expected: str) -> bool:
    return _without_last_newlines(text) == _without_last_newlines(expected)


def _without_last_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").rstrip("\n")


def _floats_match(text: str, expected: str) -> bool:
    wanted = expected.split()
    found = _first_tokens(text, len(wanted))
    return len(found) == len(wanted) and all(map(_token_matches, found, wanted))


def _first_tokens(text: str, count: int) -> list[str]:
    """The tokens, or one more than `count` entries if there are more: a flood is never split up."""
    return text.split(maxsplit=count)


def _token_matches(found: str, wanted: str) -> bool:
    if _NOT_FINITE.match(found):
        return False
    if found == wanted:
        return True
    if _INTEGER.match(found) and _INTEGER.match(wanted):
        return _normal_integer(found) == _normal_integer(wanted)
    if _DECIMAL.match(found) and _DECIMAL.match(wanted):
        return _close(Decimal(found), Decimal(wanted))
    return False


def _normal_integer(token: str) -> str:
    """The integer without a plus sign and leading zeros; no conversion, so no limit on digits."""
    digits = token.lstrip("+-").lstrip("0")
    return "-" + digits if token[0] == "-" and digits else digits


def _close(found: Decimal, wanted: Decimal) -> bool:
    largest = max(_CONTEXT.abs(found), _CONTEXT.abs(wanted))
    difference = _CONTEXT.abs(_CONTEXT.subtract(found, wanted))
    return difference <= max(TOLERANCE, _CONTEXT.multiply(TOLERANCE, largest))


def value_matches(found: Any, expected: Any, tolerant: bool = False) -> bool:
    """Whether a returned value equals the expected JSON value; both are no deeper than the codec allows.

    tolerant: numbers of which at least one is a float may differ as in `compare: float`.
    """
    if type(found) is list:
        return type(expected) is list and _lists_match(found, expected, tolerant)
    if type(found) is dict:
        return (
            type(expected) is dict
            and found.keys() == expected.keys()
            and all(value_matches(value, expected[key], tolerant) for key, value in found.items())
        )
    if type(expected) is list or type(expected) is dict or type(found) is bool or type(expected) is bool:
        return found is expected
    if found == expected:
        return True
    return tolerant and _numbers_close(found, expected)


def _lists_match(found: list[Any], expected: list[Any], tolerant: bool) -> bool:
    if len(found) != len(expected):
        return False
    if not tolerant and set(map(type, found)) | set(map(type, expected)) <= _SIMPLE:
        return found == expected
    return all(value_matches(a, b, tolerant) for a, b in zip(found, expected, strict=True))


def _numbers_close(found: Any, expected: Any) -> bool:
    if not (isinstance(found, int | float) and isinstance(expected, int | float)):
        return False
    if isinstance(found, int) and isinstance(expected, int):
        return False  # and not equal, as was seen before
    left, right = _as_decimal(found), _as_decimal(expected)
    return left is not None and right is not None and _close(left, right)


def _as_decimal(number: int | float) -> Decimal | None:
    """The number as it is written; None for what no float is near."""
    if isinstance(number, FloatLiteral):
        return Decimal(number.text)
    if isinstance(number, float):
        return Decimal(repr(number)) if math.isfinite(number) else None
    return Decimal(number) if number.bit_length() <= _LONGEST_FLOAT_BITS else None
