"""Text to an exact rational by the grammar of `grammar`; nothing is evaluated, nothing is rounded."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from verifiers.numeric.grammar import (
    ARGUMENT,
    BS,
    CURRENCY,
    DECIMAL,
    EXPONENT,
    FONT,
    NUMBER,
    PAD,
    PLAIN_DECIMAL,
    SLASH_FRACTION,
    SP,
    SUPERSCRIPT,
    SYMBOL,
    TO_ASCII,
    VULGAR,
)

MAX_DIGITS = 4_300
"""Written digits of one decimal, leading zeros not counted."""
MAX_EXPONENT = 10_000

Rational = tuple[int, int]
"""Numerator and positive denominator, not reduced."""
Unreadable = Literal["no_answer", "not_a_number", "several_values", "zero_denominator", "number_too_large"]
"""Why a text is not one number."""

# --- one number ------------------------------------------------------------------------------------------

_FRACTION = re.compile(
    rf"(?:(?P<whole>[0-9]++)(?:{SP}*+(?=\\++[dtc]?f)|{SP}++))?"
    rf"(?:\\++[dtc]?frac(?P<over>{ARGUMENT})(?P<under>{ARGUMENT})|(?P<slash>{SLASH_FRACTION}))"
)
_DECIMAL = re.compile(rf"(?P<mantissa>{DECIMAL})(?P<exponent>{EXPONENT})?")
_NOT_NUMERIC = re.compile(r"[^-+.0-9]")
_SAFE_DIGITS = 640
"""`int()` takes at least so many digits whatever the interpreter's limit is set to."""


def read_number(core: str) -> Rational | Unreadable:
    """Read `core`, which matches `grammar.NUMBER`: one number without its sign and surroundings."""
    if len(core) <= _SAFE_DIGITS and core.isdecimal():
        return int(core), 1
    if core[-1] in VULGAR:
        whole = core[:-1].rstrip("\\,;: ~")
        return _mixed(whole, VULGAR[core[-1]]) if whole else VULGAR[core[-1]]
    decimal = _DECIMAL.fullmatch(core)
    if decimal:
        return _decimal(decimal["mantissa"], decimal["exponent"])
    fraction = _FRACTION.fullmatch(core)
    if fraction is None:
        return "not_a_number"
    over, under = (fraction["over"], fraction["under"]) if fraction["over"] else fraction["slash"].split("/")
    value = _quotient(_decimal(over), _decimal(under))
    return _mixed(fraction["whole"], value) if fraction["whole"] else value


def _decimal(written: str, exponent: str | None = None) -> Rational | Unreadable:
    """Read a decimal, which may be signed and grouped, and the exponent that follows it."""
    digits = _NOT_NUMERIC.sub("", written)
    whole, _, part = digits.lstrip("+-").partition(".")
    if len(whole) + len(part) > MAX_DIGITS and len(whole.lstrip("0")) + len(part) > MAX_DIGITS:
        return "number_too_large"
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


def _power(exponent: str) -> int:
    """The exponent of ten, cut off just beyond `MAX_EXPONENT`."""
    written = exponent[1:] if exponent[0] in "eE" else exponent.partition("10")[2].translate(SUPERSCRIPT)
    digits = _NOT_NUMERIC.sub("", written)
    size = digits.lstrip("+-").lstrip("0") or "0"
    power = int(size) if len(size) <= len(str(MAX_EXPONENT)) else MAX_EXPONENT + 1
    return -power if digits[0] == "-" else power


def _integer(digits: str) -> int:
    return int(digits) if len(digits) <= _SAFE_DIGITS else int(Decimal(digits.lstrip("0") or "0"))


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
    count = _decimal(whole)
    if isinstance(count, str):
        return count
    numerator, denominator = fraction
    if not 0 <= numerator < denominator:
        return "not_a_number"
    return count[0] * denominator + numerator, denominator


# --- a whole text that is one value ----------------------------------------------------------------------

_GREEK = (
    r"(?:alpha|beta|gamma|delta|epsilon|zeta|eta|theta|kappa|lambda|mu|nu|xi|rho|sigma|tau|phi|varphi|chi|psi|omega"
    r"|Gamma|Delta|Theta|Lambda|Sigma|Phi|Psi|Omega|angle|triangle)"
)
_SWITCH = (
    r"(?:displaystyle|textstyle|bf|it|rm|sf|tt|bfseries|itshape|tiny|small|normalsize|[lL]arge|LARGE|[hH]uge)"
)
_OPENER = (
    rf"(?:{PAD}|[{{($*_`\"]|{BS}[(\[]|{BS}left{SP}*+\(|{FONT}{SP}*+{CURRENCY}{SP}*+\}}|{FONT}"
    rf"|{BS}{_SWITCH}(?![A-Za-z])|{BS}(?:text)?color{SP}*+\{{[A-Za-z]++\}}|{CURRENCY})"
)
_CLOSER = rf"(?:{PAD}|[}})$*_`\"]|{BS}right{SP}*+\)|{BS}[)\]])"
_LABEL = (
    rf"(?:{PAD}|(?!is(?![A-Za-z]))[A-Za-z]++|['(){{}}]|_\{{?[A-Za-z0-9]{{1,3}}\}}?|{FONT}|{BS}{_GREEK}(?![A-Za-z]))*+"
    rf"(?:=(?!=)|≈|{BS}approx(?![A-Za-z])|(?<=[A-Za-z]{{2}}):|is(?![A-Za-z]))"
)

