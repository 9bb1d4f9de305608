"""Sets of real numbers: intervals, unions, complements, inequalities in one variable.

Both answers are turned into regions over one list of endpoints (certified balls). The endpoints cut the line
into points and open pieces between them, so every set is a bit mask over these atoms, and two sets are equal
when their masks are. Endpoints with letters are compared at several points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from flint import arb, fmpq, fmpz_poly

from verifiers.math.compare.enclosure import Evaluator
from verifiers.math.compare.errors import NotComparable, Unclear, Undefined
from verifiers.math.compare.labels import is_letter
from verifiers.math.compare.points import Coordinate, points
from verifiers.math.compare.policy import Outcome, Policy
from verifiers.math.compare.polynomial import Forms, NotPolynomial
from verifiers.math.compare.rational import NotRational
from verifiers.math.compare.values import FINE
from verifiers.math.read.atoms import negated
from verifiers.math.tree import (
    Call,
    Constant,
    Listing,
    NamedSet,
    Node,
    Number,
    Product,
    Relation,
    Set,
    SetBuilder,
    SetOperation,
    Special,
    Sum,
    Symbol,
    Tuple,
    free_symbols,
    name_applications,
)

MAX_ENDPOINTS = 200
MAX_DEGREE = 30
_ORDER = frozenset(("<", "<=", ">", ">="))
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


class NotASet(Exception):  # noqa: N818
    """Not a set of real numbers that can be written down with finitely many endpoints."""


@dataclass(frozen=True, slots=True)
class _Interval:
    """Indices into the endpoints; None is infinity."""

    low: int | None
    low_closed: bool
    high: int | None
    high_closed: bool


@dataclass(frozen=True, slots=True)
class _Combination:
    operator: Literal["or", "and", "not"]
    parts: tuple[_Region, ...]


_Region = _Interval | _Combination
_ALL = _Interval(None, False, None, False)
_NOTHING = _Combination("or", ())


def variable_of(node: Node) -> str | None:
    """The letter that an inequality or a membership is about; None for a plain set."""
    if not isinstance(node, Relation):
        if isinstance(node, Listing):
            return next((name for item in node.items if (name := variable_of(item))), None)
        return None
    middle = node.sides[1] if len(node.sides) == 3 else node.sides[0]
    for side in (middle, *node.sides):
        if is_letter(side):
            return side.name  # type: ignore[union-attr]
        if isinstance(side, Call) and side.name == "abs" and is_letter(side.arguments[0]):
            return side.arguments[0].name  # type: ignore[union-attr]
    letters = free_symbols(node)
    return next(iter(letters)) if len(letters) == 1 else None


def looks_like_set(node: Node) -> bool:
    """Whether `node` can only be read as a set of reals (a pair in round brackets may also be a point)."""
    match node:
        case SetOperation() | NamedSet() | SetBuilder():
            return True
        case Relation(_, operators):
            return bool(set(operators) & (_ORDER | {"!=", "in", "notin"}))
        case Listing(items):
            return all(isinstance(item, Relation) and looks_like_set(item) for item in items)
        case Tuple((a, b), opening, closing):
            return (opening == "[") != (closing == "]") or _infinite(a) or _infinite(b)
    return False


def _infinite(node: Node) -> bool:
    match node:
        case Constant("oo"):
            return True
        case Product((Number(), Constant("oo"))):
            return True
    return False


def compare_real_sets(truth: Node, response: Node, policy: Policy) -> Outcome:
    """Whether two sets of reals are equal. Raises `NotASet` when one of them is none."""
    truth, response = name_applications(truth), name_applications(response)
    names = [variable_of(node) for node in (truth, response)]
    if None not in names and names[0] != names[1]:
        return Outcome(equal=False, route="real_sets", reason="label_differs")
    letters = (free_symbols(truth) | free_symbols(response)) - {name for name in names if name}
    for node in (truth, response):
        if isinstance(node, SetBuilder):
            letters -= free_symbols(node.element)
    if not letters:
        return Outcome(_equal_at({}, truth, response, policy), "real_sets")
    agreed = 0
    for point in points(sorted(letters), dict(policy.assume), complex_letters=False):
        try:
            if not _equal_at(point, truth, response, policy):
                return Outcome(equal=False, route="real_sets")
        except (Undefined, Unclear):
            continue
        agreed += 1
        if agreed >= 8:
            return Outcome(True, "real_sets", frozenset(("unproven",)))
    raise NotComparable("too few points in the common domain")


def _equal_at(point: Mapping[str, Coordinate], truth: Node, response: Node, policy: Policy) -> bool:
    builder = _Builder(policy, point)
    regions = [builder.region(node, variable_of(node)) for node in (truth, response)]
    ranks = builder.ranks()
    masks = [_mask(region, ranks, 2 * (max(ranks, default=-1) + 1) + 1) for region in regions]
    return masks[0] == masks[1]


def _mask(region: _Region, ranks: list[int], atoms: int) -> int:
    """Bit 2r+1 is the endpoint of rank r, the even bits are the open pieces around them."""
    everything = (1 << atoms) - 1
    if isinstance(region, _Combination):
        masks = [_mask(part, ranks, atoms) for part in region.parts]
        if region.operator == "not":
            return everything & ~masks[0]
        total = 0 if region.operator == "or" else everything
        for mask in masks:
            total = total | mask if region.operator == "or" else total & mask
        return total
    low = 0 if region.low is None else 2 * ranks[region.low] + (1 if region.low_closed else 2)
    high = atoms - 1 if region.high is None else 2 * ranks[region.high] + (1 if region.high_closed else 0)
    return 0 if high < low else (everything >> (atoms - 1 - high)) & (everything << low) & everything


class _Builder:
    def __init__(self, policy: Policy, point: Mapping[str, Coordinate]) -> None:
        self.evaluator = Evaluator(complex_values=False, log_base=policy.log_base)
        self.point = point
        self.endpoints: list[arb] = []

    def ranks(self) -> list[int]:
        """The rank of every endpoint, equal ones sharing theirs. Raises `Unclear` when order is not certain."""
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

    def region(self, node: Node, variable: str | None) -> _Region:
        match node:
            case Tuple((low, high), opening, closing):
                return self._interval(low, opening == "[", high, closing == "]")
            case Set(items):
                return _Combination("or", tuple(self._single(item) for item in items))
            case Special("empty"):
                return _NOTHING
            case NamedSet(name):
                return self._named(name)
            case SetOperation(operator, parts):
                regions = tuple(self.region(part, variable) for part in parts)
                if operator == "difference":
                    return _Combination("and", (regions[0], _Combination("not", regions[1:])))
                return _Combination("or" if operator == "union" else "and", regions)
            case SetBuilder(element, condition):
                return self._built(element, condition)
            case Listing(items, joined_by):
                return self._listed(items, joined_by, variable)
            case Relation():
                return self._relation(node, variable)
        raise NotASet(type(node).__name__)

    def _single(self, node: Node) -> _Region:
        index = self.number(node)
        return _Interval(index, True, index, True)

    def _interval(self, low: Node, low_closed: bool, high: Node, high_closed: bool) -> _Region:
        left = None if _infinite(low) else self.number(low)
        right = None if _infinite(high) else self.number(high)
        return _Interval(left, low_closed and left is not None, right, high_closed and right is not None)

    def _named(self, name: str) -> _Region:
        if name == "R":
            return _ALL
        zero = self.endpoint(arb(0))
        match name:
            case "R+":
                return _Interval(zero, False, None, False)
            case "R-":
                return _Interval(None, False, zero, False)
            case "R0+" | "R+0":
                return _Interval(zero, True, None, False)
            case "R0-" | "R-0":
                return _Interval(None, False, zero, True)
            case "R*":
                return _Combination("not", (_Interval(zero, True, zero, True),))
        raise NotASet(name)

    def _built(self, element: Node, condition: Node) -> _Region:
        parts: tuple[Node, ...] = condition.items if isinstance(condition, Tuple) else (condition,)
        regions: list[_Region] = []
        if isinstance(element, Relation) and element.operators == ("in",):
            regions.append(self.region(element.sides[1], None))
            element = element.sides[0]
        if not isinstance(element, Symbol):
            raise NotASet("a set of more than one variable")
        regions += [self.region(part, element.name) for part in parts]
        return _Combination("and", tuple(regions))

    def _listed(self, items: tuple[Node, ...], joined_by: str, variable: str | None) -> _Region:
        if all(isinstance(item, Tuple) for item in items):  # `(-oo, 2) and (3, oo)`
            return _Combination("or", tuple(self.region(item, variable) for item in items))
        names = {variable_of(item) for item in items}
        if len(names) != 1 or None in names:
            raise NotASet("relations about different variables")
        regions = tuple(self.region(item, variable) for item in items)
        if joined_by == "or":
            return _Combination("or", regions)
        both = _Combination("and", regions)
        ranks = self.ranks()
        if joined_by == "comma" and not _mask(both, ranks, 2 * (max(ranks, default=-1) + 1) + 1):
            return _Combination("or", regions)  # `x < 1, x > 3`: no number is both
        return both

    def _relation(self, node: Relation, variable: str | None) -> _Region:
        if variable is None:
            raise NotASet("a relation about no single variable")
        parts = [
            self._pair(left, operator, right, variable)
            for left, operator, right in zip(node.sides, node.operators, node.sides[1:], strict=False)
        ]
        return parts[0] if len(parts) == 1 else _Combination("and", tuple(parts))

    def _pair(self, left: Node, operator: str, right: Node, variable: str) -> _Region:
        if operator in {"in", "notin"}:
            if left != Symbol(variable):
                raise NotASet("membership of an expression")
            inside = self.region(right, None)
            return inside if operator == "in" else _Combination("not", (inside,))
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

    def _half_line(self, operator: str, bound: Node) -> _Region:
        if _infinite(bound):
            return _ALL
        return _side(operator, self.number(bound))

    def _absolute(self, inner: Node, operator: str, bound: Node, variable: str) -> _Region:
        below = self._pair(inner, _FLIPPED[operator], negated(bound), variable)
        above = self._pair(inner, operator, bound, variable)
        if operator in {"<", "<=", "!="}:
            return _Combination("and", (below, above))
        return _Combination("or", (below, above))

    def _solved(self, difference: Node, operator: str, variable: str) -> _Region:
        """difference operator 0, for a polynomial with rational coefficients or anything linear."""
        try:
            forms = Forms(difference, complex_values=False)
            form = forms.reduced(forms.of(difference))
            if list(forms.keys) == [variable] and form.denominator.is_constant():
                return self._polynomial(form.numerator, operator)
        except (NotPolynomial, NotRational):
            pass
        return self._linear(difference, operator, variable)

    def _polynomial(self, numerator: object, operator: str) -> _Region:
        terms = {int(exponents[0]): value for exponents, value in numerator.terms()}  # type: ignore[attr-defined]
        degree = max(terms, default=0)
        if degree > MAX_DEGREE:
            raise NotASet("a polynomial of too high degree")
        common = 1
        for value in terms.values():
            common = common * int(value.q)
        whole = fmpz_poly([int((terms.get(power, fmpq(0)) * common).p) for power in range(degree + 1)])
        roots = sorted(
            (root.real for root, _ in whole.complex_roots() if root.imag.contains(0)),
            key=lambda ball: ball.mid(),
        )
        return self._by_sign([self.endpoint(root) for root in roots], lambda x: whole(x), operator)

    def _by_sign(self, roots: list[int], value: object, operator: str) -> _Region:
        """The pieces between the roots on which the sign fits, and the roots themselves where equality does."""
        parts: list[_Region] = []
        bounds: list[int | None] = [None, *roots, None]
        for low, high in zip(bounds, bounds[1:], strict=False):
            sign = value(self._between(low, high))  # type: ignore[operator]
            if (sign > 0 and operator in {">", ">=", "!="}) or (sign < 0 and operator in {"<", "<=", "!="}):
                parts.append(_Interval(low, False, high, False))
        if operator in {"<=", ">=", "="}:
            parts += [_Interval(root, True, root, True) for root in roots]
        return _Combination("or", tuple(parts))

    def _between(self, low: int | None, high: int | None) -> arb:
        if low is None and high is None:
            return arb(0)
        if low is None:
            return self.endpoints[high].mid() - 1  # type: ignore[index]
        if high is None:
            return self.endpoints[low].mid() + 1
        return (self.endpoints[low].mid() + self.endpoints[high].mid()) / 2

    def _linear(self, difference: Node, operator: str, variable: str) -> _Region:
        at = {}
        for x in (0, 1, 2, 7):
            at[x] = self.evaluator.at(difference, {**self.point, variable: fmpq(x)}, FINE)
        slope = at[1] - at[0]
        straight = (at[2] - at[1]).overlaps(slope) and (at[7] - at[0]).overlaps(7 * slope)
        if not straight or slope.contains(0):
            raise NotASet("an inequality that is not linear")
        root = self.endpoint(-at[0] / slope)
        return _side(operator if slope > 0 else _FLIPPED[operator], root)


def _side(operator: str, bound: int) -> _Region:
    match operator:
        case "<" | "<=":
            return _Interval(None, False, bound, operator == "<=")
        case ">" | ">=":
            return _Interval(bound, operator == ">=", None, False)
        case "=":
            return _Interval(bound, True, bound, True)
        case _:
            return _Combination("not", (_Interval(bound, True, bound, True),))
