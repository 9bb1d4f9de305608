"""Fractions of polynomials within a budget: arithmetic, lowest terms, and the zero test by relations."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

from flint import Ordering, fmpq, fmpq_mpoly_ctx

from verifiers.math.compare import budget
from verifiers.math.compare.errors import Undefined
from verifiers.math.compare.rational import MAX_BITS, bits
from verifiers.math.traverse import walk
from verifiers.math.tree import (
    Apply,
    Call,
    Constant,
    Node,
    Number,
    Power,
    Quantity,
    Symbol,
)

Polynomial = Any
"""`fmpq_mpoly`."""

MAX_GENERATORS = 24

MAX_TERMS = 4_000
"""Terms that one product or power may have."""

MAX_DEGREE = 4_000

MAX_GCD_TERMS = 400
"""Product of the terms of numerator and denominator up to which a fraction is reduced."""


class NotPolynomial(Exception):
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


class Fractions:
    """Fractions over one set of generators, for the trees that are compared with each other."""

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

    def key_of(self, a: Fraction) -> tuple[str, str]:
        a = self.reduced(a)
        return str(a.numerator), str(a.denominator)

    def negative(self, a: Fraction) -> bool:
        """Whether the leading coefficient is below zero, to choose between a and -a."""
        a = self.reduced(a)
        return not a.numerator.is_zero() and a.numerator.leading_coefficient() < 0

    def related(self, key: object, degree: int, replacement: Fraction) -> Fraction:
        known = key in self.keys
        made = self.generator(key)
        if not known:
            self.relations.append(Relation(self.keys[key], degree, replacement))
        return made

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


def coefficient(constant: Polynomial) -> fmpq:
    return fmpq(0) if constant.is_zero() else constant.leading_coefficient()


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    if len(a) * len(b) > MAX_TERMS or _height(a) + _height(b) > MAX_BITS:
        raise NotPolynomial("a product of too many terms")
    budget.spend(1 + len(a) * len(b) // 20)
    return a * b


def _raised(a: Polynomial, times: int) -> Polynomial:
    if times > 1:
        terms = len(a)
        too_many = times > MAX_DEGREE or (terms > 1 and comb(terms + times - 1, times) > MAX_TERMS)
        if too_many or _height(a) * times > MAX_BITS:
            raise NotPolynomial("a power of too many terms")
        budget.spend(terms * times)
    return a**times


def _height(a: Polynomial) -> int:
    return max((bits(coefficient) for coefficient in a.coeffs()), default=1)
