r"""Where in a response the answer stands: the last complete box, else the last number of the text.

Both searches run from the end, in time linear in the response. Positions are code points.

In running text a number is read as a whole or not at all: digits glued to more digits (a date, a time, a
ratio, a version, a range, a product), to a power, a root or a single letter make the last number unreadable,
they do not make a smaller one. Words that hold digits (`cm^2`, `H2O`, `AB42`, `x_1`) are no numbers.
"""

from __future__ import annotations

from typing import NamedTuple

from verifiers.numeric.grammar import (
    BS,
    CODE,
    CURRENCY,
    FONT,
    IDEOGRAPH,
    LETTER,
    NUMBER,
    OTHER_DIGIT,
    PLAIN_DECIMAL,
    TO_ASCII,
)
from verifiers.numeric.words import SHORT_UNITS, continues
from verifiers.patterns import re


class LastNumber(NamedTuple):
    """The last number of a text, at `[start, end)`; `core` is its unsigned text, or None if unreadable."""

    start: int
    end: int
    negative: bool
    core: str | None


# --- boxes -----------------------------------------------------------------------------------------------

_BRACE = re.compile(r"(?:[^{}\\]++|\\.?+)*+([{}]|\Z)", re.DOTALL)
"""The next brace that is not escaped, or the end: it matches everywhere, so nothing is read twice."""
_OPENING = re.compile(r"[ \t\r\n]*+\{")
_MOST_WORK = 65_536
"""Characters that are stepped through for closing braces; a bound on the work, not on the response."""
_WORD_WORK = 8
"""What looking at one word `box` counts as."""


UNDECIDED = (-1, -1)
"""So many braces stand behind the last complete box, if there is one, that it was not found."""


def find_box(text: str, begin: int = 0) -> tuple[int, int] | None:
    """Span of the content of the last complete `\boxed{…}` or `\fbox{…}` after `begin`, or `UNDECIDED`."""
    # An unclosed brace bounds every box before it, so each part of the text is searched once. Nothing after
    # the last closing brace can be complete, which leaves out most hopeless openings in one step.
    at = limit = text.rfind("}", begin) + 1
    work = _MOST_WORK
    while (at := text.rfind("box", begin, at)) >= 0:
        work -= _WORD_WORK
        content = _box_content(text, begin, at)
        if content >= 0:
            end = _closing_brace(text, content, limit, content + work)
            if end >= 0:
                return content, end
            work -= limit - content
            at = limit = text.rfind("}", begin, at) + 1
        if work <= 0:
            return UNDECIDED
    return None


def _box_content(text: str, begin: int, at: int) -> int:
    """Where the content starts of the box whose name holds the `box` at `at`; -1 if it is no box."""
    if text.startswith("ed", at + 3):
        name, after = at, at + 5
    elif at > begin and text[at - 1] == "f":
        name, after = at - 1, at + 3
    else:
        return -1
    if name > begin and text[name - 1].isalpha():
        return -1
    opening = _OPENING.match(text, after)
    return opening.end() if opening else -1


def _closing_brace(text: str, content: int, limit: int, stop: int) -> int:
    """Where the group that starts at `content` is closed before `limit`, or -1; no stepping beyond `stop`."""
    end = text.find("}", content, limit)
    if text.find("{", content, end) < 0 and text.find("\\", content, end) < 0:
        return end
    depth = 1
    for brace in _BRACE.finditer(text, content, min(limit, stop)):
        sign = brace[1]
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                return brace.start(1)
    return -1


# --- running text ----------------------------------------------------------------------------------------

_ATTACHED = r"[0-9A-Za-z.,:'/^_*+×÷·⋅{}()\[\]\\\u200b-]*+"
"""What else belongs to something that is no number, so that no part of it is taken for one."""
_BLANK = rf"(?:[ \t~]|{BS}[,;:! ])"
_OPERATOR = r"(?:times|cdot|div|ast|pm|mp|over)"
_FUNCTION = (
    r"(?:sqrt|cbrt|log|ln|lg|exp|(?:arc)?(?:sin|cos|tan|cot|sec|csc)h?|det|gcd|lcm|lim|max|min|sup|inf|[bp]?mod"
    r"|d?binom|overline|bar)"
)
_CONSTANT = (
    r"(?:pi|infty|alpha|beta|gamma|delta|theta|lambda|mu|rho|sigma|tau|phi|varphi|omega|Delta|Omega|d?frac)"
)
_AND_A_PART = r"[ ]+(?i:and[ ]+(?:a|one)[ -](?:half|third|quarter))(?![A-Za-z])"
_LETTER = r"[A-Za-z](?![A-Za-z])"

