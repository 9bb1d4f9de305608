"""Units and words behind a value."""

from __future__ import annotations

from verifiers.math.read.brackets import Brackets
from verifiers.math.read.names import (
    CONDITION_WORDS,
    CONNECTIVES,
    HEDGES,
    PART_WORDS,
)
from verifiers.math.read.operators import is_numeric
from verifiers.math.read.units import (
    NOUN_PREFIXES,
    NOUN_SUFFIXES,
    SCALES,
    TEMPERATURES,
    UNIT_LETTERS,
    UNITS,
    resolve,
)
from verifiers.math.tree import Call, Counted, Node, Number, Product, Quantity, Quotient, Sum

Unit = tuple[tuple[str, int], ...]

MAX_WORDS = 8


class Quantities(Brackets):
    """Reads an expression with what it measures or counts."""

    def quantity(self) -> Node:
        """An expression, with the unit or the words behind it."""
        start = self.index
        node = self.expression()
        if self.token.kind == "command" and self.token.text in {"choose", "over"}:
            return self._old_fraction(node, start)
        if self.token.text in SCALES and (is_numeric(node) or isinstance(node, Quantity)):
            node = _scaled(node, SCALES[self.take().text])
        if self.token.kind != "word" and not self.at_unit_fraction():
            return node
        start = self.index
        unit = self._unit()
        if unit:
            node = self._smaller_parts(Quantity(node, unit))
        else:
            self.index = start
        if not is_numeric(node) and not isinstance(node, Quantity):
            return node
        words = self._words()
        return Counted(node, words) if words else node

    def _old_fraction(self, top: Node, start: int) -> Node:
        """`{10 \\choose 3}` and `{a \\over b}`: both sides reach to the ends of the group."""
        if start and self.tokens[start - 1].text != "{":
            raise self.unexpected("an old TeX fraction")
        name = self.take().text
        bottom = self.expression()
        if self.token.kind != "stop" and not self.at("}"):
            raise self.unexpected("an old TeX fraction")
        return Call("binomial", (top, bottom)) if name == "choose" else Quotient(top, bottom)

    def _smaller_parts(self, first: Quantity) -> Quantity:
        """`1 hour 30 minutes`, `5 feet and 3 inches`: parts in ever smaller units are one value."""
        scale, dimensions, _ = resolve(first.unit)
        parts, smallest = [first.value], scale
        while True:
            start = self.index
            if self.token.kind == "word" and self.token.text == "and":
                self.take()
            if self.token.kind != "number":
                break
            value = self.numeral()
            unit = self._unit()
            if not unit or resolve(unit)[1] != dimensions or resolve(unit)[0] >= smallest:
                break
            smallest = resolve(unit)[0]
            ratio = smallest / scale
            parts.append(Product((value, Number(ratio.numerator, ratio.denominator))))
        self.index = start
        return first if len(parts) == 1 else Quantity(Sum(tuple(parts)), first.unit)

    def at_unit_fraction(self) -> bool:
        """Whether a fraction of units follows: `\\frac{\\text{km}}{\\text{h}}`."""
        top = self.ahead(2)
        return (
            self.token.text in {"frac", "dfrac", "tfrac"}
            and self.ahead().text == "{"
            and top.upright
            and self._is_unit(top.text)
        )

    def _unit_fraction(self) -> Unit:
        self.take()
        sides: list[Unit] = []
        for _ in range(2):
            self.expect("{")
            sides.append(self._unit())
            self.expect("}")
        top, bottom = sides
        if not top or not bottom:
            raise self.unexpected("no unit")
        return (*top, *((name, -power) for name, power in bottom))

    def _unit(self) -> Unit:
        """`km/h`, `square feet`, `kg m^2 / s`, `miles per hour`; empty when it is none."""
        if self.at_unit_fraction():
            return self._unit_fraction()
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
        if self.token.kind != "word":
            return ""
        following = self.ahead().text
        if name == "per" and following == "cent":
            self.index += 2
            return "%"
        if name in {"degree", "degrees"} and (scale := TEMPERATURES.get(following.lower(), "")):
            self.index += 2
            return scale
        if not self._is_unit(name):
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
            if text in CONNECTIVES or text in CONDITION_WORDS or text == "mod":
                break
            if text == "to" and self.ahead().kind == "number":  # a ratio
                break
            if text.lower() in HEDGES:
                raise self.unexpected("a hedge")
            if text.lower() in PART_WORDS:
                raise self.unexpected("a word that changes the number")
            if len(text) == 1 and not self.token.upright and not words:
                raise self.unexpected("a letter behind a number")
            words.append(self.take().text.lower())
            self.accept("-")
        return tuple(words)


def _scaled(node: Node, scale: int) -> Node:
    """`node` times a power of ten; an amount of money keeps its currency."""
    if isinstance(node, Quantity):
        return Quantity(Product((node.value, Number(scale))), node.unit)
    return Product((node, Number(scale)))
