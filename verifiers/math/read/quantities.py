"""Units and words behind a value."""

from __future__ import annotations

from verifiers.math.read.brackets import Brackets
from verifiers.math.read.names import (
    CONDITION_WORDS,
    CONNECTIVES,
    HEDGES,
)
from verifiers.math.read.operators import is_numeric
from verifiers.math.read.units import NOUN_PREFIXES, NOUN_SUFFIXES, UNIT_LETTERS, UNITS
from verifiers.math.tree import (
    Counted,
    Node,
    Number,
    Quantity,
)

_CHOOSE = frozenset({"choose", "over"})

MAX_WORDS = 8


class Quantities(Brackets):
    """Reads an expression with what it measures or counts."""

    def quantity(self) -> Node:
        """An expression, with the unit or the words behind it."""
        node = self.expression()
        if self.token.kind == "command" and self.token.text in _CHOOSE:
            raise self.unexpected("an old TeX fraction")
        if self.token.kind != "word":
            return node
        start = self.index
        unit = self._unit()
        if unit:
            node = Quantity(node, unit)
        else:
            self.index = start
        if not unit and not is_numeric(node):
            return node
        words = self._words()
        return Counted(node, words) if words else node

    def _unit(self) -> tuple[tuple[str, int], ...]:
        """`km/h`, `square feet`, `kg m^2 / s`, `miles per hour`; empty when it is none."""
        factors: list[tuple[str, int]] = []
        sign = 1
        while True:
            power = 1
            if (
                self.token.kind == "word"
                and self.token.text.lower() in NOUN_PREFIXES
                and factors == factors[:]
            ):
                power = NOUN_PREFIXES[self.take().text.lower()]
            name = self._unit_name()
            if not name:
                return ()
            power *= self._unit_power()
            factors.append((name, sign * power))
            start = self.index
            if self.accept("/") or (self.token.text == "per" and self.take()):
                sign = -1
            elif self.accept("*", "-"):
                sign = 1
            elif not (self.token.kind == "word" and self._is_unit(self.token.text)):
                return tuple(factors)
            if self.token.kind != "word":
                self.index = start
                return tuple(factors)

    def _is_unit(self, name: str) -> bool:
        return (name in UNITS or name.lower() in UNITS) and (len(name) > 1 or name in UNIT_LETTERS)

    def _unit_name(self) -> str:
        name = self.token.text
        if self.token.kind != "word" or not self._is_unit(name):
            return ""
        self.take()
        if self.at(".") and self.ahead().kind != "number":
            self.take()
        return name if name in UNITS else name.lower()

    def _unit_power(self) -> int:
        if self.token.kind == "word" and self.token.text in NOUN_SUFFIXES:
            return NOUN_SUFFIXES[self.take().text]
        if not self.accept("^"):
            return 1
        power = self.argument(whole=True)
        if not isinstance(power, Number) or power.denominator != 1 or abs(power.numerator) > 9:
            raise self.unexpected("a power of a unit")
        return power.numerator

    def _words(self) -> tuple[str, ...]:
        """Words that say what was counted; they end where a condition or a connective begins."""
        words: list[str] = []
        while self.token.kind == "word" and len(words) < MAX_WORDS:
            text = self.token.text
            if text in CONNECTIVES or text in CONDITION_WORDS or text in {"mod"}:
                break
            if text.lower() in HEDGES:
                raise self.unexpected("a hedge")
            if len(text) == 1 and not self.token.upright and not words:
                raise self.unexpected("a letter behind a number")
            words.append(self.take().text.lower())
            self.accept("-")
        return tuple(words)
