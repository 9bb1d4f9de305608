"""Elementary functions on balls, with their domains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import acb, arb, fmpq

from verifiers.math.compare.errors import NotComparable, TooCostly, Unclear, Undefined
from verifiers.math.tree import Constant, Node, Number, Product, Quotient, Sum

Ball = Any
"""`arb` or `acb`."""

MAX_LOG2 = 64
"""Bits of the largest argument of an exponential, power or factorial."""


class Functions:
    """Functions of real balls, or of complex ones with principal branches."""

    complex_values: bool
    log_base: str
    analytic: bool
    """Within an integral: a function that is not analytic throughout the ball has no value there."""

    def lift(self, value: fmpq | tuple[fmpq, fmpq]) -> Ball:
        if isinstance(value, tuple):
            return acb(arb(value[0]), arb(value[1]))
        return acb(arb(value)) if self.complex_values else arb(value)

    def real(self, ball: arb) -> Ball:
        return acb(ball) if self.complex_values else ball

    def divisor(self, ball: Ball) -> Ball:
        if ball.is_zero():
            raise Undefined
        if ball.contains(0):
            raise Unclear
        return ball

    def require_moderate(self, ball: Ball) -> None:
        size = log2_size(ball)
        if size is not None and size > MAX_LOG2:
            raise TooCostly("a number of too many digits")

    def require_off_cut(self, ball: acb, cut: str = "negative") -> None:
        """Raise `Unclear` where a value must be analytic and the ball may touch the cut of its branch."""
        if not self.analytic:
            return
        safe = {
            "negative": not ball.imag.contains(0) or ball.real > 0,
            "below 1": not ball.imag.contains(0) or ball.real > 1,
            "beyond 1": not ball.imag.contains(0) or abs(ball.real) < 1,
            "beyond i": not ball.real.contains(0) or abs(ball.imag) < 1,
        }
        if not safe[cut]:
            raise Unclear

    def require_positive(self, ball: arb) -> None:
        if ball > 0:
            return
        if ball <= 0:
            raise Undefined
        raise Unclear

    def logarithm(self, name: str, values: list[Ball]) -> Ball:
        top = self.natural(values[0])
        if name == "ln" or (len(values) == 1 and self.log_base == "e"):
            return top
        base = values[1] if len(values) == 2 else self.lift(fmpq(int(self.log_base)))
        return top / self.divisor(self.natural(base))

    def natural(self, ball: Ball) -> Ball:
        if ball.is_zero():
            raise Undefined
        if not self.complex_values:
            self.require_positive(ball)
        elif ball.contains(0):
            raise Unclear
        else:
            self.require_off_cut(ball)
        return ball.log()

    def gamma(self, ball: Ball) -> Ball:
        self.require_moderate(ball)
        real = ball.real if self.complex_values else ball
        whole = real.unique_fmpz()
        if whole is not None and whole <= 0 and real.is_exact():
            raise Undefined
        return ball.gamma()

    def value(self, node: Node) -> Ball:
        """The ball of `node` at the current point; defined by `Evaluator`."""
        raise NotImplementedError

    def half_turns(self, node: Node) -> Ball | None:
        """The ball of `node` over pi where that needs no division: sin(n pi) is zero, not nearly so."""
        match node:
            case Constant("pi"):
                return self.lift(fmpq(1))
            case Quotient(top, bottom) if (turns := self.half_turns(top)) is not None:
                return turns / self.divisor(self.value(bottom))
            case Product(factors) if Constant("pi") in factors:
                others = list(factors)
                others.remove(Constant("pi"))
                return self.value(Product((Number(1), *others)))
            case Sum(terms):
                total: Ball = self.lift(fmpq(0))
                for term in terms:
                    part = self.half_turns(term)
                    if part is None:
                        return None
                    total += part
                return total
        return None

    def one_real(self, ball: Ball) -> Any:
        """The real part (`arb`) of a ball that must be real."""
        if not self.complex_values:
            return ball
        if not ball.imag.is_zero():
            raise NotComparable("a function of real numbers only")
        return ball.real

    def step(self, ball: Ball, name: str) -> Ball:
        """floor, ceil and sign."""
        real = self.one_real(ball)
        value = real.floor() if name == "floor" else real.ceil() if name == "ceil" else real.sgn()
        if not value.is_exact():
            raise Unclear
        return self.real(value)

    def absolute(self, ball: Ball) -> Ball:
        """|ball|; within an integral continued from the real line."""
        if not self.analytic:
            return self.real(abs(ball))
        if ball.real.contains(0):
            raise Unclear
        return ball if ball.real > 0 else -ball

    def part(self, ball: Ball, value: Any) -> Ball:
        """The real part and the like: `value`, which is nowhere analytic."""
        if self.analytic:
            raise Unclear
        if self.complex_values:
            return acb(value)
        return value.real if isinstance(value, acb) else value

    def within(self, ball: Ball, name: str) -> Ball:
        """An inverse function; in the reals outside its domain it is undefined."""
        self.require_off_cut(ball, "below 1" if name == "acosh" else "beyond 1")
        value = getattr(ball, name)()
        if not value.is_finite():
            if not self.complex_values and (abs(ball) > 1 or (name == "acosh" and ball < 1)):
                raise Undefined
            raise Unclear
        return value

    def ratio(self, ball: Ball, top: str, bottom: str) -> Ball:
        """A quotient of two functions, undefined at the zeros of the second."""
        divisor = self.divisor(getattr(ball, bottom)())
        return (getattr(ball, top)() if top else self.lift(fmpq(1))) / divisor

    def inverse_of_reciprocal(self, ball: Ball, name: str) -> Ball:
        """asec, acsc, acot."""
        if name == "acot":
            return arb.pi() / 2 - self.entire(ball, "atan")
        return self.within(1 / self.divisor(ball), "acos" if name == "asec" else "asin")

    def entire(self, ball: Ball, name: str) -> Ball:
        """A function defined everywhere; hyperbolic ones need a moderate argument."""
        if name in {"atan", "asinh"}:
            self.require_off_cut(ball, "beyond i")
        if name in {"sinh", "cosh"}:
            self.require_moderate(ball)
        return getattr(ball, name)()


def _entire(name: str) -> Callable[[Functions, Ball], Ball]:
    return lambda functions, ball: functions.entire(ball, name)


def _ratio(top: str, bottom: str) -> Callable[[Functions, Ball], Ball]:
    return lambda functions, ball: functions.ratio(ball, top, bottom)


def _inverse(name: str) -> Callable[[Functions, Ball], Ball]:
    return lambda functions, ball: functions.within(ball, name)


def _reciprocal(name: str) -> Callable[[Functions, Ball], Ball]:
    return lambda functions, ball: functions.inverse_of_reciprocal(ball, name)


def log2_size(ball: Ball) -> int | None:
    """log2 of the size of the middle of a ball, rounded; None for a ball around zero."""
    middle = ball.abs_upper() if isinstance(ball, acb) else ball.mid()
    if not middle.is_finite() or middle.is_zero():
        return None
    mantissa, exponent = middle.mid().man_exp() if isinstance(middle, arb) else middle.man_exp()
    return int(mantissa.bit_length() + exponent)


FUNCTIONS: dict[str, Callable[[Functions, Ball], Ball]] = {
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
    "abs": Functions.absolute,
    "floor": lambda functions, ball: functions.step(ball, "floor"),
    "ceil": lambda functions, ball: functions.step(ball, "ceil"),
    "sign": lambda functions, ball: functions.step(ball, "sign"),
    "factorial": lambda functions, ball: functions.gamma(ball + 1),
    "re": lambda functions, ball: functions.part(ball, acb(ball).real),
    "im": lambda functions, ball: functions.part(ball, acb(ball).imag),
    "conjugate": lambda functions, ball: functions.part(ball, acb(ball).conjugate()),
    "arg": lambda functions, ball: functions.part(ball, acb(ball).arg()),
}
