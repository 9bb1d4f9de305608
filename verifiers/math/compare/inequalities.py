"""Regions of the real line, and inequalities in one variable solved into them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from flint import arb, fmpq, fmpz_poly

from verifiers.math.compare.enclosure import Evaluator
from verifiers.math.compare.fractions import NotPolynomial, Polynomial
from verifiers.math.compare.points import Coordinate
from verifiers.math.compare.policy import Policy
from verifiers.math.compare.polynomial import Forms
from verifiers.math.compare.rational import NotRational
from verifiers.math.compare.values import FINE
from verifiers.math.traverse import free_symbols, negated
from verifiers.math.tree import (
    Call,
    Constant,
    Node,
    Number,
    Product,
    Relation,
    Sum,
    Symbol,
)

MAX_ENDPOINTS = 200

MAX_DEGREE = 30

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


class NotASet(Exception):
    """Not a set of real numbers that can be written down with finitely many endpoints."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Indices into the endpoints; None is infinity."""

    low: int | None
    low_closed: bool
    high: int | None
    high_closed: bool


@dataclass(frozen=True, slots=True)
class Combination:
    operator: Literal["or", "and", "not"]
    parts: tuple[Region, ...]


Region = Interval | Combination

ALL = Interval(None, False, None, False)

NOTHING = Combination("or", ())


class Inequalities:
    """Turns relations about one variable into regions over a list of endpoints."""

    def __init__(self, policy: Policy, point: Mapping[str, Coordinate]) -> None:
        self.evaluator = Evaluator(complex_values=False, log_base=policy.log_base)
        self.point = point
        self.endpoints: list[arb] = []

    def region(self, node: Node, variable: str | None) -> Region:
        """The region of any set; defined by the builder of sets."""
        raise NotImplementedError

    def ranks(self) -> list[int]:
        """The rank of every endpoint, equal ones sharing theirs. Raises `Unclear` when order is not
        certain."""
        order = sorted(range(len(self.endpoints)), key=lambda index: self.endpoints[index].mid())
        ranks, rank = [0] * len(order), -1
        previous: arb | None = None
        for index in order:
            ball = self.endpoints[index]
            if previous is None or not ball.overlaps(previous):
                rank += 1
            previous = ball
            ranks[index] = rank
        return ranks

    def endpoint(self, ball: arb) -> int:
        self.endpoints.append(ball)
        if len(self.endpoints) > MAX_ENDPOINTS:
            raise NotASet("too many endpoints")
        return len(self.endpoints) - 1

    def number(self, node: Node) -> int:
        return self.endpoint(self.evaluator.at(node, self.point, FINE))

    def relation(self, node: Relation, variable: str | None) -> Region:
        if variable is None:
            raise NotASet("a relation about no single variable")
        parts = [
            self._pair(left, operator, right, variable)
            for left, operator, right in zip(node.sides, node.operators, node.sides[1:], strict=False)
        ]
        return parts[0] if len(parts) == 1 else Combination("and", tuple(parts))

    def _pair(self, left: Node, operator: str, right: Node, variable: str) -> Region:
        if operator in {"in", "notin"}:
            if left != Symbol(variable):
                raise NotASet("membership of an expression")
            inside = self.region(right, None)
            return inside if operator == "in" else Combination("not", (inside,))
        if operator not in _FLIPPED:
            raise NotASet(operator)
        if variable in free_symbols(right) and variable not in free_symbols(left):
            left, operator, right = right, _FLIPPED[operator], left
        if variable not in free_symbols(left):
            raise NotASet("a relation without the variable")
        if variable not in free_symbols(right):
            if left == Symbol(variable):
                return self._half_line(operator, right)
            if isinstance(left, Call) and left.name == "abs":
                return self._absolute(left.arguments[0], operator, right, variable)
        return self._solved(Sum((left, negated(right))), operator, variable)

    def _half_line(self, operator: str, bound: Node) -> Region:
        if is_infinite(bound):
            return ALL
        return _side(operator, self.number(bound))

    def _absolute(self, inner: Node, operator: str, bound: Node, variable: str) -> Region:
        below = self._pair(inner, _FLIPPED[operator], negated(bound), variable)
        above = self._pair(inner, operator, bound, variable)
        if operator in {"<", "<=", "!="}:
            return Combination("and", (below, above))
        return Combination("or", (below, above))

    def _solved(self, difference: Node, operator: str, variable: str) -> Region:
        """difference operator 0, for a polynomial with rational coefficients or anything linear."""
        try:
            forms = Forms(difference, complex_values=False)
            form = forms.reduced(forms.of(difference))
            if list(forms.keys) == [variable] and form.denominator.is_constant():
                return self._polynomial(form.numerator, operator)
        except (NotPolynomial, NotRational):
            pass
        return self._linear(difference, operator, variable)

    def _polynomial(self, numerator: Polynomial, operator: str) -> Region:
        terms = {int(exponents[0]): value for exponents, value in numerator.terms()}
        degree = max(terms, default=0)
        if degree > MAX_DEGREE:
            raise NotASet("a polynomial of too high degree")
        common = 1
        for value in terms.values():
            common = common * int(value.q)
        whole = fmpz_poly([int((terms.get(power, fmpq(0)) * common).p) for power in range(degree + 1)])
        found: Any = whole.complex_roots()
        roots = sorted((root.real for root, _ in found if root.imag.contains(0)), key=lambda ball: ball.mid())
        return self._by_sign([self.endpoint(root) for root in roots], whole, operator)

    def _by_sign(self, roots: list[int], value: object, operator: str) -> Region:
        """The pieces between the roots on which the sign fits, and the roots themselves where equality
        does."""
        parts: list[Region] = []
        bounds: list[int | None] = [None, *roots, None]
        for low, high in pairwise(bounds):
            sign = value(self._between(low, high))  # type: ignore[operator]
            if (sign > 0 and operator in {">", ">=", "!="}) or (sign < 0 and operator in {"<", "<=", "!="}):
                parts.append(Interval(low, False, high, False))
        if operator in {"<=", ">=", "="}:
            parts += [Interval(root, True, root, True) for root in roots]
        return Combination("or", tuple(parts))

    def _between(self, low: int | None, high: int | None) -> arb:
        if low is None and high is None:
            return arb(0)
        if low is None:
            return self.endpoints[high].mid() - 1  # type: ignore[index]
        if high is None:
            return self.endpoints[low].mid() + 1
        return (self.endpoints[low].mid() + self.endpoints[high].mid()) / 2

    def _linear(self, difference: Node, operator: str, variable: str) -> Region:
        at = {}
        for x in (0, 1, 2, 7):
            at[x] = self.evaluator.at(difference, {**self.point, variable: fmpq(x)}, FINE)
        slope = at[1] - at[0]
        straight = (at[2] - at[1]).overlaps(slope) and (at[7] - at[0]).overlaps(7 * slope)
        if not straight or slope.contains(0):
            raise NotASet("an inequality that is not linear")
        root = self.endpoint(-at[0] / slope)
        return _side(operator if slope > 0 else _FLIPPED[operator], root)


