"""Numbers, symbols and functions: the smallest things that have a value."""

from __future__ import annotations

import re

from verifiers.math.read.errors import ReadError
from verifiers.math.read.names import (
    CONSTANTS,
    FUNCTION_LETTERS,
    FUNCTIONS,
    GREEK,
    GREEK_SPELLINGS,
    INVERSES,
)
from verifiers.math.read.numerals import Numerals, number
from verifiers.math.traverse import negated
from verifiers.math.tree import (
    Apply,
    Call,
    Constant,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    Symbol,
)

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


_ARITY = {"binomial": (2,), "log": (1, 2)}


class Atoms(Numerals):
    """Reads one number, symbol or function call."""

    # numbers

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
        elif name == "binomial":
            top = self.argument(whole=True)
            arguments = (top, self.argument(whole=True))
        else:
            arguments = (self.functional(),)
        if len(arguments) not in _ARITY.get(name, (len(arguments),)):
            raise self.unexpected(f"{name} of {len(arguments)} arguments")
        if name == "log" and base is not None:
            return Call("log", (arguments[0], base))
        if name == "lg":
            return Call("log", (arguments[0], Number(10)))
        if name in {"sqrt", "cbrt"}:
            return Call("root", (arguments[0], Number(2 if name == "sqrt" else 3)))
        if name == "cis":
            angle = arguments[0]
            return Sum((Call("cos", (angle,)), Product((Constant("i"), Call("sin", (angle,))))))
        if name == "exp":
            return Power(Constant("e"), arguments[0])
        return Call(name, arguments)

    def functional(self) -> Node:
        """The argument of a function; defined by `Operators`."""
        raise NotImplementedError
