"""Exact rational arithmetic on constant trees, within a budget of bits."""

from __future__ import annotations

from math import log2

from flint import fmpq, fmpz

from verifiers.math.compare import budget
from verifiers.math.compare.errors import TooCostly, Undefined
from verifiers.math.tree import Call, Node, Number, Power, Product, Quantity, Quotient, Sum

MAX_BITS = 1 << 18
"""Bits of a numerator or denominator: about 79,000 digits."""
MAX_FACTORIAL = 20_000


class NotRational(Exception):
    """Not built from rational numbers by rational operations."""


def bits(value: fmpq) -> int:
    """Bits of the larger of numerator and denominator."""
    return max(int(value.p.bit_length()), int(value.q.bit_length()))


def exact(node: Node) -> fmpq:
    """The rational value of `node`.

    Raises `NotRational`, `Undefined`, and `TooCostly` beyond `MAX_BITS`.
    """
    match node:
        case Number(numerator, denominator):
            return fmpq(numerator, denominator)
        case Sum(terms):
            return _sum(terms)
        case Product(factors):
            return _product(factors)
        case Quotient(top, bottom):
            divisor = exact(bottom)
            if divisor == 0:
                raise Undefined
            return _within(exact(top), divisor) / divisor
        case Power(base, exponent):
            return power(exact(base), exact(exponent))
        case Call(name, arguments):
            return _call(name, [exact(argument) for argument in arguments])
        case Quantity(value, (("%", 1),)):
            return exact(value) / 100
    raise NotRational


def _within(a: fmpq, b: fmpq) -> fmpq:
    size = bits(a) + bits(b)
    budget.spend(1 + size // 400)
    if size > MAX_BITS:
        raise TooCostly("a number of too many digits")
    return a


def _sum(terms: tuple[Node, ...]) -> fmpq:
    total = fmpq(0)
    for term in terms:
        value = exact(term)
        total = _within(total, value) + value
    return total


def _product(factors: tuple[Node, ...]) -> fmpq:
    total = fmpq(1)
    for factor in factors:
        value = exact(factor)
        total = _within(total, value) * value
    return total


def power(base: fmpq, exponent: fmpq) -> fmpq:
    """base ** exponent when that is rational."""
    if exponent.q != 1:
        return _rational_power(base, exponent)
    times = int(exponent)
    if base == 0 and times < 0:
        raise Undefined
    if base in (0, 1, -1):
        return base ** (times % 2 if base == -1 else min(times, 1) if base == 0 else 1) if times else fmpq(1)
    size = abs(times) * bits(base)
    if size > MAX_BITS:
        raise TooCostly("a power of too many digits")
    budget.spend(1 + size // 2_000)
    return base**times


def _rational_power(base: fmpq, exponent: fmpq) -> fmpq:
    index = int(exponent.q)
    if index > 64 or (base < 0 and index % 2 == 0):
        raise NotRational
    sign = -1 if base < 0 else 1
    top, bottom = _root(abs(base.p), index), _root(base.q, index)
    if top is None or bottom is None:
        raise NotRational
    return power(fmpq(sign * top, bottom), fmpq(exponent.p))


def _root(value: fmpz, index: int) -> fmpz | None:
    if value.bit_length() > 20_000:
        return None
    root = value.root(index)
    return root if root**index == value else None


def _call(name: str, values: list[fmpq]) -> fmpq:
    match name, values:
        case "root", [value, index] if index.q == 1 and index > 0:
            return _rational_power(value, fmpq(1) / index)
        case "abs", [value]:
            return abs(value)
        case "floor", [value]:
            return fmpq(value.floor())
        case "ceil", [value]:
            return fmpq(value.ceil())
        case "sign", [value]:
            return fmpq((value > 0) - (value < 0))
        case "min", [*_]:
            return min(values)
        case "max", [*_]:
            return max(values)
        case (("re" | "conjugate"), [value]):
            return value
    return _integer_call(name, values)


def _integer_call(name: str, values: list[fmpq]) -> fmpq:
    if any(value.q != 1 for value in values):
        raise NotRational
    numbers = [value.p for value in values]
    match name, numbers:
        case (("factorial" | "double_factorial"), [n]):
            if n < 0:
                raise Undefined
            if n > MAX_FACTORIAL or int(n) * log2(int(n) + 2) > MAX_BITS:
                raise TooCostly("a factorial of too many digits")
            budget.spend(1 + int(n) // 10)
            return fmpq(fmpz.fac_ui(n) if name == "factorial" else _double_factorial(int(n)))
        case "binomial", [n, k]:
            return fmpq(_binomial(n, k))
        case "gcd", [first, *rest]:
            for other in rest:
                first = first.gcd(other)
            return fmpq(abs(first))
        case "lcm", [first, *rest]:
            for other in rest:
                first = first.lcm(other)
            return fmpq(abs(first))
    raise NotRational


def _double_factorial(n: int) -> fmpz:
    product = fmpz(1)
    for factor in range(n, 1, -2):
        product *= factor
    return product


def _binomial(n: fmpz, k: fmpz) -> fmpz:
    if n < 0:
        raise NotRational
    if k < 0 or k > n:
        return fmpz(0)
    k = min(k, n - k)
    if k > 5_000 or k * max(1, n.bit_length()) > MAX_BITS:
        raise TooCostly("a binomial coefficient of too many digits")
    budget.spend(1 + int(k) // 10)
    return fmpz.bin_uiui(int(n), int(k)) if n < 1 << 62 else _falling(n, int(k))


def _falling(n: fmpz, k: int) -> fmpz:
    product = fmpz(1)
    for step in range(k):
        product = product * (n - step) // (step + 1)
    return product
