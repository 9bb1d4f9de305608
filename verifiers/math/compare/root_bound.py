"""A lower bound on the size of an algebraic number that is not zero.

BFMSS: Burnikel, Funke, Mehlhorn, Schirra, Schmitt, "A separation bound for real algebraic expressions"
(2001). An expression is a quotient u / l of two numbers whose conjugates are at most u and l; with D the
product of the degrees of its radicals, it is zero or at least 1 / (l * u^(D-1)). Cosines and sines of
rational multiples of pi are halves of algebraic integers of size at most 2 and degree at most phi(n).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from flint import fmpq, fmpz

from verifiers.math.compare.errors import Undefined
from verifiers.math.compare.rational import NotRational, exact
from verifiers.math.tree import Call, Constant, Node, Number, Power, Product, Quantity, Quotient, Sum

MAX_ORDER = 1 << 20
"""Order of a root of unity that is factored."""


class NotAlgebraic(Exception):
    """Not built from rational numbers by arithmetic, roots and trigonometry of rational angles."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """log2 of the bounds u and l."""

    upper: float
    lower: float


class RootBound:
    """Bounds of one expression; each radical counts once in the degree."""

    def __init__(self) -> None:
        self.degrees: dict[Node, int] = {}

    def bits(self, node: Node) -> float:
        """b such that `node` is zero or at least 2**-b in size. Raises `NotAlgebraic`."""
        bound = self._of(node)
        degree = 1.0
        for factor in self.degrees.values():
            degree *= factor
        return bound.lower + bound.upper * (degree - 1)

    def _of(self, node: Node) -> _Bound:
        match node:
            case Number(numerator, denominator):
                return _Bound(log2(abs(numerator)) if numerator else 0.0, log2(denominator))
            case Constant("i"):
                self.degrees[node] = 2
                return _Bound(0.0, 0.0)
            case Sum(terms):
                return self._sum([self._of(term) for term in terms])
            case Product(factors):
                parts = [self._of(factor) for factor in factors]
                return _Bound(sum(part.upper for part in parts), sum(part.lower for part in parts))
            case Quotient(top, bottom):
                a, b = self._of(top), self._of(bottom)
                return _Bound(a.upper + b.lower, a.lower + b.upper)
            case Power(base, exponent):
                return self._power(node, base, exponent)
            case Call("root", (radicand, index)):
                return self._root(node, self._of(radicand), _integer(index))
            case Call(("sin" | "cos" | "tan"), (angle,)):
                return self._trigonometric(node, angle)
            case Call("abs", (value,)):
                return self._of(value)
            case Quantity(value, (("%", 1),)):
                part = self._of(value)
                return _Bound(part.upper, part.lower + log2(100))
        raise NotAlgebraic

    def _sum(self, parts: list[_Bound]) -> _Bound:
        lower = sum(part.lower for part in parts)
        upper = max(part.upper + lower - part.lower for part in parts)
        return _Bound(upper + log2(len(parts)), lower)

    def _power(self, node: Node, base: Node, exponent: Node) -> _Bound:
        if base == Constant("e"):
            return self._root_of_unity(node, exponent)
        value = _rational(exponent)
        part = self._of(base)
        if value < 0:
            part = _Bound(part.lower, part.upper)
        times = abs(int(value.p))
        if value.q != 1:
            part = self._root(node, part, int(value.q))
        return _Bound(part.upper * times, part.lower * times)

    def _root(self, node: Node, part: _Bound, index: int) -> _Bound:
        self.degrees[node] = index
        if part.upper >= part.lower:
            return _Bound((part.upper + (index - 1) * part.lower) / index, part.lower)
        return _Bound(part.upper, ((index - 1) * part.upper + part.lower) / index)

    def _trigonometric(self, node: Call, angle: Node) -> _Bound:
        turns = _turns(angle)
        self.degrees[node] = _degree_of_root_of_unity(4 * turns.q)
        if node.name == "tan":
            return _Bound(1.0, 1.0)
        return _Bound(1.0, 1.0)

    def _root_of_unity(self, node: Node, exponent: Node) -> _Bound:
        """e^(i pi r)."""
        match exponent:
            case Product(factors) if Constant("i") in factors:
                rest = [factor for factor in factors if factor != Constant("i")]
                turns = _turns(Product(tuple(rest)))
            case Quotient(Product(factors), bottom) if Constant("i") in factors:
                rest = [factor for factor in factors if factor != Constant("i")]
                turns = _turns(Quotient(Product(tuple(rest)), bottom))
            case _:
                raise NotAlgebraic
        self.degrees[node] = _degree_of_root_of_unity(2 * turns.q)
        return _Bound(0.0, 0.0)


def _degree_of_root_of_unity(order: fmpz) -> int:
    """Orders that are large are not factored: no precision within the limits would do for their degree."""
    if order > MAX_ORDER:
        raise NotAlgebraic
    return int(order.euler_phi())


def _integer(node: Node) -> int:
    value = _rational(node)
    if value.q != 1 or not 1 <= value <= 1000:
        raise NotAlgebraic
    return int(value)


def _rational(node: Node) -> fmpq:
    try:
        return exact(node)
    except (NotRational, Undefined):
        raise NotAlgebraic from None


def _turns(angle: Node) -> fmpq:
    """The rational r of an angle pi * r."""
    match angle:
        case Constant("pi"):
            return fmpq(1)
        case Quantity(value, (("deg", 1),)):
            return _rational(value) / 180
        case Product(factors) if factors.count(Constant("pi")) == 1:
            return _rational(Product((Number(1), *(part for part in factors if part != Constant("pi")))))
        case Quotient(top, bottom):
            return _turns(top) / _rational(bottom)
    raise NotAlgebraic
