"""Sentences of prose: whether they are any, and the last value that stands free in one.

A value counts only when it is read whole and nothing before or behind it makes another of it: no part of
a product, a pair or a comparison, no bound (`at least 3`), no refusal (`rather than 3`), no reference
(`step 3`).
"""

from __future__ import annotations

import re

from verifiers.math.read.names import (
    CONDITION_WORDS,
    CONNECTIVES,
    CONSTANTS,
    DOMAIN_WORDS,
    FILLER_WORDS,
    FUNCTIONS,
    GREEK,
)
from verifiers.math.read.units import SCALES, UNITS
from verifiers.numeric.words import continues

_DELIMITER = re.compile(r"\\\\|\\[()\[\]]|\\.|\$\$?", re.DOTALL)
_CLOSERS = {"\\(": "\\)", "\\[": "\\]"}
NUMBER = re.compile(
    r"(?<![A-Za-zÀ-ɏΑ-я0-9_.,/^\\-])(?:[-+−]?\s?(?:[$€£]\s?)?)(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?:\s?/\s?\d+)?(?:[eE][+-]?\d+)?\s?(?:%|€|\\%|percent\b|°)?"
)
_STATEMENT = re.compile(r"\w\s+(?:is|are|was|were)\s+\w")
_COMMAND = re.compile(r"\\[a-zA-Z]+")
_WORD = re.compile(r"[A-Za-z]{2,}")
_MATHEMATICS = frozenset(
    word.lower() for names in (FUNCTIONS, CONSTANTS, GREEK, CONNECTIVES) for word in names
)
"""Words that may stand in the formula that ends a sentence without signs around it."""

_KNOWN_WORDS = (
    _MATHEMATICS
    | {
        word.lower()
        for names in (CONDITION_WORDS, FILLER_WORDS, DOMAIN_WORDS, SCALES, UNITS)
        for word in names
    }
    | {"per", "square", "cubic", "squared", "cubed", "am", "pm", "mod"}
)

_CLAUSE = re.compile(
    r"\d|[,;:=]|\b(?:is|are|was|were|be|equals|so|then|thus|hence|therefore|gives?|get)\b", re.IGNORECASE
)
"""Behind the last of these a value is named; what stands before says nothing about it."""
_CHANGED = re.compile(
    r"\b(?:not|no|never|neither|nor|none|nothing|without|cannot|than|least|most|up\s+to|exceed(?:s|ing)?|above|below|under"
    r"|between|within|until|except|excluding|besides|unless|but|rather|instead|or|versus|vs|suppose|assum(?:e|ing)"
    r"|such(?:\s+that|\s+as)|e\.g|example|minus|plus|negative|half|third|quarter|root|log|logarithm|power|times"
    r"|multiplied|divided|over|mod(?:ulo)?|with\s+(?:a\s+)?remainder|multiple|multiples|divisible|almost|nearly)\b"
    r"|n['’]t\b|\b(?:nicht|keine?|pas|jamais|nunca|não|не|oder|ou|или|mindestens|höchstens|menos|moins|weniger)\b"
    r"|不|或|小于|大于|至少|最多|超过|以上|以下",
    re.IGNORECASE,
)
"""Before a value: words that bound, deny, compare or operate on it."""
_REFERENCE = re.compile(
    r"\b(?:step|equation|eqn?\.?|theorem|lemma|part|problem|question|figure|section|table|exercise|line|chapter)s?\s*\(?\s*\Z",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"\d[\s%\\]*(?:(?:,|;|/|-|–|\b(?:or|and|to|of|out\s+of|by|over|plus|minus|times|remainder)\b)\s*)+(?:(?:even|maybe|possibly|perhaps)\s+)?\Z"
)
_OPERATED = re.compile(r"(?:[-+−×·⋅÷^<>≤≥≠±√|]|(?<!\*)\*|\d\s*:|!=|(?<!boxed)(?<!fbox)\{)\s*\Z")
_OPERATING = re.compile(
    r"""\s?[\^×·⋅÷√π∞²³⁴±{_|<>]
    | \s?\*(?!\*)                                      # not the end of bold
    | \s?!(?=\S)
    | \s?[-+−:]\s?[\dA-Za-z\\(]
    | \s?/\s?(?:[\d\\(]|[A-Za-z](?![A-Za-z]))          # but 3 miles/hour
    | \(
    | \s?\\(?![%$\])]|[,;:!\ ]|q?quad|text)
    | [A-Za-z](?![A-Za-z])""",
    re.VERBOSE,
)
"""Behind a number: what makes it a part of something else."""
_NEXT_WORD = re.compile(r"\s*([A-Za-z]{2,})")
_OPEN_BOX = re.compile(r"(?:\$+|\\\(|\\\[)?\s*\\*f?box(?:ed)?\s*\{")
_MARK = re.compile(r"\(\s*\d+\s*\)")
"""The number of a formula: `by (3)`."""
_JOINT = re.compile(r"\s*(?:[,;]\s*(?:and|or)?|and|or)\s*")
_BOUND = re.compile(r"[<>≤≥]|\\(?:[lg]eq?|[lg]t|neq?|in)(?![a-z])")
_PUNCTUATION = " \t\n,;:—–*"
_OPENERS = {")": "(", "]": "[", "}": "{"}

