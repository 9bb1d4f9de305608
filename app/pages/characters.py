"""Characters that people cannot tell apart or cannot see: where a wrong verdict hides."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final, NamedTuple

MAX_SHOWN: Final = 40

_LOOKS_LIKE: Final = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d\u2796\u02d7", "-"),
    **dict.fromkeys("\u2044\u2215\u29f8\uff0f", "/"),
    **dict.fromkeys("\u2236\ua789\uff1a", ":"),
    **dict.fromkeys("\u201a\u066b\uff0c\u060c", ","),
    **dict.fromkeys("\u2018\u2019\u2032\u00b4\u02b9", "'"),
    **dict.fromkeys("\u201c\u201d\u2033", '"'),
    **dict.fromkeys("\u00d7\u2715\u2a2f", "x"),
    **dict.fromkeys("\u2217\u22c6", "*"),
    **dict.fromkeys("\u00b7\u22c5\u2219\u2024", "."),
    **dict(zip("АВЕКМНОРСТХаеорсухіјѕԁԛԝ", "ABEKMHOPCTXaeopcyxijsdqw", strict=True)),
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονα", "ABEZHIKMNOPTYXova", strict=True)),
}
"""What a character is easily taken for, where Unicode does not say so itself."""

_INVISIBLE: Final = frozenset({"Cf", "Cc", "Zs", "Zl", "Zp", "Cs", "Co", "Cn"})
_PLAIN_SPACE: Final = frozenset(" \n\t\r")


class Character(NamedTuple):
    """One character worth a look."""

    shown: str
    """Itself, or a short name where there is nothing to see."""
    code_point: str
    name: str
    looks_like: str
    """What it is easily taken for: ASCII, or empty."""
    invisible: bool
    times: int


def is_invisible(character: str) -> bool:
    """Whether nothing is drawn for it, or something that moves others about."""
    if character.isascii():
        return not character.isprintable() and character not in _PLAIN_SPACE
    return unicodedata.category(character) in _INVISIBLE or unicodedata.combining(character) > 0


def short_name(character: str) -> str:
    """What stands for an invisible character in a text."""
    return f"U+{ord(character):04X}"


def looks_like(character: str) -> str:
    """The ASCII text that a character outside of ASCII is easily taken for; empty if there is none."""
    if character.isascii():
        return ""
    known = _LOOKS_LIKE.get(character)
    if known is not None:
        return known
    plain = unicodedata.normalize("NFKC", character)
    return plain if plain.isascii() and plain.strip() else ""


def curious(texts: Iterable[str]) -> list[Character]:
    """The characters of some texts that are not ASCII or cannot be seen, in the order of their first use."""
    counts: dict[str, int] = {}
    for text in texts:
        for character in text if not text.isascii() or not text.isprintable() else ():
            if not character.isascii() or is_invisible(character):
                counts[character] = counts.get(character, 0) + 1
    return [_described(character, count) for character, count in list(counts.items())[:MAX_SHOWN]]


def _described(character: str, count: int) -> Character:
    invisible = is_invisible(character)
    return Character(
        shown="" if invisible else character,
        code_point=short_name(character),
        name=unicodedata.name(character, "control character" if invisible else "unnamed"),
        looks_like=looks_like(character),
        invisible=invisible,
        times=count,
    )
