"""Certified values: a tree at a point -> a ball that surely holds its value (arb and acb of FLINT).

Expressions are partial functions. In the reals, odd roots of negative numbers are real; with complex values
every root, power and logarithm takes its principal branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flint import acb, arb, ctx, fmpq, fmpz

from verifiers.math.compare import budget
from verifiers.math.compare.errors import NotComparable, TooCostly, Unclear, Undefined
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

Ball = Any
"""`arb` or `acb`."""

MAX_TERMS = 2_000
"""Terms of one finite sum or product."""
MAX_LOG2 = 64
"""Bits of the largest argument of an exponential, power or factorial."""


class Evaluator:
    """Evaluates trees at points."""

    def __init__(self, *, complex_values: bool, log_base: str) -> None:
        self.complex_values = complex_values
        self.log_base = log_base
        self.step_units = 1
        self.spread = 0
        """Most bits by which the terms of a sum differed in size: what a coarser ball could hide."""
        self.point: dict[str, Ball] = {}

    def at(self, node: Node, point: Mapping[str, fmpq | tuple[fmpq, fmpq]], precision: int) -> Ball:
        """The ball of `node` at `point` with `precision` bits.

        Raises `Undefined` outside the domain, `Unclear` when that is not certain, `TooCostly`, `NotComparable`.
        """
        ctx.prec = precision
        self.step_units = 1 + precision // 256
        self.point = {name: self._lift(value) for name, value in point.items()}
        value = self.value(node)
        if not value.is_finite():
            raise Unclear
        return value

    def _lift(self, value: fmpq | tuple[fmpq, fmpq]) -> Ball:
        if isinstance(value, tuple):
            return acb(arb(value[0]), arb(value[1]))
        return acb(arb(value)) if self.complex_values else arb(value)

    def value(self, node: Node) -> Ball:
        """The ball of `node` at the current point."""
        budget.spend(self.step_units)
        match node:
            case Number(numerator, denominator):
                return self._lift(fmpq(numerator, denominator))
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
                return self.value(top) / self._divisor(self.value(bottom))
            case Power(base, exponent):
                return self._power(base, exponent)
            case Call(name, arguments):
                return self._call(name, arguments)
            case Quantity(value, unit):
                factor, dimensions, has_pi = resolve(unit)
                if dimensions == (("%", 1),):
                    return self.value(value) / 100
                if dimensions == (("rad", 1),):
                    scaled = self.value(value) * fmpq(factor.numerator, factor.denominator)
                    return scaled * arb.pi() if has_pi else scaled
            case Bounded():
                return self._bounded(node)
            case Apply():
                raise NotComparable("a function known by name only")
        raise NotComparable(f"no value: {type(node).__name__}")

    def _constant(self, name: str) -> Ball:
        match name:
            case "pi":
                return self._real(arb.pi())
            case "e":
                return self._real(arb.const_e())
            case "i" if self.complex_values:
                return acb(0, 1)
        raise NotComparable(f"no value: {name}")

    def _real(self, ball: arb) -> Ball:
        return acb(ball) if self.complex_values else ball

    def _sum(self, terms: tuple[Node, ...]) -> Ball:
        values = [self.value(term) for term in terms]
        sizes = [size for value in values if (size := log2_size(value)) is not None]
        if sizes:
            self.spread = max(self.spread, max(sizes) - min(sizes))
        total = values[0]
        for value in values[1:]:
            total += value
        return total

    def _divisor(self, ball: Ball) -> Ball:
        if ball.is_zero():
            raise Undefined
        if ball.contains(0):
            raise Unclear
        return ball

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
            return self._general_power(ball, self._lift(rational))
        return self._integer_power(self._nth_root(ball, int(rational.q)), rational.p)

    def _integer_power(self, ball: Ball, times: fmpz) -> Ball:
        if times.bit_length() > MAX_LOG2 - 2:
            raise TooCostly("a power of too many digits")
        if times < 0:
            return 1 / self._integer_power(self._divisor(ball), -times)
        return ball ** int(times)

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
            self._require_positive(ball)
        elif ball.contains(0):
            raise Unclear
        return self._exponential(exponent * ball.log())

    def _exponential(self, ball: Ball) -> Ball:
        self._require_moderate(ball)
        return ball.exp()

    def _require_moderate(self, ball: Ball) -> None:
        size = log2_size(ball)
        if size is not None and size > MAX_LOG2:
            raise TooCostly("a number of too many digits")

    def _require_positive(self, ball: arb) -> None:
        if ball > 0:
            return
        if ball <= 0:
            raise Undefined
        raise Unclear

    def _nth_root(self, ball: Ball, index: int) -> Ball:
        if self.complex_values:
            return ball.root(index) if index > 0 else 1 / self._divisor(ball.root(-index))
        if index < 0:
            return 1 / self._divisor(self._nth_root(ball, -index))
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
                return self._lift(exact(Call(name, arguments)))
            except (NotRational, TooCostly):
                pass
        if name == "root":
            try:
                index = exact(arguments[1])
            except NotRational:
                return self._general_power(
                    self.value(arguments[0]), 1 / self._divisor(self.value(arguments[1]))
                )
            if index.q != 1 or index == 0 or abs(index) > 10_000:
                raise NotComparable("a root of that index")
            return self._nth_root(self.value(arguments[0]), int(index))
        values = [self.value(argument) for argument in arguments]
        if name in {"log", "ln"}:
            return self._logarithm(name, values)
        function = _FUNCTIONS.get(name)
        if function is not None and len(values) == 1:
            return function(self, values[0])
        if name in {"min", "max"} and not self.complex_values:
            total = values[0]
            for value in values[1:]:
                total = getattr(total, name)(value)
            return total
        if name == "binomial":
            n, k = values
            return self._gamma(n + 1) / self._divisor(self._gamma(k + 1) * self._gamma(n - k + 1))
        raise NotComparable(f"no value: {name}")

    def _logarithm(self, name: str, values: list[Ball]) -> Ball:
        top = self._natural(values[0])
        if name == "ln" or (len(values) == 1 and self.log_base == "e"):
            return top
        base = values[1] if len(values) == 2 else self._lift(fmpq(int(self.log_base)))
        return top / self._divisor(self._natural(base))

    def _natural(self, ball: Ball) -> Ball:
        if ball.is_zero():
            raise Undefined
        if not self.complex_values:
            self._require_positive(ball)
        elif ball.contains(0):
            raise Unclear
        return ball.log()

    def _gamma(self, ball: Ball) -> Ball:
        self._require_moderate(ball)
        real = ball.real if self.complex_values else ball
        whole = real.unique_fmpz()
        if whole is not None and whole <= 0 and real.is_exact():
            raise Undefined
        return ball.gamma()

    def _one_real(self, ball: Ball) -> arb:
        """The real part of a ball that must be real."""
        if not self.complex_values:
            return ball
        if not ball.imag.is_zero():
            raise NotComparable("a function of real numbers only")
        return ball.real

    def step(self, ball: Ball, name: str) -> Ball:
        """floor, ceil and sign."""
        real = self._one_real(ball)
        value = real.floor() if name == "floor" else real.ceil() if name == "ceil" else real.sgn()
        if not value.is_exact():
            raise Unclear
        return self._real(value)

    def absolute(self, ball: Ball) -> Ball:
        """|ball|."""
        return self._real(abs(ball))

    def within(self, ball: Ball, name: str) -> Ball:
        """An inverse function; in the reals outside its domain it is undefined."""
        value = getattr(ball, name)()
        if not value.is_finite():
            if not self.complex_values and (abs(ball) > 1 or (name == "acosh" and ball < 1)):
                raise Undefined
            raise Unclear
        return value

    def ratio(self, ball: Ball, top: str, bottom: str) -> Ball:
        """A quotient of two functions, undefined at the zeros of the second."""
        divisor = self._divisor(getattr(ball, bottom)())
        return (getattr(ball, top)() if top else self._lift(fmpq(1))) / divisor

    def inverse_of_reciprocal(self, ball: Ball, name: str) -> Ball:
        """asec, acsc, acot."""
        if name == "acot":
            return arb.pi() / 2 - ball.atan()
        return self.within(1 / self._divisor(ball), "acos" if name == "asec" else "asin")

    def entire(self, ball: Ball, name: str) -> Ball:
        """A function defined everywhere; hyperbolic ones need a moderate argument."""
        if name in {"sinh", "cosh"}:
            self._require_moderate(ball)
        return getattr(ball, name)()

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
        total = self._lift(fmpq(0 if node.kind == "sum" else 1))
        outer = self.point
        for index in range(first, last + 1):
            self.point = {**outer, node.variable: self._lift(fmpq(index))}
            term = self.value(node.body)
            total = total + term if node.kind == "sum" else total * term
        self.point = outer
        return total

    def _whole(self, ball: Ball) -> int:
        real = self._one_real(ball)
        whole = real.unique_fmpz()
        if whole is None or not real.is_exact():
            raise Undefined
        if whole.bit_length() > MAX_LOG2:
            raise TooCostly("a bound of too many digits")
        return int(whole)

    def _integral(self, node: Bounded, lower: Node, upper: Node) -> Ball:
        """A definite integral of an analytic function over a finite interval."""
        ends = [acb(self._one_real(self.value(bound))) for bound in (lower, upper)]
        outer, complex_values = self.point, self.complex_values
        lifted = {name: acb(ball) for name, ball in outer.items()}
        self.complex_values = True

        def integrand(z: acb, _analytic: bool) -> acb:
            self.point = {**lifted, node.variable: z}
            try:
                return self.value(node.body)
            except (Undefined, Unclear):
                return acb("nan")

        try:
            value = acb.integral(integrand, *ends, eval_limit=2_000)
        finally:
            self.point, self.complex_values = outer, complex_values
        if not value.is_finite():
            raise NotComparable("an integral without an enclosure")
        return value if complex_values else value.real


def _entire(name: str) -> Callable[[Evaluator, Ball], Ball]:
    return lambda evaluator, ball: evaluator.entire(ball, name)


def _ratio(top: str, bottom: str) -> Callable[[Evaluator, Ball], Ball]:
    return lambda evaluator, ball: evaluator.ratio(ball, top, bottom)


def _inverse(name: str) -> Callable[[Evaluator, Ball], Ball]:
    return lambda evaluator, ball: evaluator.within(ball, name)


def _reciprocal(name: str) -> Callable[[Evaluator, Ball], Ball]:
    return lambda evaluator, ball: evaluator.inverse_of_reciprocal(ball, name)


_FUNCTIONS: dict[str, Callable[[Evaluator, Ball], Ball]] = {
    **{name: _entire(name) for name in ("sin", "cos", "sinh", "cosh", "tanh", "atan", "asinh", "erf")},
    **{name: _inverse(name) for name in ("asin", "acos", "acosh", "atanh")},
    **{name: _reciprocal(name) for name in ("asec", "acsc", "acot")},
    "tan": _ratio("sin", "cos"),
    "cot": _ratio("cos", "sin"),
    "sec": _ratio("", "cos"),
    "csc": _ratio("", "sin"),
    "coth": _ratio("cosh", "sinh"),
    "sech": _ratio("", "cosh"),
    "csch": _ratio("", "sinh"),
    "abs": Evaluator.absolute,
    "floor": lambda evaluator, ball: evaluator.step(ball, "floor"),
    "ceil": lambda evaluator, ball: evaluator.step(ball, "ceil"),
    "sign": lambda evaluator, ball: evaluator.step(ball, "sign"),
    "factorial": lambda evaluator, ball: evaluator._gamma(ball + 1),
    "re": lambda evaluator, ball: acb(ball.real) if evaluator.complex_values else ball,
    "im": lambda evaluator, ball: acb(ball.imag) if evaluator.complex_values else ball * 0,
    "conjugate": lambda evaluator, ball: ball.conjugate() if evaluator.complex_values else ball,
    "arg": lambda evaluator, ball: acb(acb(ball).arg()) if evaluator.complex_values else acb(ball).arg(),
}


def log2_size(ball: Ball) -> int | None:
    """log2 of the size of the middle of a ball, rounded; None for a ball around zero."""
    middle = ball.abs_upper() if isinstance(ball, acb) else ball.mid()
    if not middle.is_finite() or middle.is_zero():
        return None
    mantissa, exponent = middle.mid().man_exp() if isinstance(middle, arb) else middle.man_exp()
    return int(mantissa.bit_length() + exponent)