Span = tuple[int, int]


def formulas(text: str, start: int, end: int) -> list[Span]:
    """The spans of `$..$`, `$$..$$`, `\\(..\\)` and `\\[..\\]` between start and end, delimiters included.

    A dollar before a digit closes nothing: in `$9 - $5 = $4` it is money.
    """
    found: list[Span] = []
    begin, closer = 0, ""
    for match in _DELIMITER.finditer(text, start, end):
        sign = match[0]
        if sign == closer and not (sign == "$" and text[match.end() : match.end() + 1].isdigit()):
            if match.start() > begin + len(closer):
                found.append((begin, match.end()))
            closer = ""
        elif sign in _CLOSERS or (sign.startswith("$") and (not closer or sign == closer)):
            begin, closer = match.start(), _CLOSERS.get(sign, sign)
    return found


def is_prose(text: str) -> bool:
    """Whether words stand beside a formula or number, as in `the 3rd item`, or make a sentence."""
    outside, position = "", 0
    for begin, end in formulas(text, 0, len(text)):
        outside, position = outside + text[position:begin] + " ", end
    outside = _COMMAND.sub(" ", outside + text[position:])
    if not any(character.isdigit() for character in text) and outside == text:
        return _STATEMENT.search(text) is not None
    return any(word.lower() not in _KNOWN_WORDS for word in _WORD.findall(outside))


def last_of_list(text: str, spans: list[Span]) -> Span:
    """The last of `spans` with those before it that are one list: `$x=1$ and $x=3$`, `**A** or **B**`."""
    begin, end = spans[-1]
    for before in reversed(spans[:-1]):
        between = text[before[1] : begin]
        if not _JOINT.fullmatch(between) or _BOUND.search(text, *before):
            break
        begin = before[0]
    return begin, end


def values(text: str, begin: int, end: int) -> list[Span]:
    """Where the value may stand in which the sentence at `[begin, end)` ends, best first."""
    spans = formulas(text, begin, end)
    numbers = list(NUMBER.finditer(text, begin, end))
    if spans and (not numbers or spans[-1][1] >= numbers[-1].end()):
        span = last_of_list(text, spans)
        return [span] if stands(text, begin, span[0]) else []
    tail = _tail(text, begin, end)
    if tail is not None and (_JOINED.search(text[begin : tail[0]]) or not stands(text, begin, tail[0])):
        return []
    found = [tail] if tail else []
    if numbers:
        number = numbers[-1].start(), numbers[-1].start() + len(numbers[-1][0].rstrip())
        pair = _enclosing(text, begin, number, end)
        if pair is not None:
            return [pair] if stands(text, begin, pair[0]) else []
        if _is_free(text, begin, *number, end):
            found.append(number)
    return found


def stands(text: str, begin: int, at: int) -> bool:
    """Whether nothing in the sentence before the value at `at` makes another of it."""
    clause = begin
    for match in _CLAUSE.finditer(text, begin, at):
        clause = match.end()
    return not (_CHANGED.search(text, clause, at) or _REFERENCE.search(text[begin:at]))


def _tail(text: str, begin: int, end: int) -> Span | None:
    """The formula without signs around it that ends the sentence: `So x = 2\\sqrt{3}`."""
    start = begin
    hidden = _COMMAND.sub(lambda match: " " * len(match[0]), text[begin:end])
    for word in _WORD.finditer(hidden):
        if word[0].lower() not in _MATHEMATICS:
            start = begin + word.end()
    while start < end and text[start] in _PUNCTUATION:
        start += 1
    if (box := _OPEN_BOX.match(text, start, end)) is not None:  # one that is never closed
        start = box.end()
    if start == begin or _MARK.fullmatch(text, start, end):
        return None
    return (start, end) if any(character.isdigit() for character in text[start:end]) else None


def _enclosing(text: str, begin: int, number: Span, end: int) -> Span | None:
    """The pair or set whose last entry the number is."""
    close = number[1]
    while close < end and text[close] in " \\":
        close += 1
    opener = _OPENERS.get(text[close : close + 1]) if close < end else None
    opening = (
        -1
        if opener is None
        else max(text.rfind(sign, begin, number[0]) for sign in ("([" if opener != "{" else "{"))
    )
    if opening < 0 or not {",", ";"} & set(text[opening : number[0]]):
        return None
    return opening - (text[opening - 1 : opening] == "\\"), close + 1


def _is_free(text: str, begin: int, start: int, stop: int, end: int) -> bool:
    before = text[begin:start]
    if _MARK.fullmatch(text, start - 1, stop + 1) and start - 1 > begin:
        return False
    if _JOINED.search(before) or _OPERATED.search(before) or not stands(text, begin, start):
        return False
    following = _NEXT_WORD.match(text, stop, end)
    return not (
        _OPERATING.match(text, stop, end) or (following is not None and continues(following[1].lower()))
    )
