"""Values with units, percent signs and words behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from verifiers.math.compare.policy import Outcome, Policy
from verifiers.math.read.units import UNITS, Dimensions, resolve
from verifiers.math.traverse import free_symbols
from verifiers.math.tree import Constant, Counted, Node, Number, Power, Product, Quantity, Symbol

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


def _as_product(node: Node, other: Node) -> Node:
    """`5 m` read as 5 times m when the other answer speaks of a letter m."""
    if isinstance(node, Quantity) and not isinstance(other, Quantity):
        match node.unit:
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
