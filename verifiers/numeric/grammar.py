r"""How a number is written: the grammar that `extract` and `parse` share.

Everything is ASCII after `TO_ASCII`, a map from single characters to single characters; no other
normalisation is done (NFKC would turn 4² into 42). In the grammar `sp` is optional white space or LaTeX
spacing, and a command may have any number of backslashes before it.

    number   = mixed | fraction | vulgar | decimal [ exponent ]
    decimal  = integer [ "." digits ] | "." digits              (`1.` too before "e" and at the end)
    integer  = digits | group { "," 3 digits } | group { space 3 digits } | group { "'" 3 digits }
             | 1 or 2 digits { "," 2 digits } "," 3 digits              (Indian grouping)
    group    = 1 to 3 digits, the first not 0
    ","      = "," | "{,}", with \! on either side         space = " " | "~" | "\," | "\;" | "\:" | "\ "
    exponent = ( "e" | "E" ) [ sign ] digits
             | sp times sp "10" sp ( "^" | "**" ) ( [ sign ] digits | "{" … "}" | "(" … ")" )
             | sp times sp "10" superscript digits
    times    = \times | \cdot | × | · | * | x
    fraction = decimal sp "/" sp [ sign ] decimal | \frac arg arg       (also \dfrac, \tfrac, \cfrac)
    arg      = one digit | "{" [ sign ] decimal "}"
    mixed    = digits ( sp \frac arg arg | space fraction | vulgar )    with a fraction below 1
    vulgar   = one of ½ ⅓ ⅔ ¼ ¾ …
    answer   = { opener } [ label "=" ] [ sign ] { opener } [ sign ] number { closer } [ unit ] [ "." ]

There is at most one sign. Openers and closers are white space, zero-width characters, `$`, braces,
parentheses, font commands, Markdown emphasis and, before the number, a currency; for labels and units see
`answer` and `words`.
Quantifiers over text are possessive, so that matching is linear.
"""

from __future__ import annotations

from verifiers.patterns import re

_DIGIT_ZEROS = (0x0660, 0x06F0, 0x0966, 0x09E6, 0xFF10, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6)
"""Zeros of the decimal digits read: Arabic-Indic, Persian, Devanagari, Bengali, fullwidth, mathematical."""

_CHARACTERS = {
    "-": "\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d",
    "+": "\uff0b",
    ",": "\uff0c\u066c",
    ".": "\uff0e\u066b",
    "/": "\u2044\u2215\uff0f",
    "'": "\u2019",
    "%": "\uff05\u066a",
    "$": "\uff04",
    " ": "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
    "\u200b": (
        "\u00ad\u034f\u061c\u180e\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\ufeff"
        + "".join(map(chr, (*range(0x2060, 0x2065), *range(0x2066, 0x2070), *range(0xFE00, 0xFE10))))
    ),
}

TO_ASCII = {ord(c): target for target, sources in _CHARACTERS.items() for c in sources} | {
    zero + value: str(value) for zero in _DIGIT_ZEROS for value in range(10)
}
"""For `str.translate`; one character each, so that positions stay. U+200B stands for all zero-width ones."""

VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5),
    "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅐": (1, 7), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8),
    "⅑": (1, 9), "⅒": (1, 10),
}  # fmt: skip
SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")

OTHER_DIGIT = re.compile(f"[{''.join(f'{chr(z)}-{chr(z + 9)}' for z in _DIGIT_ZEROS)}{''.join(VULGAR)}]")
"""A digit or vulgar fraction outside ASCII."""

LETTER = "A-Za-zµÀ-ÖØ-öø-ɏΑ-Ωα-ορ-ωА-яЁё"
"""Letters of units, for a character class. Not π."""
IDEOGRAPH = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
"""Chinese, Japanese and Korean characters, for a character class."""

# Fragments. Each may be followed by a possessive quantifier; those that are alternations are in a group.
BS = r"\\++"
"""One or more backslashes: answers are often escaped once too often."""
SP = rf"(?:[ \t\r\n~]|{BS}(?:[,;:! ]|q?quad(?![A-Za-z])))"
PAD = rf"(?:\u200b|{SP})"

