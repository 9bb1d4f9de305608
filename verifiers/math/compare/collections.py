"""Several values: sets, lists, tuples, assignments, labelled parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from verifiers.math.compare import budget
from verifiers.math.compare.labels import Named, same_label
from verifiers.math.compare.policy import Outcome
from verifiers.math.traverse import negated, rebuild, walk
from verifiers.math.tree import Listing, Node, Number, PlusMinus, Set, Tuple

Compare = Callable[[Node, Node], Outcome]

DIFFERENT = Outcome(equal=False, route="entries")
COUNT_DIFFERS = Outcome(equal=False, route="entries", reason="count_differs")


def has_signs(node: Node) -> bool:
    """Whether a plus-minus occurs."""
    return any(isinstance(part, PlusMinus) for part in walk(node))


def expand_signs(node: Node) -> tuple[Node, ...]:
    """The answers that a plus-minus stands for: all upper signs, then all lower signs."""
    if not has_signs(node):
        return (node,)
    return (_with_sign(node, upper=True), _with_sign(node, upper=False))


def _with_sign(node: Node, *, upper: bool) -> Node:
    if isinstance(node, PlusMinus):
        value = _with_sign(node.value, upper=upper)
        return negated(value) if upper == node.minus_first else value
    return rebuild(node, lambda child: _with_sign(child, upper=upper))


def entries(node: Node) -> list[Node]:
    """The members of a set or list, plus-minus signs expanded."""
    items: Sequence[Node] = node.items if isinstance(node, Set | Listing) else (node,)
    return [value for item in items for value in expand_signs(item)]


def all_equal(pairs: Iterator[tuple[Node, Node]], compare: Compare) -> Outcome:
    """The conjunction of comparisons, its route and flags gathered."""
    route, flags = "identical", frozenset[str]()
    for truth, response in pairs:
        outcome = compare(truth, response)
        if not outcome.equal:
            return Outcome(False, outcome.route, reason=outcome.reason)
        route = weakest(route, outcome.route)
        flags |= outcome.flags
    return Outcome(True, route, flags)


_ROUTES = ("identical", "exact", "polynomial", "root_bound", "entries", "rounded", "numeric_agreement")


def weakest(a: str, b: str) -> str:
    """The route that proves less."""
    order = {name: rank for rank, name in enumerate(_ROUTES)}
    return max(a, b, key=lambda name: order.get(name, 1))


def in_order(truth: Sequence[Node], response: Sequence[Node], compare: Compare) -> Outcome:
    """Entry by entry."""
    if len(truth) != len(response):
        return COUNT_DIFFERS
    return all_equal(zip(truth, response, strict=True), compare)


def in_any_order(truth: list[Node], response: list[Node], compare: Compare, *, as_sets: bool) -> Outcome:
    """Whether the entries can be paired off; `as_sets`: repeated entries count once."""
    if as_sets:
        truth, response = _distinct(truth, compare), _distinct(response, compare)
    if len(truth) != len(response):
        return COUNT_DIFFERS
    rational, truth, response = _without_common_rationals(truth, response)
    left, matched = list(response), list[tuple[Node, Node]]()
    for entry in truth:
        for position, candidate in enumerate(left):
            budget.spend(20)
            if compare(entry, candidate).equal:
                matched.append((entry, left.pop(position)))
                break
        else:
            return DIFFERENT
    if not matched:
        return Outcome(equal=True, route="exact" if rational else "identical")
    return all_equal(iter(matched), compare)


def _without_common_rationals(truth: list[Node], response: list[Node]) -> tuple[int, list[Node], list[Node]]:
    """Strike out the rational numbers that both lists hold: how many, and what is left of each."""
    values = Counter(value for node in response if (value := _rational_key(node)) is not None)
    struck = Counter[str]()
    left: list[Node] = []
    for node in truth:
        key = _rational_key(node)
        if key is not None and struck[key] < values[key]:
            struck[key] += 1
        else:
            left.append(node)
    count = struck.total()
    rest: list[Node] = []
    for node in response:
        key = _rational_key(node)
        if key is not None and struck[key] > 0:
            struck[key] -= 1
        else:
            rest.append(node)
    return count, left, rest


def _rational_key(node: Node) -> str | None:
    return f"{node.numerator}/{node.denominator}" if isinstance(node, Number) else None


def _distinct(items: list[Node], compare: Compare) -> list[Node]:
    kept: list[Node] = []
    others: list[Node] = []
    seen = set[str]()
    for item in dict.fromkeys(items):
        key = _rational_key(item)
        if key is not None:
            if key in seen:
                continue
            seen.add(key)
        budget.spend(20 * len(others if key else kept))
        if not any(compare(item, other).equal for other in (others if key else kept)):
            kept.append(item)
            if key is None:
                others.append(item)
    return kept


def compare_assignments(truth: list[Named], response: list[Named], compare: Compare) -> Outcome:
    """`x = 1, y = 2`: by name, in any order."""
    if len(truth) != len(response):
        return COUNT_DIFFERS
    pairs: list[tuple[Node, Node]] = []
    left = list(response)
    for label, value in truth:
        match = next(
            (
                part
                for part in left
                if label is not None and part.label is not None and same_label(label, part.label)
            ),
            None,
        )
        if match is None:
            return Outcome(equal=False, route="entries", reason="label_differs")
        left.remove(match)
        pairs.append((value, match.value))
    return all_equal(iter(pairs), compare)


def compare_tuples(truth: Tuple, response: Tuple, compare: Compare) -> Outcome:
    """Entry by entry; with two entries the brackets count, for they may be an interval's."""
    if len(truth.items) == 2 == len(response.items) and _ends(truth) != _ends(response):
        return Outcome(equal=False, route="entries", reason="brackets_differ")
    return in_order(truth.items, response.items, compare)


def _ends(node: Tuple) -> tuple[bool, bool]:
    return node.opening == "[", node.closing == "]"
