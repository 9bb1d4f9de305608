"""The ladder for two values: exact where that is possible, certified enclosures where it is not.

Every step either decides and says so in `route`, or leaves the pair to the next:
identical -> exact -> polynomial (modulo primes where expanding costs too much) -> enclosure (different) ->
root_bound -> numeric_agreement; a limit or an infinite sum is first put in closed form (route `sympy`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from flint import arb, fmpq

from verifiers.math.compare.closed_forms import closed, has_open_operator
from verifiers.math.compare.enclosure import Evaluator
from verifiers.math.compare.errors import ComparisonError, NotComparable, TooCostly, Unclear, Undefined
from verifiers.math.compare.fractions import NotPolynomial, Polynomial
from verifiers.math.compare.functions import Ball
from verifiers.math.compare.modular import modular_difference
from verifiers.math.compare.points import Coordinate, points
from verifiers.math.compare.policy import Outcome, Policy
from verifiers.math.compare.polynomial import Forms
from verifiers.math.compare.rational import NotRational, exact
from verifiers.math.compare.root_bound import NotAlgebraic, RootBound
from verifiers.math.traverse import free_symbols, name_applications, walk
from verifiers.math.tree import Apply, Bounded, Constant, Node, Number, Product, Sum

COARSE, FINE = 64, 400
"""Bits: the first look, and the least precision at which agreement counts (more than 100 digits)."""
AGREEING_POINTS = 8
MAX_PRECISION = 20_000
MAX_ZERO_TERMS = 40
"""Terms and degree of the divisors whose zeros are compared."""

DOMAIN_DIFFERS = "domain_differs"


def compare_values(truth: Node, response: Node, policy: Policy) -> Outcome:
    """Whether two expressions have the same value wherever both have one. Raises `ComparisonError`."""
    if truth == response:
        return Outcome(equal=True, route="identical")
    kinds = {type(part) for tree in (truth, response) for part in walk(tree)}
    if Apply in kinds:
        truth, response = name_applications(truth), name_applications(response)
    if Bounded in kinds and (has_open_operator(truth) or has_open_operator(response)):
        return _by_closed_forms(truth, response, policy)
    try:
        return (
            _exact(truth, response, policy)
            or _polynomial(truth, response, policy)
            or _numeric(truth, response, policy)
        )
    except NotComparable:
        if not any(
            isinstance(part, Bounded) and part.kind == "int" for part in (*walk(truth), *walk(response))
        ):
            raise
    return _by_closed_forms(truth, response, policy)  # no enclosure, as with sqrt(x) from 0


def _by_closed_forms(truth: Node, response: Node, policy: Policy) -> Outcome:
    """The ladder once more, with what sympy makes of limits and infinite sums."""
    forms = closed(truth), closed(response)
    if forms == (truth, response):
        raise NotComparable("an integral that stays one")
    if any(Constant("oo") in walk(form) for form in forms):
        return Outcome(equal=forms[0] == forms[1], route="sympy")
    outcome = compare_values(forms[0], forms[1], policy)
    flags = outcome.flags | {"unproven"} if outcome.equal else outcome.flags
    return replace(outcome, route="sympy", flags=flags)


def _exact(truth: Node, response: Node, policy: Policy) -> Outcome | None:
    if policy.rounded and isinstance(truth, Number) and truth.places is not None:
        return None
    values = []
    for node in (truth, response):
        try:
            values.append(exact(node))
        except NotRational:
            return None
        except Undefined:
            return Outcome(equal=False, route="exact", reason="undefined_value")
        except TooCostly:
            return None
    return Outcome(equal=values[0] == values[1], route="exact")


def is_complex(*nodes: Node) -> bool:
    """Whether the imaginary unit occurs."""
    return any(part == Constant("i") for node in nodes for part in walk(node))


def _polynomial(truth: Node, response: Node, policy: Policy) -> Outcome | None:
    if policy.rounded and isinstance(truth, Number):
        return None
    try:
        forms = Forms(truth, response, complex_values=is_complex(truth, response))
        left = forms.of(truth)
        left_divisors, forms.divisors = forms.divisors, []
        right = forms.of(response)
        difference = forms.plus(left, forms.times(right, forms.constant(fmpq(-1)))).numerator
        if forms.vanishes(difference):
            same = _zeros(forms, left_divisors) == _zeros(forms, forms.divisors)
            return Outcome(True, "polynomial", frozenset() if same else frozenset((DOMAIN_DIFFERS,)))
    except Undefined:
        return Outcome(equal=False, route="polynomial", reason="undefined_value")
    except (NotPolynomial, NotRational, TooCostly):
        return _modular(truth, response)
    if all(isinstance(key, str) for key in forms.keys) and not forms.relations:
        return Outcome(equal=False, route="polynomial")
    return None


def _modular(truth: Node, response: Node) -> Outcome | None:
    match modular_difference(truth, response):
        case None:
            return None
        case True:
            return Outcome(equal=False, route="polynomial_modular")
    return Outcome(True, "polynomial_modular", frozenset(("unproven",)))


def _zeros(forms: Forms, divisors: list[Polynomial]) -> str:
    """The zero set of a product of divisors, as the text of its square-free part."""
    total = forms.context.constant(1)
    for divisor in divisors:
        if len(total) * len(divisor) > MAX_ZERO_TERMS or sum(divisor.degrees()) > MAX_ZERO_TERMS:
            return "many"
        total *= divisor
    _, factors = total.factor_squarefree() if not total.is_constant() else (1, [])
    return str(sorted(str(factor / factor.leading_coefficient()) for factor, _ in factors))


class _Sampler:
    """Evaluates both trees at common points."""

    def __init__(self, truth: Node, response: Node, policy: Policy) -> None:
        complex_values = is_complex(truth, response) or policy.complex_letters
        complex_values = complex_values or any(kind == "complex" for _, kind in policy.assume)
        self.trees = (truth, response)
        self.evaluator = Evaluator(complex_values=complex_values, log_base=policy.log_base)
        self.names = sorted(free_symbols(truth) | free_symbols(response))
        self.points = points(self.names, dict(policy.assume), complex_letters=policy.complex_letters)
        self.domain_differs = False

    def pair(self, point: Mapping[str, Coordinate], precision: int) -> tuple[Ball, Ball] | None:
        """Both values at `point`, or None outside the common domain."""
        balls = []
        for tree in self.trees:
            try:
                balls.append(self.evaluator.at(tree, point, precision))
            except Undefined:
                balls.append(None)
        if (balls[0] is None) != (balls[1] is None):
            self.domain_differs = True
        return None if None in balls else (balls[0], balls[1])


def _numeric(truth: Node, response: Node, policy: Policy) -> Outcome:
    sampler = _Sampler(truth, response, policy)
    if policy.rounded and isinstance(truth, Number) and truth.places is not None:
        return _rounds_to(sampler, truth)
    agreeing = 0
    for point in sampler.points:
        try:
            decided = _at(sampler, point)
        except Unclear:
            continue
        if decided is False:
            return Outcome(equal=False, route="enclosure")
        agreeing += decided is True
        if agreeing >= AGREEING_POINTS or not sampler.names:
            break
    flags = frozenset((DOMAIN_DIFFERS,)) if sampler.domain_differs else frozenset[str]()
    if not sampler.names and agreeing:
        return _constants(sampler)
    if agreeing >= AGREEING_POINTS:
        return Outcome(True, "numeric_agreement", flags | {"unproven"})
    if not sampler.names and sampler.domain_differs:
        return Outcome(equal=False, route="enclosure", reason="undefined_value")
    raise NotComparable("too few points in the common domain")


def _at(sampler: _Sampler, point: Mapping[str, Coordinate]) -> bool | None:
    """True: agreement to more digits than anything could hide; False: certainly different; None: no value."""
    for precision in (COARSE, FINE):
        try:
            pair = sampler.pair(point, precision)
        except Unclear:
            if precision == COARSE:
                continue
            raise
        if pair is None:
            return None
        if separated(*pair):
            return False
    needed = FINE + 2 * sampler.evaluator.spread
    if needed > MAX_PRECISION:
        raise TooCostly("terms of too different size")
    pair = sampler.pair(point, needed) if needed > FINE else pair
    if pair is None or not _close(*pair, FINE - 50):
        raise Unclear
    return not separated(*pair)


def separated(a: Ball, b: Ball) -> bool:
    """Whether two balls have no number in common."""
    return not a.overlaps(b)


def _close(a: Ball, b: Ball, bits: int) -> bool:
    """Whether the balls are within 2**-bits of each other, relative to their size (absolutely below
    1e-30)."""
    difference = (a - b).abs_upper()
    scale = a.abs_upper() + b.abs_upper()
    return bool(difference <= (scale + arb(2) ** -100) * arb(2) ** -bits)


def _constants(sampler: _Sampler) -> Outcome:
    """Two constants that agree to FINE bits: proven equal by a root bound where they are algebraic."""
    difference = Sum((sampler.trees[0], Product((Number(-1), sampler.trees[1]))))
    try:
        bits = RootBound().bits(difference)
    except (NotAlgebraic, ComparisonError, OverflowError):
        return Outcome(True, "numeric_agreement", frozenset(("unproven",)))
    if bits > MAX_PRECISION:
        return Outcome(True, "numeric_agreement", frozenset(("unproven",)))
    pair = sampler.pair({}, int(bits) + 2 * FINE)
    if pair is None or separated(*pair):
        return Outcome(equal=False, route="enclosure")
    gap = (pair[0] - pair[1]).abs_upper()
    if gap < arb(2) ** -(int(bits) + 2):
        return Outcome(True, "root_bound")
    return Outcome(True, "numeric_agreement", frozenset(("unproven",)))


def _rounds_to(sampler: _Sampler, truth: Number) -> Outcome:
    """Whether the response rounds to a decimal ground truth at its digits."""
    pair = sampler.pair({}, FINE) if not sampler.names else None
    if pair is None:
        return Outcome(equal=False, route="rounded")
    half = arb(fmpq(1, 2 * 10 ** (truth.places or 0)))
    distance = abs(pair[0] - pair[1])  # of complex balls, too, a real ball
    return Outcome(equal=bool(distance <= half) or not bool(distance > half), route="rounded")
