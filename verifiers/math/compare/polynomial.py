"""Rational functions with exact coefficients: whether two trees are the same one, proven.

Everything that is no rational operation (a root, sin x, 2^n) is a generator, named by its own argument in
normal form; generators with a polynomial relation (roots, i, sin^2 + cos^2) are reduced by it.
"""

from __future__ import annotations

from flint import fmpq, fmpz

from verifiers.math.compare.errors import TooCostly
from verifiers.math.compare.fractions import (
    MAX_DEGREE,
    Fraction,
    Fractions,
    NotPolynomial,
    Polynomial,
    coefficient,
)
from verifiers.math.compare.rational import NotRational, bits, exact
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


class Forms(Fractions):
    """Normal forms over one set of generators, for the trees that are compared with each other."""

    def of(self, node: Node) -> Fraction:
        """`node` as a fraction of polynomials. Raises `NotPolynomial`, `Undefined`."""
        match node:
            case Number(numerator, denominator):
                return self.constant(fmpq(numerator, denominator))
            case Symbol(name):
                return self.generator(name)
            case Constant("i") if self.complex_values:
                return self.related(("i",), 2, self.constant(fmpq(-1)))
            case Constant(name):
                return self.generator(("constant", name))
            case Sum(terms):
                return self._sum(terms)
            case Product(factors):
                total = self.of(factors[0])
                for factor in factors[1:]:
                    total = self.times(total, self.of(factor))
                return total
            case Quotient(top, bottom):
                return self.divide(self.of(top), self.of(bottom))
            case Power(base, exponent):
                return self._power(base, exponent)
            case Call() | Apply():
                if node not in self.memory:
                    self.memory[node] = self._call(node)
                return self.memory[node]
            case Quantity(value, (("%", 1),)):
                return self.times(self.of(value), self.constant(fmpq(1, 100)))
            case Quantity(value, (("deg", 1),)):
                pi = self.generator(("constant", "pi"))
                return self.times(self.of(value), self.times(pi, self.constant(fmpq(1, 180))))
        raise NotPolynomial(type(node).__name__)

    # arithmetic within the budget

    def _sum(self, terms: tuple[Node, ...]) -> Fraction:
        total = self.of(terms[0])
        for term in terms[1:]:
            total = self.plus(total, self.of(term))
        return total

    # generators

    def _power(self, base: Node, exponent: Node) -> Fraction:
        try:
            rational = exact(exponent)
        except (NotRational, TooCostly):
            return self._symbolic_power(base, exponent)
        if rational.q == 1:
            if rational.p.bit_length() > 12:
                raise NotPolynomial("a power of too many terms")
            return self.raised(self.of(base), int(rational))
        return self.raised(self._root(self.of(base), int(rational.q)), int(rational.p))

    def _root(self, radicand: Fraction, index: int) -> Fraction:
        if not 1 <= index <= 64:
            raise NotPolynomial("a root of that index")
        radicand = self.reduced(radicand)
        if index == 1:
            return radicand
        if radicand.denominator.is_constant() and radicand.numerator.is_constant():
            return self._numeric_root(coefficient(radicand.numerator), index)
        return self.related(("root", index, self.key_of(radicand)), index, radicand)

    def _numeric_root(self, value: fmpq, index: int) -> Fraction:
        """A root of a rational number, as rational * root of a whole number without index-th powers."""
        if value == 0:
            return self.constant(value)
        if value < 0:
            if index % 2 and not self.complex_values:
                return self.times(self.constant(fmpq(-1)), self._numeric_root(-value, index))
            if index != 2 or not self.complex_values:
                raise NotPolynomial("a root outside the domain")
            return self.times(self.of(Constant("i")), self._numeric_root(-value, index))
        outside, inside = _split_root(value.p * value.q ** (index - 1), index)
        root = self.constant(fmpq(outside, value.q))
        if inside == 1:
            return root
        made = self.related(("root", index, (str(inside), "1")), index, self.constant(fmpq(inside)))
        return self.times(root, made)

    def _symbolic_power(self, base: Node, exponent: Node) -> Fraction:
        """base ^ (integer + content * rest) as base^integer * (base^rest)^content."""
        bottom = self.of(base)
        top = self.reduced(self.of(exponent))
        if not top.denominator.is_constant():
            return self.generator(("power", self.key_of(bottom), self.key_of(top)))
        whole, rest = 0, top.numerator
        for exponents, value in top.numerator.terms():
            if not any(exponents) and value.q == 1 and abs(value.p) < MAX_DEGREE:
                whole = int(value.p)
                rest = top.numerator - whole
        content = _content(rest)
        times = int(content.p) if abs(content.p) < MAX_DEGREE else 1
        rest = rest / times
        made = self.generator(("power", self.key_of(bottom), (str(rest), "1")))
        return self.times(self.raised(bottom, whole), self.raised(made, times))

    def _call(self, node: Call | Apply) -> Fraction:
        if isinstance(node, Apply):
            return self.generator(
                ("apply", node.name, tuple(self.key_of(self.of(part)) for part in node.arguments))
            )
        name = node.name
        try:
            return self.constant(exact(node))
        except (NotRational, TooCostly):
            pass
        if name == "root":
            index = exact(node.arguments[1])
            return self._root(self.of(node.arguments[0]), int(index) if index.q == 1 else 0)
        parts = [self.of(part) for part in node.arguments]
        if name in {"log", "ln"}:
            return self._logarithm(name, parts)
        (first, *rest) = parts
        if rest or name in {"factorial", "floor", "ceil"}:
            return self.generator((name, tuple(self.key_of(part) for part in parts)))
        match name:
            case "sin" | "tan" | "csc" | "cot" | "cos" | "sec":
                return self._trigonometric(name, first)
            case "asin" | "atan" | "sinh" | "tanh" | "asinh" | "atanh" | "erf":
                return self._odd(name, first)
            case "abs" if not self.complex_values:
                if self.negative(first):
                    first = self.times(first, self.constant(fmpq(-1)))
                return self.related(("abs", self.key_of(first)), 2, self.raised(first, 2))
        return self.generator((name, self.key_of(first)))

    def _odd(self, name: str, argument: Fraction) -> Fraction:
        if not self.negative(argument):
            return self.generator((name, self.key_of(argument)))
        minus = self.constant(fmpq(-1))
        return self.times(minus, self.generator((name, self.key_of(self.times(argument, minus)))))

    def _trigonometric(self, name: str, argument: Fraction) -> Fraction:
        sign = self.constant(fmpq(1))
        if self.negative(argument):
            argument = self.times(argument, self.constant(fmpq(-1)))
            sign = self.constant(fmpq(-1))
        key = self.key_of(argument)
        cosine = self.generator(("cos", key))
        if name == "cos":
            return cosine
        if name == "sec":
            return self.divide(self.constant(fmpq(1)), cosine)
        square = self.plus(
            self.constant(fmpq(1)), self.times(self.constant(fmpq(-1)), self.raised(cosine, 2))
        )
        sine = self.times(sign, self.related(("sin", key), 2, square))
        match name:
            case "tan":
                return self.divide(sine, cosine)
            case "cot":
                return self.divide(cosine, sine)
            case "csc":
                return self.divide(self.constant(fmpq(1)), sine)
        return sine

    def _logarithm(self, name: str, parts: list[Fraction]) -> Fraction:
        top = self._natural(parts[0])
        if name == "ln":
            return top
        base = self._natural(parts[1]) if len(parts) == 2 else self.generator("log without base")
        return self.divide(top, base)

    def _natural(self, argument: Fraction) -> Fraction:
        """ln of a rational number as a sum over its small primes; else a generator."""
        argument = self.reduced(argument)
        if argument.numerator.is_constant() and argument.denominator.is_constant():
            value = coefficient(argument.numerator)
            if value <= 0:
                raise NotPolynomial("a logarithm outside the domain")
            if bits(value) <= 64:
                return self._sum_of_primes(value)
        if self.key_of(argument) == self.key_of(self.generator(("constant", "e"))):
            return self.constant(fmpq(1))
        return self.generator(("ln", self.key_of(argument)))

    def _sum_of_primes(self, value: fmpq) -> Fraction:
        total = self.constant(fmpq(0))
        for part, sign in ((value.p, 1), (value.q, -1)):
            for prime, times in part.factor():
                term = self.generator(("ln", (str(prime), "1")))
                total = self.plus(total, self.times(self.constant(fmpq(sign * times)), term))
        return total

    # the zero test


def _content(a: Polynomial) -> fmpq:
    """The rational number that leaves whole coefficients without a common factor, with the leading sign."""
    top, bottom = fmpz(0), fmpz(1)
    for value in a.coeffs():
        top, bottom = top.gcd(value.p), bottom.lcm(value.q)
    if top == 0:
        return fmpq(1)
    return fmpq(top if a.leading_coefficient() > 0 else -top, bottom)


def _split_root(value: fmpz, index: int) -> tuple[fmpz, fmpz]:
    """(outside, inside) with value == outside ** index * inside, by the small primes of value."""
    if value.bit_length() > 128:
        root = value.root(index)
        return (root, fmpz(1)) if root**index == value else (fmpz(1), value)
    outside, inside = fmpz(1), fmpz(1)
    for prime, times in value.factor_smooth(20):
        outside *= prime ** (times // index)
        inside *= prime ** (times % index)
    return outside, inside
