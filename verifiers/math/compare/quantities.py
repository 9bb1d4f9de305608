"""Values with units, percent signs and words behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from verifiers.math.compare.policy import Outcome, Policy
from verifiers.math.read.units import UNITS, Dimensions, resolve
from verifiers.math.traverse import free_symbols
from verifiers.math.tree import (
    Constant,
    Counted,
    Node,
    Number,
    Power,
    Product,
    Quantity,
    Quotient,
    Sum,
    Symbol,
)

Compare = Callable[[Node, Node], Outcome]

_MISMATCH = Outcome(equal=False, route="units", reason="unit_mismatch")


def compare_quantities(truth: Node, response: Node, policy: Policy, compare: Compare) -> Outcome:
    """Two values of which at least one has a unit or words behind it."""
    truth, response = _as_product(truth, response), _as_product(response, truth)
    words = [_words(truth), _words(response)]
    if policy.units != "ignore" and all(words) and not _share_stem(words[0], words[1]):
        return _MISMATCH
    truth, response = _bare(truth), _bare(response)
    if policy.units == "ignore":
        return _flagged(compare(_value(truth), _value(response)), "unit_ignored")
    match truth, response:
        case Quantity(a, unit), Quantity(b, other):
            return _converted(a, unit, b, other, compare)
        case Quantity(value, unit), _:
            if policy.units == "required" and unit != (("%", 1),):
                return Outcome(equal=False, route="units", reason="unit_missing")
            return _one_sided(value, unit, response, policy, compare)
        case _, Quantity(value, unit):
            return _one_sided(value, unit, truth, policy, lambda a, b: compare(b, a))
    return compare(truth, response)


def gathered(node: Node) -> Node:
    """Sums and products of quantities as one value with one unit: `$30 - $2`, `3 \\cdot 5 m`, `6 m / 2 s`.

    A number without a unit in a sum is taken to be in the unit of the rest. Percent and degrees scale what
    they stand beside, so they are left alone.
    """
    match node:
        case Sum(terms):
            parts = [gathered(term) for term in terms]
            units = [part.unit for part in parts if isinstance(part, Quantity)]
            plain = [part for part in parts if not isinstance(part, Quantity)]
            if units and units == units[:1] * len(units) and all(isinstance(part, Number) for part in plain):
                return Quantity(Sum(tuple(_value(part) for part in parts)), units[0])
        case Product(factors):
            parts = [gathered(factor) for factor in factors]
            if (unit := _product([part.unit for part in parts if isinstance(part, Quantity)])) is not None:
                return Quantity(Product(tuple(_value(part) for part in parts)), unit)
        case Quotient(top, bottom):
            above, below = gathered(top), gathered(bottom)
            powers = [part.unit for part in (above,) if isinstance(part, Quantity)]
            if isinstance(below, Quantity):
                powers.append(tuple((name, -power) for name, power in below.unit))
            if (unit := _product(powers)) is not None:
                value = Quotient(_value(above), _value(below))
                return Quantity(value, unit) if unit else value
    return node


def in_one_spelling(sides: Sequence[Node], truth: Node, compare: Compare) -> list[Node]:
    """`sides` without the percent of `5/8 = 62.5%`, or, when the truth is a percent, with nothing else."""
    percents: list[Node] = [side for side in sides if _is_percent(side)]
    plain = [side for side in sides if side not in percents]
    if not percents or not plain:
        return list(sides)
    values = [Product((_value(side), Number(1, 100))) for side in percents]
    if not all(compare(plain[-1], value).equal for value in values):
        return list(sides)
    return percents if _is_percent(truth) else plain


def _is_percent(node: Node) -> bool:
    return isinstance(node, Quantity) and node.unit == (("%", 1),)


def _product(units: list[tuple[tuple[str, int], ...]]) -> tuple[tuple[str, int], ...] | None:
    """The product of units; None without any, or when one is percent or degrees."""
    powers: dict[str, int] = {}
    for name, power in (factor for unit in units for factor in unit):
        powers[name] = powers.get(name, 0) + power
    if not units or {"%", "deg", "degC", "degF"} & set(powers):
        return None
    return tuple((name, power) for name, power in powers.items() if power)


def _as_product(node: Node, other: Node) -> Node:
    """`5 m` read as 5 times m when the other answer speaks of a letter m."""
    if isinstance(node, Quantity) and not isinstance(other, Quantity):
        match node.unit:
            case (("ohm", power),) if "Omega" in free_symbols(other):
                return Product((node.value, Power(Symbol("Omega"), Number(power))))
            case ((name, power),) if len(name) == 1 and name in free_symbols(other):
                return Product((node.value, Power(Symbol(name), Number(power))))
    return node


def _words(node: Node) -> tuple[str, ...]:
    return node.words if isinstance(node, Counted) else ()


def _bare(node: Node) -> Node:
    return node.value if isinstance(node, Counted) else node


def _value(node: Node) -> Node:
    return node.value if isinstance(node, Quantity) else node


def _share_stem(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    stems = {word[:4] for word in a} & {word[:4] for word in b}
    return bool(stems)


def _flagged(outcome: Outcome, flag: str) -> Outcome:
    return replace(outcome, flags=outcome.flags | {flag})


def _converted(
    a: Node, unit: tuple[tuple[str, int], ...], b: Node, other: tuple[tuple[str, int], ...], compare: Compare
) -> Outcome:
    if unit == other:
        return compare(a, b)
    factor, dimensions, pi = resolve(unit)
    other_factor, other_dimensions, other_pi = resolve(other)
    if dimensions != other_dimensions:
        return _MISMATCH
    ratio = other_factor / factor
    scaled = [b, Number(ratio.numerator, ratio.denominator)]
    if other_pi and not pi:
        scaled.append(Constant("pi"))
    left = Product((a, Constant("pi"))) if pi and not other_pi else a
    outcome = compare(left, Product(tuple(scaled)))
    return _flagged(outcome, "unit_converted") if outcome.equal else outcome


def _one_sided(
    value: Node, unit: tuple[tuple[str, int], ...], bare: Node, policy: Policy, compare: Compare
) -> Outcome:
    """A quantity against a value without a unit, which is taken to be in the same unit."""
    if unit == (("%", 1),) and policy.percent == "value":
        return compare(Product((value, Number(1, 100))), bare)
    outcome = _flagged(compare(value, bare), "unit_missing")
    if not outcome.equal and _dimensions(unit) == (("rad", 1),):
        factor, _, has_pi = resolve(unit)
        scaled: tuple[Node, ...] = (value, Number(factor.numerator, factor.denominator))
        in_radians = compare(Product((*scaled, Constant("pi")) if has_pi else scaled), bare)
        if in_radians.equal:
            return _flagged(in_radians, "unit_converted")
    return outcome


def _dimensions(unit: tuple[tuple[str, int], ...]) -> Dimensions:
    return resolve(unit)[1] if all(name in UNITS for name, _ in unit) else ()
