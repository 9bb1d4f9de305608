"""Whose fault it is that two answers cannot be compared."""

from __future__ import annotations

from verifiers.math.compare import budget
from verifiers.math.compare.closed_forms import closed
from verifiers.math.compare.collections import expand_signs
from verifiers.math.compare.enclosure import Evaluator
from verifiers.math.compare.errors import ComparisonError, NotComparable, TooCostly, Unclear, Undefined
from verifiers.math.compare.inequalities import is_infinite
from verifiers.math.compare.labels import named
from verifiers.math.compare.matrices import has_matrix
from verifiers.math.compare.points import points
from verifiers.math.compare.policy import Policy
from verifiers.math.compare.values import COARSE, is_complex
from verifiers.math.traverse import children, free_symbols, name_applications
from verifiers.math.tree import EXPRESSIONS, Node


def blame(truth: Node, policy: Policy) -> str | None:
    """Why the ground truth itself cannot be compared with anything; None when the response is to blame."""
    value = named(truth).value
    if isinstance(value, EXPRESSIONS) and not has_matrix(value):
        if is_infinite(value):
            return None
        signed = (_no_value(part, policy) for part in expand_signs(name_applications(value)))
        return next((fault for fault in signed if fault is not None), None)
    for child in children(value):
        if (fault := blame(child, policy)) is not None:
            return fault
    return None


def _no_value(node: Node, policy: Policy) -> str | None:
    budget.renew()
    try:
        node = closed(node)
    except ComparisonError as fault:
        return f"the ground truth cannot be compared: {fault}"
    evaluator = Evaluator(complex_values=is_complex(node) or policy.complex_letters, log_base=policy.log_base)
    for point in points(
        sorted(free_symbols(node)), dict(policy.assume), complex_letters=policy.complex_letters
    ):
        try:
            evaluator.at(node, point, COARSE)
        except (Undefined, Unclear):
            continue
        except TooCostly as costly:
            return f"the ground truth is too costly: {costly}"
        except NotComparable as unknown:
            return f"the ground truth cannot be compared: {unknown}"
        else:
            return None
    return "the ground truth has no value at any point"
