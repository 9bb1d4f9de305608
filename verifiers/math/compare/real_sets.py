"""Sets of real numbers: intervals, unions, complements, inequalities in one variable.

Both answers are turned into regions over one list of endpoints (certified balls). The endpoints cut the line
into points and open pieces between them, so every set is a bit mask over these atoms, and two sets are equal
when their masks are. Endpoints with letters are compared at several points.
"""

from __future__ import annotations

from collections.abc import Mapping

from flint import arb

from verifiers.math.compare.errors import NotComparable, Unclear, Undefined
from verifiers.math.compare.inequalities import (
    ALL,
    NOTHING,
    Combination,
    Inequalities,
    Interval,
    NotASet,
    Region,
    is_infinite,
    mask,
)
from verifiers.math.compare.labels import is_letter
from verifiers.math.compare.points import Coordinate, points
from verifiers.math.compare.policy import Outcome, Policy
from verifiers.math.traverse import free_symbols, name_applications
from verifiers.math.tree import (
    Call,
    Listing,
    NamedSet,
    Node,
    Relation,
    Set,
    SetBuilder,
    SetOperation,
    Special,
    Symbol,
    Tuple,
)

_ORDER = frozenset(("<", "<=", ">", ">="))


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
            return (opening == "[") != (closing == "]") or is_infinite(a) or is_infinite(b)
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
    masks = [mask(region, ranks, 2 * (max(ranks, default=-1) + 1) + 1) for region in regions]
    return masks[0] == masks[1]


class _Builder(Inequalities):
    def region(self, node: Node, variable: str | None) -> Region:
        match node:
            case Tuple((low, high), opening, closing):
                return self._interval(low, opening == "[", high, closing == "]")
            case Set(items):
                return Combination("or", tuple(self._single(item) for item in items))
            case Special("empty"):
                return NOTHING
            case NamedSet(name):
                return self._named(name)
            case SetOperation(operator, parts):
                regions = tuple(self.region(part, variable) for part in parts)
                if operator == "difference":
                    return Combination("and", (regions[0], Combination("not", regions[1:])))
                return Combination("or" if operator == "union" else "and", regions)
            case SetBuilder(element, condition):
                return self._built(element, condition)
            case Listing(items, joined_by):
                return self._listed(items, joined_by, variable)
            case Relation():
                return self.relation(node, variable)
        raise NotASet(type(node).__name__)

    def _single(self, node: Node) -> Region:
        index = self.number(node)
        return Interval(index, True, index, True)

    def _interval(self, low: Node, low_closed: bool, high: Node, high_closed: bool) -> Region:
        left = None if is_infinite(low) else self.number(low)
        right = None if is_infinite(high) else self.number(high)
        return Interval(left, low_closed and left is not None, right, high_closed and right is not None)

    def _named(self, name: str) -> Region:
        if name == "R":
            return ALL
        zero = self.endpoint(arb(0))
        match name:
            case "R+":
                return Interval(zero, False, None, False)
            case "R-":
                return Interval(None, False, zero, False)
            case "R0+" | "R+0":
                return Interval(zero, True, None, False)
            case "R0-" | "R-0":
                return Interval(None, False, zero, True)
            case "R*":
                return Combination("not", (Interval(zero, True, zero, True),))
        raise NotASet(name)

    def _built(self, element: Node, condition: Node) -> Region:
        parts: tuple[Node, ...] = condition.items if isinstance(condition, Tuple) else (condition,)
        regions: list[Region] = []
        if isinstance(element, Relation) and element.operators == ("in",):
            regions.append(self.region(element.sides[1], None))
            element = element.sides[0]
        if not isinstance(element, Symbol):
            raise NotASet("a set of more than one variable")
        regions += [self.region(part, element.name) for part in parts]
        return Combination("and", tuple(regions))

    def _listed(self, items: tuple[Node, ...], joined_by: str, variable: str | None) -> Region:
        if all(isinstance(item, Tuple) for item in items):  # `(-oo, 2) and (3, oo)`
            return Combination("or", tuple(self.region(item, variable) for item in items))
        names = {variable_of(item) for item in items}
        if len(names) != 1 or None in names:
            raise NotASet("relations about different variables")
        regions = tuple(self.region(item, variable) for item in items)
        if joined_by == "or":
            return Combination("or", regions)
        both = Combination("and", regions)
        ranks = self.ranks()
        if joined_by == "comma" and not mask(both, ranks, 2 * (max(ranks, default=-1) + 1) + 1):
            return Combination("or", regions)  # `x < 1, x > 3`: no number is both
        return both