_JUNK = rf"""(?:
      [.,:'_\u200b]?[0-9]                                       # 1.5.2  3,14  12:30  1_000
    | [-/+*×÷·⋅%]++[-+]?(?:\\*+[$€£])?(?:[0-9(]|\\++[A-Za-z])          # 5-6  2+3  05/06/2024  5/\sqrt
    | \^(?!\{{?[ ]?\\++circ)                                      # 2^{{10}}, but not 45^\circ
    | [-/+*]?{_LETTER}                                          # 3k  2x  5e
    | !(?=[0-9A-Za-z$\\)\]}}+*/^-])                               # 100!$, but not "It is 42!"
    | [⁰¹²³⁴-⁹⁺⁻₀-₉½⅓⅔¼¾⅕-⅞]
    | [十百千万亿億兆萬]
    | [)\]}}]++\^(?!\{{?[ ]?\\++circ)                              # (3)^2
    | \((?=[-+]?[0-9.\\]|{_LETTER})                             # 5(x+1)
    | {_BLANK}*+(?:\\++(?:{_OPERATOR}|{_FUNCTION}|{_CONSTANT})(?![A-Za-z])|[π√∞±])     # 2\pi  3\sqrt 2
      (?:{_BLANK}++[-+]?[0-9])?
    | [ ]*+[×÷·⋅*/^+][ ]*+[0-9]                                   # 3 × 4
    | [ ]++(?:[xX]|:)[ ]++[0-9]                                   # 3 x 4  3 : 4
    | {_AND_A_PART}
)"""

_TOKEN = re.compile(
    rf"""
      (?:[A-Za-z]++[ :]++)++                                      # plain words, quickly
    | (?P<plain>{PLAIN_DECIMAL})(?=\.?(?:\n|\Z))                    # at the end of a line, quickly
    | \\++(?![A-Za-z])                                            # so that a run of them is read once
    | (?<=[0-9A-Za-z.)%])\[[0-9]++\]                                # 42[1], a footnote
    | (?P<unreadable>(?:
          (?:\\++(?:{_OPERATOR}|{_FUNCTION})(?![A-Za-z])|[√∛±])
          {_BLANK}*+[\[{{(]*+{_BLANK}*+[-+]?[$€£]?[.]?[0-9]
        | [)\]}}!%°][-+*/×÷·][0-9]
        | (?<![A-Za-z])[A-Za-z][+*/×·][0-9]
        | (?<!\\)(?<![A-Za-z])[A-Za-z]++\([-+]?[0-9]
        ){_ATTACHED})
    | (?P<number>
          (?P<argument>(?<=\}}\{{)|(?<=frac\{{))?                 # of a \frac that is no number
          (?: (?P<sign>(?<==)-[ ]|(?<==[ ])-[ ]|(?<![0-9A-Za-z)\]}}%!-])[-+])
              (?:{CURRENCY}[ ]?|{FONT}|[{{(*]|\\++\()*+(?P<inner_sign>[-+])?
            | {CODE}[ ]?
          )?
          (?P<core>{NUMBER})
          (?P<junk>{_JUNK}{_ATTACHED})?
      )
    | (?:[)\]}}|]?\^|[)\]}}]_)\{{?[-+]?[0-9]++                       # the power of a unit, a subscript
    | \\++[A-Za-z]++
    | [A-Za-z]++(?:(?:[-+*/.'_^]|[_^]\{{|\^-|\^\{{-)[A-Za-z0-9]++|[0-9]++[A-Za-z]*+)*+
    """,
    re.VERBOSE,
)