def is_infinite(node: Node) -> bool:
    match node:
        case Constant("oo"):
            return True
        case Product((Number(), Constant("oo"))):
            return True
    return False


def mask(region: Region, ranks: list[int], atoms: int) -> int:
    """Bit 2r+1 is the endpoint of rank r, the even bits are the open pieces around them."""
    everything = (1 << atoms) - 1
    if isinstance(region, Combination):
        masks = [mask(part, ranks, atoms) for part in region.parts]
        if region.operator == "not":
            return everything & ~masks[0]
        total = 0 if region.operator == "or" else everything
        for part in masks:
            total = total | part if region.operator == "or" else total & part
        return total
    low = 0 if region.low is None else 2 * ranks[region.low] + (1 if region.low_closed else 2)
    high = atoms - 1 if region.high is None else 2 * ranks[region.high] + (1 if region.high_closed else 0)
    return 0 if high < low else (everything >> (atoms - 1 - high)) & (everything << low) & everything


def _side(operator: str, bound: int) -> Region:
    match operator:
        case "<" | "<=":
            return Interval(None, False, bound, operator == "<=")
        case ">" | ">=":
            return Interval(bound, operator == ">=", None, False)
        case "=":
            return Interval(bound, True, bound, True)
        case _:
            return Combination("not", (Interval(bound, True, bound, True),))
