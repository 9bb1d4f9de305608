"""Numbers, symbols and functions: the smallest things that have a value."""

from __future__ import annotations

import re
from math import gcd

from verifiers.math.read.cursor import Cursor
from verifiers.math.read.errors import ReadError, TooLarge
from verifiers.math.read.names import (
    CONSTANTS,
    FUNCTION_LETTERS,
    FUNCTIONS,
    GREEK,
    GREEK_SPELLINGS,
    INVERSES,
)
from verifiers.math.tree import (
    Apply,
    Call,
    Constant,
    Node,
    Number,
    Power,
    Product,
    Quantity,
    Quotient,
    Sum,
    Symbol,
)

MAX_DIGITS = 4300
"""Digits of one literal; Python reads no longer ones by default."""
MAX_EXPONENT = 10_000

_LETTERS = re.compile(
    "|".join(
        sorted(
            (
                name
                for name in FUNCTIONS | CONSTANTS
                if len(name) > 1 and name not in {"tr", "arg", "inf", "oo"}
            ),
            key=len,
            reverse=True,
        )
    )
    + "|[A-Za-z]"
)
_BASES = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
ONE_HALF = Number(1, 2)


def number(text: str) -> Number:
    """The literal `text`: digits, an optional point and an optional exponent."""
    if not text.isdigit():
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


def negated(node: Node) -> Node:
    """-node, with the sign in the leading number where there is one."""
    if isinstance(node, Number):
        return Number(-node.numerator, node.denominator, node.places)
    if isinstance(node, Quotient) and isinstance(node.numerator, Number | Product | Quotient):
        return Quotient(negated(node.numerator), node.denominator)
    if isinstance(node, Quantity):
        return Quantity(negated(node.value), node.unit)
    if isinstance(node, Product) and isinstance(node.factors[0], Number):
        return Product((negated(node.factors[0]), *node.factors[1:]))
    return Product((Number(-1), *(node.factors if isinstance(node, Product) else (node,))))