_COMMA = rf"(?:(?:{BS}!)?(?:,|\{{,\}})(?:{BS}!)?)"
_SPACE = rf"(?:[ ~]|{BS}[,;: ])"
_COMMA_GROUPED = (
    rf"[1-9][0-9]{{0,2}}(?:{_COMMA}[0-9]{{3}})++(?![0-9])"
    rf"|[1-9][0-9]?(?:{_COMMA}[0-9]{{2}}(?![0-9]))++{_COMMA}[0-9]{{3}}(?![0-9])"
)
_OTHER_GROUPED = rf"[1-9][0-9]{{0,2}}(?:(?:{_SPACE}[0-9]{{3}})++|(?:'[0-9]{{3}})++)(?![0-9])"
_TERM = rf"(?:(?:{_COMMA_GROUPED}|[0-9]++)(?:\.[0-9]++)?|\.[0-9]++)"
"""A decimal as it may stand in a fraction: groups set off by spaces would read `1 100/200` wrongly."""
DECIMAL = rf"(?:(?:{_COMMA_GROUPED}|{_OTHER_GROUPED}|[0-9]++)(?:\.(?:[0-9]++|(?=[eE][-+]?[0-9])))?|\.[0-9]++)"

PLAIN_DECIMAL = r"(?:[1-9][0-9]{0,2}(?:,[0-9]{3})++(?![0-9])|[0-9]++(?!,[0-9]))(?:\.[0-9]++)?"
"""The common case of `DECIMAL`."""

_SUPER = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_TIMES = rf"(?:{BS}(?:times|cdot)(?![A-Za-z])|[xX×*·⋅])"
_POWER = rf"(?:\{{{SP}*+[-+]?[0-9]++{SP}*+\}}|\([-+]?[0-9]++\)|[-+]?[0-9]++)"
EXPONENT = (
    rf"(?:[eE][-+]?[0-9]++"
    rf"|{SP}*+{_TIMES}{SP}*+\{{?10\}}?(?:{SP}*+(?:\^|\*\*){SP}*+{_POWER}|[⁺⁻]?[{_SUPER}]++))"
)

FONT = (
    rf"(?:{BS}(?:text(?:bf|it|rm|sf|tt|sc|up|normal|md)?|emph|math(?:rm|bf|it|sf|tt|normal)|boldsymbol|bm|pmb"
    rf"|[mh]box|operatorname|underline|ensuremath|f?boxed|fbox){SP}*+\{{)"
)
_FRAC = rf"{BS}[dtc]?frac"
ARGUMENT = rf"(?:{SP}*+(?:[0-9]|\{{(?:{SP}|\{{|{FONT})*+[-+]?{SP}*+{_TERM}{SP}*+\}}(?:{SP}*+\}})*+))"
COMMAND_FRACTION = rf"{_FRAC}{ARGUMENT}{ARGUMENT}"
SLASH_FRACTION = rf"{_TERM}{SP}*+/{SP}*+[-+]?{_TERM}"
_VULGAR = f"[{''.join(VULGAR)}]"
NUMBER = (
    rf"(?:[0-9]++(?:{SP}*+{COMMAND_FRACTION}|{SP}++{SLASH_FRACTION}|{SP}?{_VULGAR})"
    rf"|{COMMAND_FRACTION}|{SLASH_FRACTION}|{_VULGAR}|{DECIMAL}{EXPONENT}?)"
)

CODE = (
    r"(?:(?:USD|EUR|GBP|JPY|CNY|RMB|INR|CHF|CAD|AUD|NZD|HKD|SGD|SEK|NOK|DKK|KRW|BRL|MXN|ZAR|RUB|TRY|PLN)"
    r"(?![A-Za-z])|Rs\.?)"
)
SYMBOL = rf"(?:{BS}\$|[$€£¥₹₩₽₪₫₺₱฿¢]|{BS}(?:euro|pounds|textdollar|texteuro|textsterling)(?![A-Za-z]))"
CURRENCY = rf"(?:{CODE}|(?:(?:US|AU|CA|NZ|HK|[ACSR])(?=\$|{BS}\$))?{SYMBOL})"
