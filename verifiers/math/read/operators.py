"""Sums, products, powers: the precedence of the operators."""

from __future__ import annotations

from verifiers.math.read.atoms import Atoms
from verifiers.math.read.names import (
    CONDITION_WORDS,
    CONNECTIVES,
    CONSTANTS,
    DOMAIN_WORDS,
    FILLER_WORDS,
    FUNCTIONS,
    GREEK,
    HEDGES,
)
from verifiers.math.read.units import UNIT_LETTERS, UNITS
from verifiers.math.traverse import negated
from verifiers.math.tree import (
    Call,
    Node,
    Number,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Quotient,
    Sum,
    Symbol,
)

_STARTS = frozenset(("(", "{", "|", "\\{", "[", "<(", "||"))
_CURRENCY = {"currency$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR"}
_POSTFIX = frozenset(("^", "!", "%", "deg", "'", "¢", *_CURRENCY))
_CURRENCY_WORDS = {"USD": "USD", "EUR": "EUR", "GBP": "GBP", "INR": "INR", "Rs": "INR", "RMB": "CNY"}
_STOP_COMMANDS = frozenset((
    "pmod", "bmod", "mod", "quad", "middle", "right", "rfloor", "rceil", "where", "over", "choose", "forall",
    "therefore", "because",
))  # fmt: skip
_STOP_WORDS = (
    frozenset(CONNECTIVES) | CONDITION_WORDS | HEDGES | frozenset(DOMAIN_WORDS) | (FILLER_WORDS - {"a"})
) | {"mod", "to", "per"}
_BRACKETS = ("(", "[", "{")


