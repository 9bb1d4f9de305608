r"""A whole text that must be one value: the content of a box, or a ground truth.

    answer = { opener } [ label ] [ sign ] { opener } [ sign ] number { closer } [ unit ] [ "." ]
    label  = { word | subscript | command } ( "=" | "≈" | ":" | "is" )
    unit   = item { joint item }            item  = word [ power ] | "%" | degree | currency | \text{ … }
    joint  = white space | "/" | "·" | "."  power = "^" digit | "²" | "³" | "⁻¹" …

A word is letters. The expression says where words may stand; `words` says which of them deny, doubt, scale
or continue the number instead of naming or measuring it.
"""

from __future__ import annotations

from itertools import islice, pairwise

from verifiers.numeric.grammar import (
    BS,
    CURRENCY,
    DECIMAL,
    FONT,
    IDEOGRAPH,
    LETTER,
    NUMBER,
    PAD,
    PLAIN_DECIMAL,
    SP,
    SYMBOL,
    TO_ASCII,
)
from verifiers.numeric.parse import (
    MAX_DIGITS,
    SAFE_DIGITS,
    Rational,
    Unreadable,
    count_digits,
    read_decimal,
    read_number,
)
from verifiers.numeric.words import (
    AFTER_TIMES,
    HANGUL_NUMBERS,
    IDEOGRAPH_NUMBERS,
    LETTER_UNITS,
    NO_FIRST_UNIT,
    NO_LABEL,
    NO_OPERATOR_NAME,
    SHORT_UNITS,
    is_no_unit,
)
from verifiers.patterns import re

MAX_LENGTH = 32_768
"""Characters of a text that is read; longer than any number within the other limits, however it is spaced."""
_NUMBERS_LOOKED_AT = 64
"""How many numbers of an unreadable text are looked at for its reason."""

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
    rf"(?:=(?!=)|≈|{BS}approx(?![A-Za-z])|(?<=[A-Za-z]{{2}}):|is(?![A-Za-z]){SP}*+[:=]?+)"
)

_POWER = rf"(?:{SP}*+\^(?:\{{-?[0-9]\}}|-?[0-9](?![0-9]))|[²³]|⁻[¹²³])"
_WORD = rf"(?:(?:[{LETTER}]++(?:['-][{LETTER}]++)*+'?+|[{IDEOGRAPH}]++){_POWER}?)"
_DEGREE = rf"(?:°|\^{SP}*+(?:\{{{SP}*+{BS}circ{SP}*+\}}|{BS}circ(?![A-Za-z]))|{BS}degree(?![A-Za-z]))"
_SIGN = rf"(?:\\*+%|‰|{_DEGREE}|{SYMBOL})"
_JOINT = rf"(?:{PAD}|(?:[/·]|{BS}cdot(?![A-Za-z]))(?={PAD}*+[{LETTER}\\])|\.)"
_TEXT = rf"(?:{BS}(?:text(?:bf|it|rm|sf|tt|sc|up|normal)?|mathrm|[mh]box|operatorname){SP}*+\{{"
_TEXT_UNIT = rf"{_TEXT}(?:{_WORD}|{_SIGN}|{_JOINT})*+\}}{_POWER}?)"
_FIRST_TEXT_UNIT = rf"{_TEXT}(?!{PAD}*+(?:[/·]|{BS}cdot))(?:{_WORD}|{_SIGN}|{_JOINT})*+\}}{_POWER}?)"
_FIRST_WORD = rf"(?=[{LETTER}]{{2}}|(?<=[ \t\r\n~,;:])[{LETTER}]|[{IDEOGRAPH}]){_WORD}"
_UNIT_FRACTION = rf"{BS}[dt]?frac{SP}*+\{{{_TEXT_UNIT}\}}{SP}*+\{{{_TEXT_UNIT}\}}"
_UNIT = (
    rf"(?:{_FIRST_WORD}|{_SIGN}|{_FIRST_TEXT_UNIT}|{_UNIT_FRACTION})"
    rf"(?:{_WORD}|{_SIGN}|{_TEXT_UNIT}|{_JOINT})*+"
)