_FOLLOWING = re.compile(
    rf"(?P<glued>[A-Za-z]{{2,3}}(?![A-Za-z]))"
    rf"|(?:{_BLANK}|[-$*_{{}}])*+(?P<text>{FONT}(?:{_BLANK}|\u200b)*+)?"
    rf"(?:(?P<word>[{LETTER}]{{2,}}+)|(?(text)(?!\\++[%$])[^\s0-9{LETTER}{IDEOGRAPH}}}%.,$€£°]|$^))"
)
"""What follows a number in running text: letters that touch it, a word, or a sign in a font command."""

_REACH = 16_384
"""How far before the last digit a number is looked for; longer than any number that is read."""
_OTHER_REACH = 262_144
"""How far before the end digits outside ASCII are looked for."""
_WINDOW = 4_096
"""How much is searched at a time for the last of them."""
_TAIL = 64
"""How far after the last digit something may stand that makes the number unreadable."""


def find_last_number(text: str, begin: int = 0) -> LastNumber | None:
    """The last number or fraction at or after `begin`; None if there is none."""
    end = _last_digit(text, begin) + 1
    if end == 0:
        return None
    if end - begin > _REACH:
        begin = max(text.find(" ", end - _REACH, end), end - _REACH)
    start = _token_boundary(text, begin, end)
    token = _last_token(text, start, end + _TAIL)
    while token is None and start > begin:
        # Nothing but words with digits: go on to the left, by lines.
        end, start = start, text.rfind("\n", begin, start - 1) + 1 or begin
        token = _last_token(text, start, end)
    return token


def _last_digit(text: str, begin: int) -> int:
    """Position of the last digit or vulgar fraction, or -1."""
    for at in range(len(text) - 1, max(begin, len(text) - 8) - 1, -1):
        if "0" <= text[at] <= "9":
            return at
        if text[at] > "\x7f":
            break
    last = max([text.rfind(digit, begin) for digit in "0123456789"])
    if text.isascii():
        return last
    return _last_other_digit(text, max(begin, last + 1, len(text) - _OTHER_REACH), last)


def _last_other_digit(text: str, begin: int, default: int) -> int:
    """Position of the last digit or vulgar fraction outside ASCII at or after `begin`, else `default`."""
    end = len(text)
    while end > begin:
        start = max(begin, end - _WINDOW)
        for other in OTHER_DIGIT.finditer(text, start, end):
            default = other.start()
        if default >= start:
            return default
        end = start
    return default


def _token_boundary(text: str, begin: int, end: int) -> int:
    """A place no number spans: the start of the line, a space between letters or after a comma."""
    line = text.rfind("\n", begin, end) + 1 or begin
    space = text.rfind(" ", line, end)
    while space > line:
        before = text[space - 1]
        if before.isalpha() and text[space + 1].isalpha():
            return space
        if before == "," and text[space - 2] != "\\":
            return space
        space = text.rfind(" ", line, space)
    return line


def _last_token(text: str, start: int, end: int) -> LastNumber | None:
    """The last number in `text[start:end]`, skipping words."""
    part = text[start:end]
    if not part.isascii():
        part = part.translate(TO_ASCII)
    last = None
    for token in _TOKEN.finditer(part):
        if token.lastgroup:
            last = token
    if last is None:
        return None
    if last.lastgroup == "plain":
        first, after = last.span()
        return LastNumber(start + first, start + after, False, last[0])
    broken = last["unreadable"] or last["junk"] or last["argument"] is not None or last["inner_sign"]
    if broken or _is_continued(part, last.end()):
        return LastNumber(start + last.start(), start + last.end(), False, None)
    sign = last["sign"]
    first = last.start() if sign else last.start("core")
    return LastNumber(
        start + first, start + last.end("core"), sign is not None and sign[0] == "-", last["core"]
    )


def _is_continued(part: str, end: int) -> bool:
    """Whether what follows the number that ends at `end` is no unit of it."""
    following = _FOLLOWING.match(part, end)
    if following is None:
        return False
    if following["glued"]:
        return following["glued"].lower() not in SHORT_UNITS
    return following["word"] is None or continues(following["word"].lower())
