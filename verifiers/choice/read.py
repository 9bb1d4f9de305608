"""Text -> the letters of a multiple choice. Pure Python, linear in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from verifiers.math.read.phrases import is_lost, plain

_LETTER = r"[A-Z]"
_WRAPPED = rf"\(({_LETTER})\)|\[({_LETTER})\]|({_LETTER})"
_ALONE = re.compile(rf"(?:(?:option|choice|answer)s?\s*:?\s*)?(?:{_WRAPPED})[.:)]?", re.IGNORECASE)
_LIST = re.compile(rf"(?:{_WRAPPED})(?:\s*(?:,|;|&|and|,\s*and)\s*(?:{_WRAPPED}))+[.]?")
_WITH_TEXT = re.compile(
    rf"(?:(?:option|choice)\s+)?(?:\(({_LETTER})\)|({_LETTER})[.:)](?=\s|$))\s*(\S.*)", re.DOTALL
)
_IN_PROSE = re.compile(
    rf"(?:(?:option|choice|answer)\s*:?\s*)?(?:\(({_LETTER})\)(?!\s*(?:or|/))|([B-HJ-Z])(?=\s+(?:because|since|as)\b))"
)
_SO = r"(?:(?:so|thus|hence|therefore|then),?\s+)?"
_STATED = re.compile(
    rf"(?i:{_SO})(?i:(?:the\s+)?(?:option|choice|answer)\s+)?(?:{_WRAPPED})\s+is\s+(?:the\s+)?"
    rf"(?:correct|right|best|answer)(?:\s+(?:one|answer|choice|option))?"
    rf"|(?i:{_SO})(?i:(?:I\s+|we\s+)?(?:choose|pick|select))\s+(?i:(?:option|choice|answer)\s+)?(?:{_WRAPPED})"
    rf"|(?i:it\s+is|it['’]s)\s+(?i:(?:option|choice|answer)\s+)?(?:{_WRAPPED})"
    rf"|(?i:so|thus|hence|therefore),?\s+(?i:(?:option|choice|answer)\s+)?(?:{_WRAPPED})"
)
_ESCAPED = re.compile(r"\\(?=[A-Z](?![A-Za-z])|[&\s]|\Z)")
"""What is left of `\\{A, C\\}` and `A\\ \\&\\ C`."""
_RUN = re.compile(r"[A-J]{2,6}")
LONGEST = 2_000
"""Characters of an answer that may name a choice."""
_SPACES = re.compile(r"\s+")
_EDGES = " .,;:!?*_\"'`"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The letters, in order; `contradiction` when the text behind a letter is another choice's."""

    letters: tuple[str, ...]
    contradiction: bool = False


def normal(text: str) -> str:
    """`text` for comparison as a choice: no markup, one kind of space, lower case."""
    return _SPACES.sub(" ", plain(text)).strip(_EDGES).lower()


def read_choice(  # noqa: PLR0911 - one return for each form
    text: str, choices: Sequence[str] = (), *, prose: bool = False
) -> Chosen | None:
    """The choice that `text` names; None when it names none.

    choices: texts of A, B, C, ... in order. prose: a letter at the head of a sentence counts too.
    """
    if len(text) > LONGEST:
        return None
    bare = _SPACES.sub(" ", _ESCAPED.sub(" ", plain(text))).strip(" .,。*_")
    by_text = _letters_by_text(choices)
    if (match := _ALONE.fullmatch(bare)) and not (len(bare) == 1 and bare.islower()):
        return Chosen((_letter(match).upper(),))
    if _LIST.fullmatch(bare):
        return Chosen(tuple(_letter(found) for found in re.finditer(_WRAPPED, bare)))
    if (match := _WITH_TEXT.fullmatch(bare)) is not None:
        letter, content = match[1] or match[2], normal(match[3])
        if is_lost(match[3]):
            return None
        other = by_text.get(content)
        return Chosen((letter,), contradiction=other is not None and other != letter)
    if (known := by_text.get(normal(text))) is not None:
        return Chosen((known,))
    if _RUN.fullmatch(bare) and list(bare) == sorted(set(bare)):  # `AC` for A and C
        return Chosen(tuple(bare))
    if prose and (match := _IN_PROSE.match(bare) or _STATED.fullmatch(bare)) is not None:
        if is_lost(bare[match.end() :]):
            return None
        return Chosen((_letter(match),))
    return None


def _letters_by_text(choices: Sequence[str]) -> dict[str, str]:
    """The letter that each text stands for; a text of two choices names neither."""
    texts = [normal(choice) for choice in choices]
    return {text: chr(ord("A") + at) for at, text in enumerate(texts) if texts.count(text) == 1}


def _letter(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group)
