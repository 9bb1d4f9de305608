"""Rational functions with exact coefficients: whether two trees are the same one, proven.

Everything that is no rational operation (a root, sin x, 2^n) is a generator, named by its own argument in
normal form; generators with a polynomial relation (roots, i, sin^2 + cos^2) are reduced by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

from flint import Ordering, fmpq, fmpq_mpoly_ctx, fmpz

from verifiers.math.compare import budget
from verifiers.math.compare.errors import TooCostly, Undefined
from verifiers.math.compare.rational import MAX_BITS, NotRational, bits, exact
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
    walk,
)

Polynomial = Any
"""`fmpq_mpoly`."""

MAX_GENERATORS = 24
MAX_TERMS = 4_000
"""Terms that one product or power may have."""
MAX_DEGREE = 4_000
MAX_GCD_TERMS = 400
"""Product of the terms of numerator and denominator up to which a fraction is reduced."""


class NotPolynomial(Exception):  # noqa: N818
    """Not a rational function of these generators, or over the budget."""


@dataclass(frozen=True, slots=True)
class Fraction:
    """numerator / denominator, not reduced."""

    numerator: Polynomial
    denominator: Polynomial


@dataclass(frozen=True, slots=True)
class Relation:
    """generator ** degree == replacement."""

    generator: int
    degree: int
    replacement: Fraction


class Forms:
    """Normal forms over one set of generators, for the trees that are compared with each other."""

    def __init__(self, *trees: Node, complex_values: bool) -> None:
        """Raises `NotPolynomial` when the trees need more than `MAX_GENERATORS`."""
        self.complex_values = complex_values
        count = len({node for tree in trees for node in walk(tree) if _is_generator(node)}) * 2
        if count > 2 * MAX_GENERATORS:
            raise NotPolynomial("too many generators")
        size = next(size for size in (2, 8, 16, 2 * MAX_GENERATORS) if count <= size)
        self.context = fmpq_mpoly_ctx.get(("x", size), Ordering.degrevlex)
        self.size = size
        self.keys: dict[object, int] = {}
        self.relations: list[Relation] = []
        self.divisors: list[Polynomial] = []
        """Denominators met since the list was last emptied: zeros outside the domain."""
        self.memory: dict[Node, Fraction] = {}

    def constant(self, value: fmpq) -> Fraction:
        """A rational number."""
        return Fraction(self.context.constant(value), self.context.constant(1))

    def generator(self, key: object) -> Fraction:
        """The generator of that key."""
        index = self.keys.setdefault(key, len(self.keys))
        if index >= self.size:
            raise NotPolynomial("too many generators")
        return Fraction(self.context.gen(index), self.context.constant(1))

    def of(self, node: Node) -> Fraction:
        """`node` as a fraction of polynomials. Raises `NotPolynomial`, `Undefined`."""
        match node:
            case Number(numerator, denominator):
                return self.constant(fmpq(numerator, denominator))
            case Symbol(name):
                return self.generator(name)
            case Constant("i") if self.complex_values:
                return self._related(("i",), 2, self.constant(fmpq(-1)))
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

    def times(self, a: Fraction, b: Fraction) -> Fraction:
        """a * b."""
        return Fraction(_product(a.numerator, b.numerator), _product(a.denominator, b.denominator))

    def divide(self, a: Fraction, b: Fraction) -> Fraction:
        """a / b; the divisor is remembered."""
        if b.numerator.is_zero():
            raise Undefined
        if not b.numerator.is_constant():
            self.divisors.append(b.numerator)
        return Fraction(_product(a.numerator, b.denominator), _product(a.denominator, b.numerator))

    def plus(self, a: Fraction, b: Fraction) -> Fraction:
        """a + b."""
        if a.denominator == b.denominator:
            return Fraction(a.numerator + b.numerator, a.denominator)
        top = _product(a.numerator, b.denominator) + _product(b.numerator, a.denominator)
        return Fraction(top, _product(a.denominator, b.denominator))

    def _sum(self, terms: tuple[Node, ...]) -> Fraction:
        total = self.of(terms[0])
        for term in terms[1:]:
            total = self.plus(total, self.of(term))
        return total

    def raised(self, base: Fraction, times: int) -> Fraction:
        """base ** times."""
        if times < 0:
            return self.raised(self.divide(self.constant(fmpq(1)), base), -times)
        return Fraction(_raised(base.numerator, times), _raised(base.denominator, times))

    def reduced(self, a: Fraction) -> Fraction:
        """a in lowest terms, the denominator with leading coefficient 1."""
        if a.denominator.is_constant():
            return Fraction(a.numerator / a.denominator.leading_coefficient(), self.context.constant(1))
        if len(a.numerator) * len(a.denominator) > MAX_GCD_TERMS:
            raise NotPolynomial("a fraction of too many terms")
        budget.spend(10 + len(a.numerator) * len(a.denominator))
        common = a.numerator.gcd(a.denominator)
        top, bottom = a.numerator / common, a.denominator / common
        lead = bottom.leading_coefficient()
        return Fraction(top / lead, bottom / lead)

    def _key(self, a: Fraction) -> tuple[str, str]:
        a = self.reduced(a)
        return str(a.numerator), str(a.denominator)

    def negative(self, a: Fraction) -> bool:
        """Whether the leading coefficient is below zero, to choose between a and -a."""
        a = self.reduced(a)
        return not a.numerator.is_zero() and a.numerator.leading_coefficient() < 0

    # generators

    def _related(self, key: object, degree: int, replacement: Fraction) -> Fraction:
        known = key in self.keys
        made = self.generator(key)
        if not known:
            self.relations.append(Relation(self.keys[key], degree, replacement))
        return made

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
            return self._numeric_root(_coefficient(radicand.numerator), index)
        return self._related(("root", index, self._key(radicand)), index, radicand)

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
        made = self._related(("root", index, (str(inside), "1")), index, self.constant(fmpq(inside)))
        return self.times(root, made)

    def _symbolic_power(self, base: Node, exponent: Node) -> Fraction:
        """base ^ (integer + content * rest) as base^integer * (base^rest)^content."""
        bottom = self.of(base)
        top = self.reduced(self.of(exponent))
        if not top.denominator.is_constant():
            return self.generator(("power", self._key(bottom), self._key(top)))
        whole, rest = 0, top.numerator
        for exponents, coefficient in top.numerator.terms():
            if not any(exponents) and coefficient.q == 1 and abs(coefficient.p) < MAX_DEGREE:
                whole = int(coefficient.p)
                rest = top.numerator - whole
        content = _content(rest)
        times = int(content.p) if abs(content.p) < MAX_DEGREE else 1
        rest = rest / times
        made = self.generator(("power", self._key(bottom), (str(rest), "1")))
        return self.times(self.raised(bottom, whole), self.raised(made, times))

    def _call(self, node: Call | Apply) -> Fraction:
        if isinstance(node, Apply):
            return self.generator(
                ("apply", node.name, tuple(self._key(self.of(part)) for part in node.arguments))
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
            return self.generator((name, tuple(self._key(part) for part in parts)))
        match name:
            case "sin" | "tan" | "csc" | "cot" | "cos" | "sec":
                return self._trigonometric(name, first)
            case "asin" | "atan" | "sinh" | "tanh" | "asinh" | "atanh" | "erf":
                return self._odd(name, first)
            case "abs" if not self.complex_values:
                if self.negative(first):
                    first = self.times(first, self.constant(fmpq(-1)))
                return self._related(("abs", self._key(first)), 2, self.raised(first, 2))
        return self.generator((name, self._key(first)))

    def _odd(self, name: str, argument: Fraction) -> Fraction:
        if not self.negative(argument):
            return self.generator((name, self._key(argument)))
        minus = self.constant(fmpq(-1))
        return self.times(minus, self.generator((name, self._key(self.times(argument, minus)))))

    def _trigonometric(self, name: str, argument: Fraction) -> Fraction:
        sign = self.constant(fmpq(1))
        if self.negative(argument):
            argument = self.times(argument, self.constant(fmpq(-1)))
            sign = self.constant(fmpq(-1))
        key = self._key(argument)
        cosine = self.generator(("cos", key))
        if name == "cos":
            return cosine
        if name == "sec":
            return self.divide(self.constant(fmpq(1)), cosine)
        square = self.plus(
            self.constant(fmpq(1)), self.times(self.constant(fmpq(-1)), self.raised(cosine, 2))
        )
        sine = self.times(sign, self._related(("sin", key), 2, square))
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
            value = _coefficient(argument.numerator)
            if value <= 0:
                raise NotPolynomial("a logarithm outside the domain")
            if bits(value) <= 64:
                return self._sum_of_primes(value)
        if self._key(argument) == self._key(self.generator(("constant", "e"))):
            return self.constant(fmpq(1))
        return self.generator(("ln", self._key(argument)))

    def _sum_of_primes(self, value: fmpq) -> Fraction:
        total = self.constant(fmpq(0))
        for part, sign in ((value.p, 1), (value.q, -1)):
            for prime, times in part.factor():
                term = self.generator(("ln", (str(prime), "1")))
                total = self.plus(total, self.times(self.constant(fmpq(sign * times)), term))
        return total

    # the zero test

    def vanishes(self, a: Polynomial) -> bool:
        """Whether `a` is zero by the relations; False says nothing more than that they do not show it."""
        for _ in range(8):
            if a.is_zero():
                return True
            changed = False
            for relation in self.relations:
                if a.degrees()[relation.generator] >= relation.degree:
                    a = self._apply(a, relation)
                    changed = True
            if not changed:
                break
        return bool(a.is_zero())

    def _apply(self, a: Polynomial, relation: Relation) -> Polynomial:
        """`a` with generator ** degree replaced, times a power of the replacement's denominator."""
        top, bottom = relation.replacement.numerator, relation.replacement.denominator
        most = int(a.degrees()[relation.generator]) // relation.degree
        total = self.context.constant(0)
        by_times: dict[int, dict[tuple[int, ...], fmpq]] = {}
        for exponents, coefficient in a.to_dict().items():
            times, left = divmod(int(exponents[relation.generator]), relation.degree)
            rest = list(exponents)
            rest[relation.generator] = left
            row = by_times.setdefault(times, {})
            key = tuple(rest)
            row[key] = row.get(key, fmpq(0)) + coefficient
        for times, row in by_times.items():
            part = self.context.from_dict(row)
            total += _product(part, _product(_raised(top, times), _raised(bottom, most - times)))
        return total


