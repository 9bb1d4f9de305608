"""Answers made plainer before they are compared."""

from __future__ import annotations

from collections.abc import Callable

from verifiers.math.compare.policy import Outcome, Policy
from verifiers.math.traverse import children, free_symbols, substitute, walk
from verifiers.math.tree import EXPRESSIONS, Conditioned, NamedSet, Node, Number, Relation, Symbol

Compare = Callable[[Node, Node], Outcome]


def without_real_letters(node: Node, policy: Policy) -> Node:
    """`node` without conditions `x in R`, which say nothing where letters are real."""
    if not isinstance(node, Conditioned) or policy.complex_letters:
        return node
    left = tuple(part for part in node.conditions if not _is_real(part))
    return Conditioned(node.body, left) if left else node.body


def _is_real(condition: Node) -> bool:
    match condition:
        case Relation((Symbol(), NamedSet("R")), ("in",)):
            return True
    return False


def unrounded(truth: Node, response: Node, compare: Compare) -> Node:
    """`truth`, a set of reals, with each decimal replaced by that end of the response which rounds to it."""
    sets = [node for node in walk(response) if not isinstance(node, EXPRESSIONS)]
    parts = [part for node in sets for part in children(node) if isinstance(part, EXPRESSIONS)]
    ends = [part for part in parts if not free_symbols(part)]
    for decimal in walk(truth):
        if isinstance(decimal, Number) and decimal.places is not None:
            fits = (end for end in ends if compare(decimal, end).equal)
            truth = substitute(truth, decimal, next(fits, decimal))
    return truth
