"""Whether an answer holds a division by zero, without computing more than exact fractions."""

from __future__ import annotations

from verifiers.math.compare import budget
from verifiers.math.compare.errors import ComparisonError, Undefined
from verifiers.math.compare.rational import NotRational, exact
from verifiers.math.traverse import walk
from verifiers.math.tree import Node, Power, Quotient


def is_undefined(node: Node) -> bool:
    """Whether some fraction or power in `node` that is all numbers has no value: `1/0`, `0^{-1}`."""
    budget.renew()
    return any(_is_broken(part) for part in walk(node) if isinstance(part, Quotient | Power))


def _is_broken(node: Quotient | Power) -> bool:
    try:
        exact(node)
    except Undefined:
        return True
    except (NotRational, ComparisonError):
        return False
    return False