def _is_generator(node: Node) -> bool:
    if isinstance(node, Power):
        return not (isinstance(node.exponent, Number) and node.exponent.denominator == 1)
    return isinstance(node, Symbol | Constant | Call | Apply | Quantity)


def _coefficient(constant: Polynomial) -> fmpq:
    return fmpq(0) if constant.is_zero() else constant.leading_coefficient()


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    budget.spend(1 + len(a) * len(b) // 20)
    if len(a) * len(b) > MAX_TERMS or _height(a) + _height(b) > MAX_BITS:
        raise NotPolynomial("a product of too many terms")
    return a * b


def _raised(a: Polynomial, times: int) -> Polynomial:
    if times > 1:
        terms = len(a)
        budget.spend(terms * times)
        too_many = times > MAX_DEGREE or (terms > 1 and comb(terms + times - 1, times) > MAX_TERMS)
        if too_many or _height(a) * times > MAX_BITS:
            raise NotPolynomial("a power of too many terms")
    return a**times


def _height(a: Polynomial) -> int:
    return max((bits(coefficient) for coefficient in a.coeffs()), default=1)


def _content(a: Polynomial) -> fmpq:
    """The rational number that leaves whole coefficients without a common factor, with the leading sign."""
    top, bottom = fmpz(0), fmpz(1)
    for coefficient in a.coeffs():
        top, bottom = top.gcd(coefficient.p), bottom.lcm(coefficient.q)
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
