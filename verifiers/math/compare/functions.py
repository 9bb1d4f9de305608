"""Elementary functions on balls, with their domains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import acb, arb, fmpq

from verifiers.math.compare.errors import NotComparable, TooCostly, Unclear, Undefined

Ball = Any
"""`arb` or `acb`."""

MAX_LOG2 = 64
"""Bits of the largest argument of an exponential, power or factorial."""


class Functions:
    """Functions of real balls, or of complex ones with principal branches."""

    complex_values: bool
    log_base: str

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
        return ball.log()

    def gamma(self, ball: Ball) -> Ball:
        self.require_moderate(ball)
        real = ball.real if self.complex_values else ball
        whole = real.unique_fmpz()
        if whole is not None and whole <= 0 and real.is_exact():
            raise Undefined
        return ball.gamma()

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
        """|ball|."""
        return self.real(abs(ball))

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
        divisor = self.divisor(getattr(ball, bottom)())
        return (getattr(ball, top)() if top else self.lift(fmpq(1))) / divisor

    def inverse_of_reciprocal(self, ball: Ball, name: str) -> Ball:
        """asec, acsc, acot."""
        if name == "acot":
            return arb.pi() / 2 - ball.atan()
        return self.within(1 / self.divisor(ball), "acos" if name == "asec" else "asin")

    def entire(self, ball: Ball, name: str) -> Ball:
        """A function defined everywhere; hyperbolic ones need a moderate argument."""
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
    "re": lambda functions, ball: acb(ball.real) if functions.complex_values else ball,
    "im": lambda functions, ball: acb(ball.imag) if functions.complex_values else ball * 0,
    "conjugate": lambda functions, ball: ball.conjugate() if functions.complex_values else ball,
    "arg": lambda functions, ball: acb(acb(ball).arg()) if functions.complex_values else acb(ball).arg(),
}