class Atoms(Cursor):
    """Reads one number, symbol or function call."""

    # numbers

    def numeral(self) -> Node:
        """A number literal: grouped, decimal, repeating, mixed, or in another base."""
        token = self.take()
        text = token.text
        if self.grouped and not self.brackets and len(text) <= 3 and text.isdigit():
            text = self._groups(text)
        if self.at(".") and self._repeats_after_point():
            self.take()
            text += "."
        if "." in text and (repeating := self._repeating(text)) is not None:
            return repeating
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
            if self.token.kind == "number":
                period += self.take().text
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
        if len(whole + decimals + period) > MAX_DIGITS:
            raise TooLarge("a literal of too many digits")
        scale = 10 ** len(decimals)
        nines = 10 ** len(period) - 1
        return rational(int((whole + decimals) or "0") * nines + int(period), scale * nines)

    def _digits_in_braces(self) -> str:
        if self.token.kind == "number":
            return self.take().text
        self.expect("{")
        digits = self.take().text
        self.expect("}")
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

    # TeX arguments

    def argument(self, *, whole: bool = False) -> Node:
        """The argument of a TeX command: a group, or the next single token (`whole`: the whole number)."""
        with self.nested():
            if self.at("{"):
                return self.group()
            token = self.take()
            if token.kind == "number":
                if not whole and len(token.text) > 1 and token.text.isdigit():
                    self.put_back_rest(1)
                    return number(token.text[0])
                return number(token.text)
            if token.kind == "word":
                if len(token.text) > 1 and token.text not in GREEK and token.text not in CONSTANTS:
                    self.put_back_rest(1)
                return self.named(
                    token.text if token.text in GREEK or token.text in CONSTANTS else token.text[0]
                )
            if token.kind in {"command", "operator"}:
                self.index -= 1
                if token.text in {"-", "+"}:
                    self.take()
                    return (
                        negated(self.argument(whole=True)) if token.text == "-" else self.argument(whole=True)
                    )
                if token.kind == "command" or token.text in {"(", "|"}:
                    return self.atom()
        raise self.unexpected("no argument")

    def group(self) -> Node:
        """`{ ... }` as one expression."""
        self.expect("{")
        with self.nested():
            if self.accept("}"):
                raise ReadError("an empty group")
            bars, self.bars = self.bars, 0
            node = self.relation()
            self.bars = bars
            self.expect("}")
            return node

    def fraction(self) -> Node:
        """`\\frac` with its two arguments."""
        self.take()
        top = self.argument()
        return Quotient(top, self.argument())

    def root(self) -> Node:
        """`\\sqrt` with an optional index."""
        self.take()
        index: Node = Number(2)
        if self.at("["):
            self.take()
            index = self.expression()
            self.expect("]")
        return Call("root", (self.argument(whole=True), index))

    # symbols and functions

    def atom(self) -> Node:
        """One value without postfix signs; defined by `Brackets`."""
        raise NotImplementedError

    def named(self, name: str) -> Node:
        """The constant or variable called `name`, with its subscript."""
        if name in CONSTANTS and not self.at("_"):
            return Constant(CONSTANTS[name])
        name = GREEK_SPELLINGS.get(name, name)
        if self.at("_"):
            self.take()
            name += "_" + self._subscript()
        return Symbol(name)

    def _subscript(self) -> str:
        token = self.take()
        if token.text != "{" or token.kind != "operator":
            return token.text
        parts, depth = [], 1
        while depth:
            token = self.take()
            if token.kind == "stop":
                raise self.unexpected("an open subscript")
            depth += (token.text == "{") - (token.text == "}")
            parts.append(token.text if depth else "")
        return "".join(parts)

    def letters(self, text: str) -> list[str]:
        """Split a run of letters such as `xsin` or `ab` into names."""
        return _LETTERS.findall(text)

    def word(self) -> Node:
        """A function, a constant, or the first of a run of variables."""
        token = self.take()
        name = token.text
        if name in FUNCTIONS and not (self.token.kind == "stop" and name in {"min", "sec"}):
            return self.call(FUNCTIONS[name])
        if name in CONSTANTS or name in GREEK or len(name) == 1:
            return self._symbol_or_apply(name)
        parts = self.letters(name)
        if token.upright and not name.isupper():
            self.index -= 1
            raise self.unexpected("a word")
        if len(parts) > 3 and not any(part in FUNCTIONS for part in parts):
            self.index -= 1
            raise self.unexpected("a word")
        self.put_back_rest(len(parts[0]))
        return self.named(parts[0]) if parts[0] not in FUNCTIONS else self.call(FUNCTIONS[parts[0]])

    def _symbol_or_apply(self, name: str) -> Node:
        node = self.named(name)
        while self.at("'") and isinstance(node, Symbol):
            self.take()
            node = Symbol(node.name + "'")
        if isinstance(node, Symbol) and self.at("(") and self._is_function(node.name):
            return self.applied(node.name)
        return node

    def _is_function(self, name: str) -> bool:
        return name[0] in FUNCTION_LETTERS and not self.token.space

    def applied(self, name: str) -> Node:
        """`f(x, y)` for a function that is known by name only."""
        return Apply(name, self.arguments())

    def arguments(self) -> tuple[Node, ...]:
        """`( a, b, ... )`."""
        self.expect("(")
        with self.nested():
            self.brackets += 1
            bars, self.bars = self.bars, 0
            items = [self.relation()]
            while self.accept(",", ";"):
                items.append(self.relation())
            self.expect(")")
            self.bars = bars
            self.brackets -= 1
            return tuple(items)

    def call(self, name: str) -> Node:
        """A known function, its name already taken: base, power, argument."""
        with self.nested():
            base: Node | None = None
            power: Node | None = None
            while self.at("_", "^"):
                if self.take().text == "_":
                    base = self.argument(whole=True)
                else:
                    power = self.argument(whole=True)
            if power == Number(-1) and name in INVERSES:
                name, power = INVERSES[name], None
            node = self._called(name, base)
            return node if power is None else Power(node, power)

    def _called(self, name: str, base: Node | None) -> Node:
        if name in {"gcd", "lcm", "min", "max", "binomial", "log"} and self.at("("):
            arguments = self.arguments()
        elif name in {"min", "max", "gcd", "lcm"} and self.at("\\{"):
            items = self.bracketed()
            arguments = getattr(items, "items", (items,))
        else:
            arguments = (self.functional(),)
        if name == "log" and base is not None:
            return Call("log", (arguments[0], base))
        if name == "lg":
            return Call("log", (arguments[0], Number(10)))
        if name in {"sqrt", "cbrt"}:
            return Call("root", (arguments[0], Number(2 if name == "sqrt" else 3)))
        if name == "exp":
            return Power(Constant("e"), arguments[0])
        return Call(name, arguments)

    def functional(self) -> Node:
        """The argument of a function; defined by `Operators`."""
        raise NotImplementedError