_PLAIN = re.compile(rf"[-+]?{PLAIN_DECIMAL}")
_ANSWER = re.compile(
    rf"{_OPENER}*+(?:(?P<label>{_LABEL})(?:{_OPENER}|\}})*+)?(?P<sign>[-+])?{_OPENER}*+(?P<inner_sign>[-+])?"
    rf"(?P<core>{NUMBER}){_CLOSER}*+(?:(?P<unit>{_UNIT}){_CLOSER}*+)?(?:\.{_CLOSER}*+)?"
)
_BLANK = re.compile(rf"(?:{_OPENER}|{_CLOSER})*+")
_START = re.compile(rf"{_OPENER}*+[-+]?{_OPENER}*+({DECIMAL})")
_DIGITS = re.compile(r"[0-9]++(?:[.,'][0-9]++)*+")
_SEPARATOR = re.compile(r"[,;&]|(?<![A-Za-z])(?:or|and|to)(?![A-Za-z])")
_GAP = re.compile(rf"(?:{SP}|[$()])++")
_LETTERS = re.compile(rf"{BS}[A-Za-z]++|[{LETTER}]++")
_GLUED_WORD = re.compile(rf"(?<![ \t\r\n~,;:])[{LETTER}]++")
_LONE_LETTER = re.compile(rf"(?:{_TEXT}{PAD}*+[{LETTER}]{PAD}*+\}})|[{LETTER}]){PAD}*+")
_IDEOGRAPH_NUMBER = re.compile(f"[{IDEOGRAPH_NUMBERS}]|(?<![{IDEOGRAPH}])[{HANGUL_NUMBERS}]|또는|または|ない")


def read_answer(text: str) -> Rational | Unreadable:
    """Read a whole text, such as the content of a box, that must hold exactly one number."""
    if len(text) <= SAFE_DIGITS and text.isdecimal() and text.isascii():
        return int(text), 1
    if len(text) > MAX_LENGTH:
        return _why_too_long(text[:MAX_LENGTH].translate(TO_ASCII))
    if _PLAIN.fullmatch(text):
        return read_decimal(text)
    if not text.isascii():
        text = text.translate(TO_ASCII)
    answer = _ANSWER.fullmatch(text)
    if answer is None or not _balanced(text) or not _names_and_measures(answer):
        return _why_unreadable(text)
    value = read_number(answer["core"])
    if isinstance(value, str) or (answer["sign"] or answer["inner_sign"]) != "-":
        return value
    return -value[0], value[1]


def _balanced(text: str) -> bool:
    return text.count("{") == text.count("}") and text.count("(") == text.count(")")


# --- what stands around the number -----------------------------------------------------------------------


def _names_and_measures(answer: re.Match[str]) -> bool:
    """Whether there is one sign at most, the label names the number, and the unit measures it."""
    if answer["sign"] and answer["inner_sign"]:
        return False
    if answer["label"] and not _is_label(answer["label"].lower()):
        return False
    return not answer["unit"] or _is_unit(
        answer["unit"], _GLUED_WORD.match(answer.string, answer.start("unit"))
    )


def _is_label(label: str) -> bool:
    words = _LETTERS.findall(label)
    bound = "at" in words and ("most" in words or "least" in words)
    return NO_LABEL.isdisjoint(words) and not bound and "n't" not in label


def _is_unit(unit: str, glued: re.Match[str] | None) -> bool:
    """Whether every word of `unit` may stand in one; `glued` is a word that touches the number."""
    if _LONE_LETTER.fullmatch(unit):
        return True
    if glued and len(glued[0]) <= 3 and glued[0].lower() not in SHORT_UNITS:
        return False
    words = [word for word in _LETTERS.findall(unit) if word[0] != "\\"]
    if not all(map(_measures, words)) or _IDEOGRAPH_NUMBER.search(unit):
        return False
    if not words:
        return True
    first = words[0].lower()
    if first == "times":
        return _counts(words)
    return first not in NO_FIRST_UNIT and not (first in NO_OPERATOR_NAME and "operatorname" in unit)


def _counts(words: list[str]) -> bool:
    """Whether `times` and what follows is a unit as in `3 times a week`, and not the start of a product."""
    return len(words) == 1 or (words[1] in AFTER_TIMES and len(words) > 2)


def _measures(word: str) -> bool:
    if len(word) == 1:
        return word in LETTER_UNITS
    return not is_no_unit(word.lower())


# --- why a text is not one number ------------------------------------------------------------------------


def _why_unreadable(text: str) -> Unreadable:
    if _BLANK.fullmatch(text):
        return "no_answer"
    numbers = list(islice(_DIGITS.finditer(text), _NUMBERS_LOOKED_AT))
    if numbers and ("±" in text or "\\pm" in text):
        return "several_values"
    for one, other in pairwise(numbers):
        between = one.end(), other.start()
        if _SEPARATOR.search(text, *between) or _GAP.fullmatch(text, *between):
            return "several_values"
    return "not_a_number"


def _why_too_long(start: str) -> Unreadable:
    """The reason for a text of which `start` is all that is looked at."""
    number = _START.match(start)
    if number and count_digits(number[1]) > MAX_DIGITS:
        return "number_too_large"
    return "not_a_number" if _BLANK.fullmatch(start) else _why_unreadable(start)
