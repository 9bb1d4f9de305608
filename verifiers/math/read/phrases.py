"""Answers that are no formula: times, dates, choice letters, words, and statements such as `no solution`."""

from __future__ import annotations

import re

from verifiers.math.read.errors import ReadError, UnsupportedKind
from verifiers.math.read.names import CONNECTIVES, HEDGES, PART_WORDS
from verifiers.math.read.units import SCALES
from verifiers.math.tree import Choice, ClockTime, Counted, Date, NamedSet, Node, Number, Special, Text

_WRAPPED = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|mbox|hbox|mathrm|mathbf|mathit|mathsf|boldsymbol|operatorname|emph|boxed|bm|underline|textsc|textmd|textup)\s*"
    r"\{([^{}]*)\}"
)
_SPACING = re.compile(r"\\[,;:! ]|\\q?quad\b|~|[{}$]|\\(?:left|right|displaystyle)\b")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([apAP])?\.?\s?(?:[mM]\.?)?")
_CLOCK_HOUR = re.compile(r"(\d{1,2})\s*([apAP])\.?\s?[mM]\.?")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_CHOICE = re.compile(r"(?:(?:option|choice|answer)\s*)?\(?([A-J])\)?[.:)]?", re.IGNORECASE)
_CHOICE_AND_CONTENT = re.compile(
    r"(?:\\(?:text|mathrm)(?:bf|it|rm)?\s*\{\s*)?(?:\(([A-J])\)|([A-J])[.:)](?=[\s}\\$(]))\s*"
    r"(\}?)(?:\\[ ,;:]|[\s~])*(\S.*)",
    re.DOTALL,
)
_CHOICE_LOST = re.compile(
    r"(?:\b(?:or|and)|[,;/])\s*(?:\}?\\(?:text|mathrm)(?:bf|it|rm)?\s*\{\s*)?(?:(?:option|choice)\s*)?\([A-J]\)"
    r"|\bor\s+[A-J]\b"
    r"|^\W*(?:(?:is|are|was|were)\s+(?:not|wrong|incorrect|false|out|ruled|eliminated|excluded)\b"
    r"|isn['’]t\b|can(?:not\b|['’]t\b))"
)
_LEADING_CHOICE = re.compile(
    r"(?:(?:so|thus|hence|therefore),?\s+)?(?:(?:option|choice|answer)\s*:?\s*)?\**\s*(?:\(([A-J])\)|([B-J])(?=\s+(?:because|since|as)\b)|([A-J])(?=[.:),]?\**\s*$))",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\W\d_](?:[^\W\d_]|[\s,.'’\-])*")

_SPECIAL = {
    "empty": "empty set|the empty set|none|no such|no answer exists|nothing|has no solution",
    "does_not_exist": "dne|does not exist|doesn't exist|the limit does not exist|limit does not exist|"
    "divergent|diverges",
    "true": "true|yes",
    "false": "false|no",
    "infinitely_many": "infinitely many|infinitely many solutions|infinite number of solutions",
    "undefined": "undefined|not defined|indeterminate",
}
_SPECIAL_BY_WORDS = {words: name for name, row in _SPECIAL.items() for words in row.split("|")}
_NO_SOLUTION = re.compile(
    r"(?:there (?:is|are|exists?) )?no (?:(?:real|integer|positive|such|valid|possible|rational|complex) )*"
    r"(?:solutions?|values?|numbers?|integers?|roots?|pairs?|functions?|polynomials?|(?<=such )[a-z])"
    r"(?: (?:of )?[a-z])?(?: exists?)?"
)
_ALL_REALS = frozenset(
    ("all real numbers", "all reals", "real numbers", "all real numbers x", "the real numbers", "all real")
)
MAX_TEXT_WORDS = 12
LONGEST = 80
"""Characters of the longest statement."""

_ONES = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}


_NO_NOUNS = frozenset((
    *CONNECTIVES, *HEDGES, *PART_WORDS, *SCALES, *_ONES, *_TENS, "to", "of", "in", "out", "point", "half",
    "third", "quarter", "percent", "per", "less", "more", "minus", "plus", "times", "over", "by", "score",
))  # fmt: skip


def plain(text: str) -> str:
    """`text` without font commands, spacing commands, dollar signs and braces."""
    while True:
        shorter = _WRAPPED.sub(r" \1 ", text)
        if shorter == text:
            break
        text = shorter
    text = _SPACING.sub(" ", text)
    return " ".join(text.replace("\\(", " ").replace("\\)", " ").split())


def special(text: str) -> Node | None:
    """A time, a date, a choice letter or a statement; None for anything else."""
    if not text or len(text) > LONGEST:
        return None
    if text[0].isdigit():
        return clock_or_date(text) if ":" in text or "-" in text or text[-1] in "mM." else None
    if text[0].isalpha() or text[0] == "(":
        return choice(text) or statement(text)
    return None


def clock_or_date(text: str) -> Node | None:
    """A time of day or an ISO date; None when it is neither.

    `2:30` alone is read as a ratio: a time needs seconds, am or pm, or an hour or minute written with a zero.
    """
    if match := _DATE.fullmatch(text):
        year, month, day = (int(part) for part in match.groups())
        return Date(year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None
    if match := _CLOCK_HOUR.fullmatch(text):
        return _time(int(match[1]), 0, 0, match[2])
    match = _CLOCK.fullmatch(text)
    if match is None or not (match[3] or match[4] or match[2].startswith("0") or match[1].startswith("0")):
        return None
    return _time(int(match[1]), int(match[2]), int(match[3] or 0), match[4])


def _time(hour: int, minute: int, second: int, half: str | None) -> Node | None:
    if hour > 24 or minute > 59 or second > 59 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + (12 if half in "pP" else 0)
    return ClockTime(hour * 3600 + minute * 60 + second, half is not None)


def choice(text: str) -> Choice | None:
    """A choice letter standing alone; None otherwise."""
    match = _CHOICE.fullmatch(text)
    if match is None or (match[1].islower() and len(text) == 1):
        return None
    return Choice(match[1].upper())


def leading_choice(text: str) -> Choice | None:
    """The letter at the head of prose: `B because 42 is even`; None when prose begins otherwise.

    `A` before a word may be the article, so it needs a bracket, a period or the end behind it.
    """
    match = _LEADING_CHOICE.match(text)
    if match is None or is_lost(text[match.end() :]):
        return None
    letter = match[1] or match[2] or match[3]
    return Choice(letter) if letter.isupper() else None


def is_lost(content: str) -> bool:
    """Whether the text behind a letter names another or denies it: `(B) 42 or (C) 43`, `(B) is wrong`."""
    return _CHOICE_LOST.search(content) is not None


def choice_and_content(text: str) -> tuple[str, str] | None:
    """`(B) 42` as letter and text."""
    match = _CHOICE_AND_CONTENT.fullmatch(text)
    if match is None:
        return None
    if is_lost(match[4]):
        return None
    wrapped = text.startswith("\\") and not match[3]
    return match[1] or match[2], match[4].removesuffix("}") if wrapped else match[4]


def statement(words: str) -> Node | None:
    """`no solution`, `yes`, `all real numbers`; None when the words say nothing known."""
    key = words.lower().rstrip(".!")
    if _NO_SOLUTION.fullmatch(key):
        return Special("empty")
    if key in _ALL_REALS:
        return NamedSet("R")
    name = _SPECIAL_BY_WORDS.get(key)
    return None if name is None else Special(name)  # type: ignore[arg-type]


def number_word(words: str) -> int | None:
    """`forty-two` -> 42, `three million`; None when it is no number word."""
    parts = words.lower().replace("-", " ").split()
    match parts:
        case [one] if one in _ONES:
            return _ONES[one]
        case [ten] if ten in _TENS:
            return _TENS[ten]
        case [ten, one] if ten in _TENS and 1 <= _ONES.get(one, 0) <= 9:
            return _TENS[ten] + _ONES[one]
        case ["hundred"]:
            return 100
        case ["a", scale] if scale in SCALES:
            return SCALES[scale]
        case [*head, scale] if scale in SCALES and (value := number_word(" ".join(head))) is not None:
            return value * SCALES[scale]
    return None


def counted(text: str) -> Counted | None:
    """`Twelve students` as 12 of them; None when words follow that change the number."""
    parts = text.split()
    for length in (2, 1):
        value = number_word(" ".join(parts[:length])) if len(parts) > length else None
        if value is not None:
            rest = tuple(part.lower() for part in parts[length:])
            plain = all(part.isalpha() and part not in _NO_NOUNS for part in rest)
            return Counted(Number(value), rest) if plain else None
    return None


def words(text: str) -> Text:
    """`text` as words; raises `ReadError` when it is none and `UnsupportedKind` when it is prose."""
    if not _WORDS.fullmatch(text):
        raise ReadError("neither mathematics nor words")
    cleaned = " ".join(text.lower().replace(",", " ").rstrip(".").split())
    if len(cleaned.split()) > MAX_TEXT_WORDS:
        raise UnsupportedKind("free prose")
    return Text(cleaned)