class Operators(Atoms):
    """Reads expressions."""

    def expression(self) -> Node:
        """`[sign] product ((+ | - | +- | -+) product)*`."""
        self.descend()
        terms = [self._signed()]
        while self.at("+", "-", "+-", "-+"):
            if self.at("+", "-") and self._dangling_sign():
                break
            terms.append(self._signed())
        self.ascend()
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def _dangling_sign(self) -> bool:
        """A sign with nothing behind it, as in `0^+`."""
        following = self.ahead()
        return following.kind == "stop" or (
            following.kind == "operator" and following.text in {")", "}", ",", "]"}
        )

    def _signed(self) -> Node:
        sign = ""
        negative = False
        while found := self.accept("+", "-", "+-", "-+"):
            if found in {"+-", "-+"}:
                sign = found
            negative ^= found == "-"
        node = self.product()
        if sign:
            node = PlusMinus(node, minus_first=sign == "-+")
        return negated(node) if negative else node

    def product(self) -> Node:
        """Factors side by side or with `*` and `/`, from left to right."""
        left = self.factor()
        while True:
            if self.at("*"):
                self.take()
                left = _times(left, self._operand())
            elif self.at("/"):
                self.take()
                left = Quotient(left, self._operand())
            elif self._starts_factor(left):
                left = _times(left, self.factor())
            else:
                return left

    def _operand(self) -> Node:
        """What follows an explicit sign of operation: it may carry a sign of its own."""
        negative = False
        while sign := self.accept("+", "-"):
            negative ^= sign == "-"
        node = self.factor()
        return negated(node) if negative else node

    def _starts_factor(self, left: Node) -> bool:
        token = self.token
        if token.kind == "operator":
            if token.text in {"|", "||"}:
                return not self.bars and not self.builder
            if token.text == "[":
                return not self.outward and not (self.brackets == 0 and token.space)
            if token.text == "(" and (self.ahead().text == "mod" or self.at_bracketed_condition()):
                return False
            return token.text in _STARTS
        if token.kind == "number":
            return not isinstance(left, Number) and self.tokens[self.index - 1].kind != "number"
        if token.kind == "command":
            return token.text not in _STOP_COMMANDS and not (is_numeric(left) and self.at_unit_fraction())
        if token.kind == "begin":
            return True
        return token.kind == "word" and self._is_factor_word(left)

    def _is_factor_word(self, left: Node) -> bool:
        """Whether a run of letters multiplies what stands before it; else it is a unit or words."""
        token = self.token
        name = token.text
        if name in _STOP_WORDS or self.at_letter_union():
            return False
        if name in FUNCTIONS:
            return not (name in UNITS and is_numeric(left) and self.ahead().text not in _BRACKETS)
        if name in CONSTANTS or name in GREEK:
            return True
        numeric = is_numeric(left)
        if len(name) == 1:
            unit = name in UNIT_LETTERS and (token.upright or (token.space and self._ends_statement()))
            return not (numeric and (unit or self._is_square_metres()))
        if token.upright or (name in UNITS and numeric):
            return False
        parts = self.letters(name)
        return len(parts) <= 3 or any(part in FUNCTIONS for part in parts)

    def _is_square_metres(self) -> bool:
        """`5m^2` and `5m^3` with nothing behind them."""
        braces = self.ahead(2).text == "{"
        power = self.ahead(3 if braces else 2)
        last = self.ahead(5 if braces else 3)
        return (
            self.token.text == "m"
            and self.ahead().text == "^"
            and power.text in {"2", "3"}
            and last.kind == "stop"
        )

    def _ends_statement(self) -> bool:
        following = self.ahead()
        if following.kind == "operator":
            return following.text in {",", ";", "/", ".", "^"}
        return following.kind in {"stop", "end"}

    def factor(self) -> Node:
        """An atom with powers, factorials, percent and degree signs behind it."""
        if (symbol := self._currency()) != "":
            negative = bool(self.accept("-"))
            amount = self.factor()
            return Quantity(negated(amount) if negative else amount, ((symbol, 1),))
        return self.postfix(self.atom())

    def _currency(self) -> str:
        """Take `\\$`, `€`, `USD` or `Rs.` before an amount; its name, else the empty string."""
        token = self.token
        if token.kind == "operator":
            return _CURRENCY[self.take().text] if token.text in _CURRENCY else ""
        if token.text == "US" and self.ahead().text == "currency$":
            self.index += 2
            return "USD"
        if token.kind == "word" and token.text in _CURRENCY_WORDS:
            point = self.ahead().text == "."
            if self.ahead(2 if point else 1).kind == "number":
                self.index += 2 if point else 1
                return _CURRENCY_WORDS[token.text]
        return ""

    def postfix(self, node: Node) -> Node:
        """Apply the postfix signs behind `node`."""
        while self.token.kind == "operator" and self.token.text in _POSTFIX:
            if self.at("^"):
                node = self._power(node)
            elif self.at("!") and not (self.ahead().text == "=" and not self.ahead().space):
                self.take()
                node = Call("double_factorial" if self.accept("!") else "factorial", (node,))
            elif self.at("%"):
                self.take()
                node = Quantity(node, (("%", 1),))
            elif self.at("deg"):
                self.take()
                node = self._degrees(node)
            elif self.at(*_CURRENCY, "¢") and is_numeric(node):
                symbol = self.take().text
                node = Quantity(node, ((_CURRENCY.get(symbol, "US cent"), 1),))
            elif self.at("'") and isinstance(node, Symbol):
                self.take()
                node = Symbol(node.name + "'")
            else:
                break
        return node

    def _power(self, base: Node) -> Node:
        self.take()
        if self._takes_circle():
            return self._degrees(base)
        if self.accept("'"):
            return Symbol(base.name + "'") if isinstance(base, Symbol) else Power(base, Symbol("'"))
        if self.at("{") and self.ahead().text == "'":
            self.take()
            primes = ""
            while self.accept("'"):
                primes += "'"
            self.expect("}")
            return Symbol(base.name + primes) if isinstance(base, Symbol) else base
        exponent = self.argument(whole=True)
        if self.at("^"):
            with self.nested():
                exponent = self._power(exponent)
        elif self.at("!"):
            exponent = self.postfix(exponent)
        return Power(base, exponent)

    def _takes_circle(self) -> bool:
        """Take `\\circ`, `{\\circ}` or the degree sign behind `^`."""
        if self.token.text in {"circ", "deg"} and self.token.kind in {"command", "operator"}:
            self.take()
            return True
        if self.at("{") and self.ahead().text in {"circ", "deg", "o"} and self.ahead(2).text == "}":
            self.index += 3
            return True
        return False

    def _degrees(self, value: Node) -> Node:
        """Degrees with the minutes and seconds behind them; or a temperature."""
        token = self.token
        if token.kind == "word" and token.text in {"C", "F"}:
            self.take()
            return Quantity(value, (("deg" + token.text, 1),))
        parts = [value]
        for mark, size in (("'", 60), ("''", 3600)):
            length = len(mark)
            if self.token.kind == "number" and all(self.ahead(1 + k).text == "'" for k in range(length)):
                part = self.numeral() if length > 1 or self.ahead().text == "'" else None
                if part is None:
                    break
                self.index += length
                parts.append(Quotient(part, Number(size)))
        total = parts[0] if len(parts) == 1 else Sum(tuple(parts))
        return Quantity(total, (("deg", 1),))

    def functional(self) -> Node:
        """The argument of a function: a bracket, or factors side by side up to the next function."""
        if self.at("(", "{", "["):
            opening = self.token.text
            node = self.group() if opening == "{" else self.bracketed()
            return (
                self.postfix(node)
                if self.at("deg") or (self.at("^") and self.ahead().text == "circ")
                else node
            )
        negative = bool(self.accept("-"))
        node = self.factor()
        while self._continues_argument(node):
            node = _times(node, self.factor())
        return negated(node) if negative else node

    def _continues_argument(self, left: Node) -> bool:
        token = self.token
        if self.integrals and token.text in {"d", f"d{token.text[1:2]}"} and token.kind == "word":
            return False  # the dx of an integral ends sin x
        if token.text in FUNCTIONS or (token.kind == "operator" and token.text in {"(", "[", "|", "{"}):
            return False
        if token.kind == "word" and any(part in FUNCTIONS for part in self.letters(token.text)):
            return False
        return self._starts_factor(left)


def _times(left: Node, right: Node) -> Node:
    factors = left.factors if isinstance(left, Product) else (left,)
    return Product((*factors, right))


def is_numeric(node: Node) -> bool:
    """Whether a unit may follow: no variable in it."""
    match node:
        case Number():
            return True
        case Sum(parts) | Product(parts) | Call(_, parts):
            return all(is_numeric(part) for part in parts)
        case Quotient(a, b) | Power(a, b):
            return is_numeric(a) and is_numeric(b)
        case PlusMinus(value):
            return is_numeric(value)
        case Symbol() | Quantity():
            return False
        case _:
            return type(node).__name__ == "Constant"
