"""Solution families: `x = pi/6 + 2 k pi, k in Z`, and residue classes.

A family is a set of pairs (step, offset): all offset + k * step. Two are equal when they hold the same
numbers: both are spread over a common step, and the offsets compared modulo it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isfinite, lcm
from typing import Any

from flint import arb, fmpq

from verifiers.math.compare.collections import entries
from verifiers.math.compare.enclosure import Evaluator
from verifiers.math.compare.errors import ComparisonError, NotComparable, TooCostly, Unclear, Undefined
from verifiers.math.compare.labels import named, spread_label
from verifiers.math.compare.policy import Outcome, Policy
from verifiers.math.compare.values import FINE, compare_values
from verifiers.math.traverse import free_symbols, substitute
from verifiers.math.tree import (
    Conditioned,
    Congruence,
    NamedSet,
    Node,
    Number,
    Product,
    Relation,
    SetBuilder,
    Sum,
    Symbol,
)

Compare = Callable[[Node, Node], Outcome]
MAX_CLASSES = 720


class NotAFamily(Exception):
    """Not linear in one whole parameter."""


def parameter(node: Node) -> str | None:
    """The letter that runs through the integers."""
    if not isinstance(node, Conditioned):
        return None
    for condition in node.conditions:
        match condition:
            case Relation((Symbol(name), NamedSet("Z")), ("in",)) if name in free_symbols(node.body):
                return name
    return None


def as_conditioned(node: Node) -> Node:
    """A family written as a set, `{ k pi | k in Z }`, as the numbers under their condition."""
    match node:
        case SetBuilder(element, Relation((Symbol(name), NamedSet()), ("in",)) as condition):
            if element != Symbol(name) and name in free_symbols(element):
                return Conditioned(element, (condition,))
    return node


def with_same_letter(truth: Node, response: Node) -> Node | None:
    """`response` with its parameter called as in `truth`; None when they run through different sets."""
    expected, given = _bound_letter(truth), _bound_letter(response)
    if expected is None or given is None:
        return response
    (name, domain), (other, other_domain) = expected, given
    if domain != other_domain:
        return None
    return (
        substitute(response, Symbol(other), Symbol(name)) if name not in free_symbols(response) else response
    )


def _bound_letter(node: Node) -> tuple[str, str] | None:
    match node:
        case Conditioned(body, (Relation((Symbol(name), NamedSet(domain)), ("in",)),)):
            return (name, domain) if name in free_symbols(body) else None
    return None


def compare_families(truth: Node, response: Node, policy: Policy) -> Outcome:
    """Whether two families hold the same numbers. Raises `NotAFamily`."""
    left, right = _classes(truth, policy), _classes(response, policy)
    return Outcome(_same_classes(left, right, policy), "families", frozenset(("unproven",)))


def as_family(node: Node, letter: str | None) -> Node:
    """A congruence as a family; a bare expression with one letter as if `in Z` were said."""
    if isinstance(node, Congruence):
        name = "k"
        return Conditioned(
            Sum((node.right, Product((node.modulus, Symbol(name))))),
            (Relation((Symbol(name), NamedSet("Z")), ("in",)),),
        )
    if isinstance(node, Conditioned) or letter is None:
        return node
    return Conditioned(node, (Relation((Symbol(letter), NamedSet("Z")), ("in",)),))


def _classes(node: Node, policy: Policy) -> list[tuple[Node, Node]]:
    letter = parameter(node)
    if letter is None or not isinstance(node, Conditioned):
        raise NotAFamily
    body = named(spread_label(node.body)).value
    found: list[tuple[Node, Node]] = []
    for entry in entries(body):
        value = named(entry).value
        at = [substitute(value, Symbol(letter), Number(k)) for k in (0, 1, 2)]
        step = Sum((at[1], Product((Number(-1), at[0]))))
        second = Sum((at[2], Product((Number(-1), at[1]))))
        try:
            linear = compare_values(step, second, policy).equal
        except ComparisonError:
            linear = False
        if not linear:
            raise NotAFamily
        found.append((step, at[0]))
    return found


def _same_classes(left: list[tuple[Node, Node]], right: list[tuple[Node, Node]], policy: Policy) -> bool:
    evaluator = Evaluator(complex_values=False, log_base=policy.log_base)

    def ball(node: Node) -> Any:
        try:
            return evaluator.at(node, {}, FINE)
        except (Undefined, Unclear):
            raise NotAFamily from None

    first = ball(left[0][0])
    if first.contains(0):
        raise NotAFamily
    scaled = []
    for side in (left, right):
        row = []
        for step, offset in side:
            ratio = _rational(abs(ball(step) / first))
            if ratio is None or ratio == 0:
                return False
            row.append((ratio, ball(offset) / first))
        scaled.append(row)
    common = _common_multiple([ratio for row in scaled for ratio, _ in row])
    spread = [_offsets(row, common) for row in scaled]
    return all(any(_equal_modulo(a, b, common) for b in spread[1]) for a in spread[0]) and all(
        any(_equal_modulo(a, b, common) for a in spread[0]) for b in spread[1]
    )


def _rational(ball: arb) -> Fraction | None:
    """The small rational number that the ball holds."""
    middle = float(ball.mid())
    if not isfinite(middle):
        return None
    guess = Fraction(middle).limit_denominator(1000)
    return guess if ball.contains(fmpq(guess.numerator, guess.denominator)) else None


def _common_multiple(values: list[Fraction]) -> Fraction:
    scale = lcm(*(value.denominator for value in values))
    return Fraction(lcm(*(int(value * scale) for value in values)), scale)


def _offsets(row: list[tuple[Fraction, arb]], common: Fraction) -> list[arb]:
    offsets: list[arb] = []
    for step, offset in row:
        count = int(common / step)
        if count + len(offsets) > MAX_CLASSES:
            raise TooCostly("too many residue classes")
        offsets += [offset + fmpq((k * step).numerator, (k * step).denominator) for k in range(count)]
    return offsets


def _equal_modulo(a: arb, b: arb, common: Fraction) -> bool:
    turns = (a - b) / fmpq(common.numerator, common.denominator)
    whole = turns.unique_fmpz()
    if whole is not None:
        return True
    if turns.contains_integer():
        raise NotComparable("offsets too close to tell")
    return False
