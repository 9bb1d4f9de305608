"""Equations, inequalities, ratios and congruences."""

from __future__ import annotations

from collections.abc import Callable

from flint import fmpq

from verifiers.math.compare.enclosure import Evaluator
from verifiers.math.compare.errors import NotComparable, Unclear, Undefined
from verifiers.math.compare.fractions import NotPolynomial
from verifiers.math.compare.points import points
from verifiers.math.compare.policy import Outcome, Policy
from verifiers.math.compare.polynomial import Forms
from verifiers.math.compare.rational import NotRational, exact
from verifiers.math.compare.values import AGREEING_POINTS, FINE, is_complex, separated
from verifiers.math.traverse import free_symbols, name_applications, negated
from verifiers.math.tree import Congruence, Node, Product, Quotient, Ratio, Relation, Sum, Symbol

Compare = Callable[[Node, Node], Outcome]

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!=", "~": "~"}
_DIFFERENT = Outcome(equal=False, route="relation")


def compare_relations(truth: Relation, response: Relation, policy: Policy, compare: Compare) -> Outcome:
    """Two relations that are no sets of one variable: by the ratio of their differences, or side by side."""
    if len(truth.operators) == 1 == len(response.operators):
        return _single(_downward(truth), _downward(response), policy)
    if set(truth.operators) == {"="} == set(response.operators):
        return _chains_of_equations(truth, response, compare)
    for candidate in (response, _reversed(response)):
        if candidate.operators == truth.operators:
            pairs = zip(truth.sides, candidate.sides, strict=True)
            if all(compare(a, b).equal for a, b in pairs):
                return Outcome(equal=True, route="relation")
    return _DIFFERENT


def _chains_of_equations(truth: Relation, response: Relation, compare: Compare) -> Outcome:
    if len(truth.sides) != len(response.sides):
        return _DIFFERENT
    left = list(response.sides)
    for side in truth.sides:
        match = next((other for other in left if compare(side, other).equal), None)
        if match is None:
            return _DIFFERENT
        left.remove(match)
    return Outcome(equal=True, route="relation")


def _reversed(relation: Relation) -> Relation:
    return Relation(relation.sides[::-1], tuple(_FLIPPED.get(op, op) for op in relation.operators[::-1]))


def _downward(relation: Relation) -> Relation:
    """With > and >= turned into < and <=."""
    return _reversed(relation) if relation.operators[0] in {">", ">="} else relation


def _single(truth: Relation, response: Relation, policy: Policy) -> Outcome:
    operator = truth.operators[0]
    if operator != response.operators[0]:
        return _DIFFERENT
    sign = ratio_sign(name_applications(_difference(truth)), name_applications(_difference(response)), policy)
    ordered = operator in {"<", "<="}
    equal = sign > 0 if ordered else sign != 0
    return Outcome(equal=equal, route="relation")


def _difference(relation: Relation) -> Node:
    left, right = relation.sides
    return Sum((left, negated(right)))


def ratio_sign(a: Node, b: Node, policy: Policy) -> int:
    """The sign of a / b when that is one and the same constant everywhere; 0 when it is not."""
    try:
        return _polynomial_ratio(a, b)
    except (NotPolynomial, NotRational):
        return _numeric_ratio(a, b, policy)
    except Undefined:
        return 0


def _polynomial_ratio(a: Node, b: Node) -> int:
    forms = Forms(a, b, complex_values=is_complex(a, b))
    first, second = forms.reduced(forms.of(a)).numerator, forms.reduced(forms.of(b)).numerator
    if forms.relations:
        raise NotPolynomial
    if first.is_zero() or second.is_zero():
        return 0
    ratio = first.leading_coefficient() / second.leading_coefficient()
    if first != second * ratio:
        if any(not isinstance(key, str) for key in forms.keys):
            raise NotPolynomial
        return 0
    return 1 if ratio > 0 else -1


def _numeric_ratio(a: Node, b: Node, policy: Policy) -> int:
    evaluator = Evaluator(complex_values=is_complex(a, b), log_base=policy.log_base)
    names = sorted(free_symbols(a) | free_symbols(b))
    ratio, seen = None, 0
    for point in points(names, dict(policy.assume), complex_letters=False):
        try:
            top, bottom = (evaluator.at(node, point, FINE) for node in (a, b))
        except (Undefined, Unclear):
            continue
        if bottom.contains(0):
            if not top.contains(0):
                return 0
            continue
        value = top / bottom
        if ratio is not None and separated(ratio, value):
            return 0
        ratio, seen = value, seen + 1
        if seen >= AGREEING_POINTS:
            break
    if ratio is None or seen < AGREEING_POINTS:
        if names:
            raise NotComparable("too few points in the common domain")
        return 0
    real = ratio.real if hasattr(ratio, "real") else ratio
    return 0 if ratio.contains(0) else 1 if real > 0 else -1


def compare_ratios(truth: Ratio, response: Ratio, compare: Compare) -> Outcome:
    """1 : 2 = 2 : 4."""
    if len(truth.parts) != len(response.parts):
        return _DIFFERENT
    first, other = truth.parts[0], response.parts[0]
    for a, b in zip(truth.parts[1:], response.parts[1:], strict=True):
        if not compare(Product((first, b)), Product((a, other))).equal:
            return _DIFFERENT
    return Outcome(equal=True, route="exact")


def ratio_as_value(ratio: Ratio) -> Node | None:
    """a : b as a / b."""
    return Quotient(*ratio.parts) if len(ratio.parts) == 2 else None


def compare_congruences(truth: Congruence, response: Congruence, compare: Compare) -> Outcome:
    """The same modulus, and residues that differ by a multiple of it."""
    unsaid = Symbol("?") in {truth.left, response.left}  # `3 mod 7`
    if not unsaid and not compare(truth.left, response.left).equal:
        return _DIFFERENT
    if not compare(truth.modulus, response.modulus).equal:
        return _DIFFERENT
    try:
        quotient: fmpq = (exact(truth.right) - exact(response.right)) / exact(truth.modulus)
    except (NotRational, Undefined, ZeroDivisionError):
        return compare(truth.right, response.right)
    return Outcome(equal=quotient.q == 1, route="exact")