_LETTER = "A-Za-zµÀ-ÖØ-öø-ɏΑ-Ωα-ορ-ωА-яЁё"
"""Letters of units. Not π."""
_IDEOGRAPH = "(?![十百千万亿億兆萬])[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]++"
_CONTINUES = (
    r"(?i:(?:or|and|to|by|plus|minus|times|over|point|divided|hundred|thousand|million|billion|trillion|lakh|crore"
    rf"|pi|sqrt|log|ln|exp|sin|cos|tan|mod|choose|factorial|squared|cubed)(?![{_LETTER}]))"
)
"""Words that continue a number instead of measuring it."""
_TEXT_UNIT = (
    rf"{BS}(?:text(?:bf|it|rm|sf|tt|sc|up|normal)?|mathrm|[mh]box|operatorname){SP}*+\{{{SP}*+(?!{_CONTINUES})"
    rf"(?:[^{{}}0-9\\=<>+^$]|{BS}[%,;:!$ ]|\^(?:\{{-?[0-9]\}}|-?[0-9](?![0-9])))*+\}}"
)
_DEGREE = rf"(?:°|\^{SP}*+(?:\{{{SP}*+{BS}circ{SP}*+\}}|{BS}circ(?![A-Za-z]))|{BS}degree(?![A-Za-z]))"
_FIRST_UNIT = (
    rf"(?:\\*+%|‰|{_DEGREE}{SP}*+(?:[CFK](?![A-Za-z]))?|{SYMBOL}|{_TEXT_UNIT}|{_IDEOGRAPH}"
    rf"|{BS}[dt]?frac{SP}*+\{{{_TEXT_UNIT}\}}{SP}*+\{{{_TEXT_UNIT}\}}"
    rf"|(?!{_CONTINUES})(?:[{_LETTER}]{{2,}}+|(?<=[ \t\r\n~,;:])[{_LETTER}](?![{_LETTER}])))"
)
_NEXT_UNIT = (
    rf"(?:{PAD}|[/·.'’²³]|⁻[¹²³]|{BS}cdot(?![A-Za-z])|-(?=[{_LETTER}])|\^(?:\{{-?[0-9]\}}|-?[0-9](?![0-9]))"
    rf"|[{_LETTER}]++|{_IDEOGRAPH}|{_DEGREE}|{_TEXT_UNIT})"
)
_PLAIN = re.compile(rf"[-+]?{PLAIN_DECIMAL}")
_ANSWER = re.compile(
    rf"{_OPENER}*+(?:{_LABEL}(?:{_OPENER}|\}})*+)?(?P<sign>[-+])?{_OPENER}*+(?P<inner_sign>[-+])?(?P<core>{NUMBER})"
    rf"{_CLOSER}*+(?:{_FIRST_UNIT}{_NEXT_UNIT}*+{_CLOSER}*+)?(?:\.{_CLOSER}*+)?"
)
_BLANK = re.compile(rf"(?:{_OPENER}|{_CLOSER})*+")
_DIGITS = re.compile(r"[0-9]++(?:[.,'][0-9]++)*+")
_SEPARATOR = re.compile(r"[,;&]|(?<![A-Za-z])(?:or|and|to)(?![A-Za-z])")
_GAP = re.compile(rf"(?:{SP}|[$()])++")


def read_answer(text: str) -> Rational | Unreadable:
    """Read a whole text, such as the content of a box, that must hold exactly one number."""
    if len(text) <= _SAFE_DIGITS and text.isdecimal() and text.isascii():
        return int(text), 1
    if _PLAIN.fullmatch(text):
        return _decimal(text)
    if not text.isascii():
        text = text.translate(TO_ASCII)
    answer = _ANSWER.fullmatch(text)
    if answer is None or (answer["sign"] and answer["inner_sign"]) or not _balanced(text):
        return _why_unreadable(text)
    value = read_number(answer["core"])
    if isinstance(value, str) or (answer["sign"] or answer["inner_sign"]) != "-":
        return value
    return -value[0], value[1]


def _balanced(text: str) -> bool:
    return text.count("{") == text.count("}") and text.count("(") == text.count(")")


def _why_unreadable(text: str) -> Unreadable:
    if _BLANK.fullmatch(text):
        return "no_answer"
    numbers = list(_DIGITS.finditer(text))
    if numbers and ("±" in text or "\\pm" in text):
        return "several_values"
    for one, other in pairwise(numbers):
        between = one.end(), other.start()
        if _SEPARATOR.search(text, *between) or _GAP.fullmatch(text, *between):
            return "several_values"
    return "not_a_number"
