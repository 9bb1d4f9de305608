"""Numbers as written: grouped, decimal, repeating, mixed, or in another base."""

from __future__ import annotations

import re
from math import gcd

from verifiers.math.read.cursor import Cursor
from verifiers.math.read.errors import ReadError, TooLarge
from verifiers.math.tree import (
    Node,
    Number,
    Quotient,
    Sum,
)

MAX_DIGITS = 4300
"""Digits of one literal; Python reads no longer ones by default."""

MAX_EXPONENT = 10_000

_LETTER_BASES = frozenset(map(str, range(11, 37)))
_BASES = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}


class Numerals(Cursor):
    """Reads one number."""

    def numeral(self) -> Node:
        """A number literal: grouped, decimal, repeating, mixed, or in another base."""
        token = self.take()
        text = token.text
        if self.grouped and not self.brackets and len(text) <= 3 and text.isdigit():
            text = self._groups(text)
        if "." not in text and self.at(".") and self._repeats_after_point():
            self.take()
            text += "."
        if "." in text and (repeating := self._repeating(text)) is not None:
            return repeating
        if text.isdigit() and self.token.kind == "word" and (letters := self._digits_beyond_nine()):
            return self._in_base(text + letters)
        value = number(text)
        if self.at("_") and text.isdigit():
            return self._in_base(text)
        if text.isdigit() and (mixed := self._mixed(value)) is not None:
            return mixed
        if self.at(".") and not self.ahead().space:  # `5.` at the end of a sentence
            following = self.ahead()
            if following.kind == "stop" or (
                following.kind == "operator" and following.text in {"}", ")", ","}
            ):
                self.take()
        return value

    def _groups(self, text: str) -> str:
        """Join `1,234,567`: each comma followed at once by exactly three digits."""
        start, joined = self.index, text
        while self.at(",") and not self.token.space:
            digits = self.ahead()
            if digits.kind != "number" or digits.space or len(digits.text.partition(".")[0]) != 3:
                self.index = start
                return text
            if "e" in digits.text.lower():
                self.index = start
                return text
            self.take()
            joined += self.take().text
        if joined != text and text.startswith("0"):
            self.index = start
            return text
        return joined

    def _repeats_after_point(self) -> bool:
        following = self.ahead()
        if following.kind == "command" and following.text in {"overline", "bar", "dot"}:
            return True
        return following.kind == "operator" and following.text == "(" and self.ahead(2).kind == "number"

    def _repeating(self, text: str) -> Node | None:
        """`0.1\\overline{6}`, `0.1(6)`, `0.\\dot{1}\\dot{2}`, `0.333...`; None when it does not repeat."""
        period = ""
        if self.token.kind == "command" and self.token.text in {"overline", "bar"}:
            self.take()
            period = self._digits_in_braces()
        elif self.token.kind == "command" and self.token.text == "dot":
            self.take()
            period = self._digits_in_braces()
            period += self._digits()
            if self.token.kind == "command" and self.token.text == "dot":
                self.take()
                period += self._digits_in_braces()
        elif (
            self.at("(")
            and not self.token.space
            and self.ahead().kind == "number"
            and self.ahead(2).text == ")"
        ):
            self.take()
            period = self.take().text
            self.take()
        elif self.at("..."):
            decimals = text.partition(".")[2]
            tail = re.search(r"(\d)\1{2,}$|(\d\d)\2+$|(\d{3,6})\3+$", decimals)
            if tail is None:
                raise ReadError("a decimal broken off by dots")
            self.take()
            period = tail[1] or tail[2] or tail[3]
            text = text[: len(text) - len(tail[0])]
        if not period.isdigit():
            return None
        whole, _, decimals = text.partition(".")
        if decimals and not decimals.isdigit():
            raise ReadError("a period behind an exponent")
        if len(whole + decimals + period) > MAX_DIGITS:
            raise TooLarge("a literal of too many digits")
        scale = 10 ** len(decimals)
        nines = 10 ** len(period) - 1
        return rational(int((whole + decimals) or "0") * nines + int(period), scale * nines)

    def _digits(self) -> str:
        return self.take().text if self.token.kind == "number" else ""

    def _digits_in_braces(self) -> str:
        if self.token.kind == "number":
            return self.take().text
        self.expect("{")
        digits = self.take().text
        self.expect("}")
        return digits

    def _digits_beyond_nine(self) -> str:
        """Take the `A7` of `2A7_{16}`; empty when no base above ten follows."""
        distance, digits = 0, ""
        while (token := self.ahead(distance)).kind in {"word", "number"} and not token.space:
            digits, distance = digits + token.text, distance + 1
        base = self.ahead(distance + (2 if self.ahead(distance + 1).text == "{" else 1))
        if token.text != "_" or base.text not in _LETTER_BASES or digits != digits.upper():
            return ""
        self.index += distance
        return digits

    def _in_base(self, digits: str) -> Node:
        """`204_5`: the numeral `digits` in the base of the subscript."""
        self.take()
        braces = self.accept("{")
        token = self.take()
        base = (
            _BASES.get(token.text, 0)
            if token.kind == "word"
            else int(token.text)
            if token.text.isdigit()
            else 0
        )
        if braces:
            self.expect("}")
        if not 2 <= base <= 36 or len(digits) > MAX_DIGITS:
            raise ReadError("no base of a numeral")
        try:
            return Number(int(digits, base))
        except ValueError:
            raise ReadError(f"{digits} has digits beyond base {base}") from None

    def _mixed(self, whole: Node) -> Node | None:
        """`3\\frac12` or `3 1/2`: a whole number with a proper fraction behind it; None for anything else."""
        start = self.index
        tokens = list(self.tokens[start : start + 3])
        part: Node | None = None
        if self.at_unit_fraction():
            return None
        if self.token.kind == "command" and self.token.text in {"frac", "dfrac", "tfrac", "cfrac"}:
            part = self.fraction()
        elif (
            self.token.kind == "number"
            and self.token.space
            and self.ahead().text == "/"
            and self.ahead(2).kind == "number"
        ):
            top, bottom = number(self.token.text), number(self.ahead(2).text)
            self.index += 3
            part = Quotient(top, bottom)
        match part:
            case Quotient(Number(a, 1, None), Number(b, 1, None)) if 0 < a < b:
                return Sum((whole, part))
        self.tokens[start : start + 3] = tokens
        self.index = start
        return None


def number(text: str) -> Number:
    """The literal `text`: digits, an optional point and an optional exponent."""
    if text.isdigit():
        if len(text) > MAX_DIGITS:
            raise TooLarge("a literal of too many digits")
        return Number(int(text))
    text = re.sub(r"[^0-9.eE+-]", "", text)
    mantissa, _, power = text.replace("E", "e").partition("e")
    whole, _, decimals = mantissa.partition(".")
    if len(whole) + len(decimals) > MAX_DIGITS or len(power) > 6 or abs(int(power or 0)) > MAX_EXPONENT:
        raise TooLarge("a literal of too many digits")
    digits = int((whole + decimals) or "0")
    exponent = int(power or 0) - len(decimals)
    places = max(0, -exponent) if decimals or power else None
    return rational(digits * 10 ** max(0, exponent), 10 ** max(0, -exponent), places)


def rational(numerator: int, denominator: int, places: int | None = None) -> Number:
    """numerator / denominator in lowest terms."""
    common = gcd(numerator, denominator) or 1
    return Number(numerator // common, denominator // common, places)
