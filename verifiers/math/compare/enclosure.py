"""Certified values: a tree at a point -> a ball that surely holds its value (arb and acb of FLINT).

Expressions are partial functions. In the reals, odd roots of negative numbers are real; with complex values
every root, power and logarithm takes its principal branch.
"""

from __future__ import annotations

from collections.abc import Mapping

from flint import acb, arb, ctx, fmpq, fmpz

from verifiers.math.compare import budget
from verifiers.math.compare.errors import ComparisonError, NotComparable, TooCostly, Unclear, Undefined
from verifiers.math.compare.functions import FUNCTIONS, MAX_LOG2, Ball, Functions, log2_size
from verifiers.math.compare.rational import NotRational, exact
from verifiers.math.read.units import resolve
from verifiers.math.tree import (
    Apply,
    Bounded,
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

MAX_TERMS = 2_000
"""Terms of one finite sum or product."""
MAX_EVALUATIONS = 1_000
"""Of the body of one integral."""
MAX_INDEX = 10_000
"""Index of a root that is taken as such."""


class Evaluator(Functions):
    """Evaluates trees at points."""

    def __init__(self, *, complex_values: bool, log_base: str) -> None:
        self.complex_values = complex_values
        self.analytic = False
        self.log_base = log_base
        self.step_units = 1
        self.spread = 0
        """Most bits by which the terms of a sum differed in size: what a coarser ball could hide."""
        self.point: dict[str, Ball] = {}

    def at(self, node: Node, point: Mapping[str, fmpq | tuple[fmpq, fmpq]], precision: int) -> Ball:
        """The ball of `node` at `point` with `precision` bits.

        Raises `Undefined` outside the domain, `Unclear` when that is not certain, `TooCostly`,
        `NotComparable`.
        """
        ctx.prec = precision
        self.step_units = 1 + precision // 256
        self.point = {name: self.lift(value) for name, value in point.items()}
        value = self.value(node)
        if not value.is_finite():
            raise Unclear
        return value

    def value(self, node: Node) -> Ball:
        """The ball of `node` at the current point."""
        budget.spend(self.step_units)
        match node:
            case Number(numerator, denominator):
                return self.lift(fmpq(numerator, denominator))
            case Symbol(name) if name in self.point:
                return self.point[name]
            case Constant(name):
                return self._constant(name)
            case Sum(terms):
                return self._sum(terms)
            case Product(factors):
                total = self.value(factors[0])
                for factor in factors[1:]:
                    total *= self.value(factor)
                return total
            case Quotient(top, bottom):
                return self.value(top) / self.divisor(self.value(bottom))
            case Power(base, exponent):
                return self._power(base, exponent)
            case Call(name, arguments):
                return self._call(name, arguments)
            case Quantity(value, unit):
                return self._scaled(self.value(value), unit)
            case Bounded():
                return self._bounded(node)
            case Apply():
                raise NotComparable("a function known by name only")
        raise NotComparable(f"no value: {type(node).__name__}")

    def _scaled(self, ball: Ball, unit: tuple[tuple[str, int], ...]) -> Ball:
        """A percentage or an angle as a plain number."""
        factor, dimensions, has_pi = resolve(unit)
        if dimensions == (("%", 1),):
            return ball / 100
        if dimensions != (("rad", 1),):
            raise NotComparable("a quantity within an expression")
        scaled = ball * fmpq(factor.numerator, factor.denominator)
        return scaled * arb.pi() if has_pi else scaled

    def _constant(self, name: str) -> Ball:
        match name:
            case "pi":
                return self.real(arb.pi())
            case "e":
                return self.real(arb.const_e())
            case "i" if self.complex_values:
                return acb(0, 1)
        raise NotComparable(f"no value: {name}")

    def _sum(self, terms: tuple[Node, ...]) -> Ball:
        values = [self.value(term) for term in terms]
        sizes = [size for value in values if (size := log2_size(value)) is not None]
        if sizes:
            self.spread = max(self.spread, max(sizes) - min(sizes))
        total = values[0]
        for value in values[1:]:
            total += value
        return total

    # powers

    def _power(self, base: Node, exponent: Node) -> Ball:
        try:
            rational = exact(exponent)
        except NotRational:
            return self._real_power(base, self.value(exponent))
        ball = self.value(base)
        if rational.q == 1:
            return self._integer_power(ball, rational.p)
        if self.complex_values:
            return self._general_power(ball, self.lift(rational))
        return self._real_root_power(ball, rational)

    def _integer_power(self, ball: Ball, times: fmpz) -> Ball:
        if times.bit_length() > MAX_LOG2 - 2:
            raise TooCostly("a power of too many digits")
        if times < 0:
            return 1 / self._integer_power(self.divisor(ball), -times)
        return ball ** int(times)

    def _real_root_power(self, ball: Ball, exponent: fmpq) -> Ball:
        """By the logarithm when the index may be too large for a word of the machine."""
        if exponent.q <= MAX_INDEX:
            return self._integer_power(self._nth_root(ball, int(exponent.q)), exponent.p)
        if not ball < 0:
            return self._general_power(ball, self.lift(exponent))
        if exponent.q % 2 == 0:
            raise Undefined
        size = self._general_power(-ball, self.lift(exponent))
        return -size if exponent.p % 2 else size

    def _real_power(self, base: Node, exponent: Ball) -> Ball:
        if base == Constant("e"):
            return self._exponential(exponent)
        ball = self.value(base)
        whole = exponent.unique_fmpz()
        if whole is not None and (
            exponent.is_exact() if not self.complex_values else exponent.real.is_exact()
        ):
            return self._integer_power(ball, whole)
        return self._general_power(ball, exponent)

    def _general_power(self, ball: Ball, exponent: Ball) -> Ball:
        if ball.is_zero():
            real = exponent.real if self.complex_values else exponent
            if real > 0:
                return ball
            raise Undefined
        if not self.complex_values:
            self.require_positive(ball)
        elif ball.contains(0):
            raise Unclear
        return self._exponential(exponent * self.natural(ball))

    def _exponential(self, ball: Ball) -> Ball:
        self.require_moderate(ball)
        return ball.exp()

    def _nth_root(self, ball: Ball, index: int) -> Ball:
        if self.complex_values:
            self.require_off_cut(ball)
            return ball.root(index) if index > 0 else 1 / self.divisor(ball.root(-index))
        if index < 0:
            return 1 / self.divisor(self._nth_root(ball, -index))
        if ball.is_zero():
            return ball
        if ball > 0:
            return ball.root(index)
        if ball < 0:
            if index % 2:
                return -((-ball).root(index))
            raise Undefined
        raise Unclear

    # functions

    def _call(self, name: str, arguments: tuple[Node, ...]) -> Ball:
        if name in {"factorial", "binomial", "double_factorial", "gcd", "lcm"}:
            try:
                return self.lift(exact(Call(name, arguments)))
            except (NotRational, TooCostly):
                pass
        if name == "root":
            try:
                index = exact(arguments[1])
            except NotRational:
                return self._general_power(
                    self.value(arguments[0]), 1 / self.divisor(self.value(arguments[1]))
                )
            if index.q != 1 or index == 0 or abs(index) > MAX_INDEX:
                raise NotComparable("a root of that index")
            return self._nth_root(self.value(arguments[0]), int(index))
        if name in {"sin", "cos"} and (turns := self.half_turns(arguments[0])) is not None:
            return turns.sin_pi() if name == "sin" else turns.cos_pi()
        values = [self.value(argument) for argument in arguments]
        if name in {"log", "ln"}:
            return self.logarithm(name, values)
        function = FUNCTIONS.get(name)
        if function is not None and len(values) == 1:
            return function(self, values[0])
        if name in {"min", "max"} and not self.complex_values:
            total = values[0]
            for value in values[1:]:
                total = getattr(total, name)(value)
            return total
        if name == "binomial":
            n, k = values
            return self.gamma(n + 1) / self.divisor(self.gamma(k + 1) * self.gamma(n - k + 1))
        raise NotComparable(f"no value: {name}")

    # operators that bind a variable

    def _bounded(self, node: Bounded) -> Ball:
        if node.kind in {"sum", "prod"} and node.lower is not None and node.upper is not None:
            return self._finite(node, node.lower, node.upper)
        if node.kind == "int" and node.lower is not None and node.upper is not None:
            return self._integral(node, node.lower, node.upper)
        raise NotComparable(f"no value: {node.kind}")

    def _finite(self, node: Bounded, lower: Node, upper: Node) -> Ball:
        first, last = (self._whole(self.value(bound)) for bound in (lower, upper))
        if last - first > MAX_TERMS:
            raise TooCostly("a sum of too many terms")
        if last < first - 1:
            raise Undefined
        total = self.lift(fmpq(0 if node.kind == "sum" else 1))
        outer = self.point
        for index in range(first, last + 1):
            self.point = {**outer, node.variable: self.lift(fmpq(index))}
            term = self.value(node.body)
            total = total + term if node.kind == "sum" else total * term
        self.point = outer
        return total

    def _whole(self, ball: Ball) -> int:
        real = self.one_real(ball)
        whole = real.unique_fmpz()
        if whole is None or not real.is_exact():
            raise Undefined
        if whole.bit_length() > MAX_LOG2:
            raise TooCostly("a bound of too many digits")
        return int(whole)

    def _integral(self, node: Bounded, lower: Node, upper: Node) -> Ball:
        """A definite integral over a finite interval where the body is analytic."""
        begin, end = (acb(self.one_real(self.value(bound))) for bound in (lower, upper))
        outer, complex_values = self.point, self.complex_values
        lifted = {name: acb(ball) for name, ball in outer.items()}
        self.complex_values = True

        def integrand(z: acb, analytic: bool) -> Ball:
            self.point = {**lifted, node.variable: z}
            self.analytic = analytic
            try:
                return self.value(node.body)
            except ComparisonError:  # FLINT takes no exception, and looks at smaller pieces
                return acb("nan")

        try:
            value = acb.integral(integrand, begin, end, eval_limit=MAX_EVALUATIONS)
        finally:
            self.point, self.complex_values, self.analytic = outer, complex_values, False
        budget.spend(0)  # raises what it raised within
        if not value.is_finite() or value.rel_accuracy_bits() < ctx.prec // 4:
            raise NotComparable("an integral without an enclosure")
        return value if complex_values else value.real
