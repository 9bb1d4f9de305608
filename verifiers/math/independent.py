"""A second way to compare two answers: sympy on both trees, without the comparison ladder of `compare/`.

For the audit only, never for a verdict. The text is read by the same grammar, so that nothing of a response
is evaluated: what this can find are faults of comparing, not of reading. It may take any time and memory; the
caller runs it in a process that is bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import sympy

from verifiers.math.compare.values import is_complex
from verifiers.math.judge import InvalidGroundTruth, find_answer, read_truth
from verifiers.math.options import MathOptions
from verifiers.math.read.errors import ReadError
from verifiers.math.tree import (
    Bounded,
    Call,
    Constant,
    Listing,
    Matrix,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Relation,
    Set,
    Sum,
    Symbol,
    Tuple,
)

_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan, "cot": sympy.cot, "sec": sympy.sec,
    "csc": sympy.csc,
    "asin": sympy.asin, "acos": sympy.acos, "atan": sympy.atan, "acot": sympy.acot, "sinh": sympy.sinh,
    "cosh": sympy.cosh, "tanh": sympy.tanh, "coth": sympy.coth, "asinh": sympy.asinh, "acosh": sympy.acosh,
    "atanh": sympy.atanh, "ln": sympy.log, "exp": sympy.exp, "abs": sympy.Abs, "floor": sympy.floor,
    "ceil": sympy.ceiling, "sign": sympy.sign, "gcd": sympy.gcd, "lcm": sympy.lcm, "min": sympy.Min,
    "max": sympy.Max, "re": sympy.re, "im": sympy.im, "conjugate": sympy.conjugate,
    "factorial": sympy.factorial, "binomial": sympy.binomial,
}  # fmt: skip
_CONSTANTS: Final = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "oo": sympy.oo}
_ASSUMPTIONS: Final[dict[str, dict[str, bool]]] = {
    "real": {"real": True},
    "positive": {"positive": True},
    "integer": {"integer": True},
    "positive_integer": {"integer": True, "positive": True},
    "complex": {"complex": True},
}


class _Unknown(Exception):
    """Nothing that sympy could say anything about."""


def accepts(response: str, ground_truth: Any, options: MathOptions) -> bool | None:
    """Whether sympy takes the answer for the ground truth, any one of several; None if it cannot tell.

    ground_truth: a text or a list of texts.
    """
    alternatives = ground_truth if isinstance(ground_truth, list) else [ground_truth]
    said = {_accepts_one(response, truth, options) for truth in alternatives}
    return True if True in said else None if None in said else False


def _accepts_one(response: str, ground_truth: str, options: MathOptions) -> bool | None:
    try:
        truths = read_truth(ground_truth, options.kind).readings
    except InvalidGroundTruth:
        return None
    answers = find_answer(response, options, wants=truths[0]).answer
    if isinstance(answers, ReadError):
        return None
    said = {_equal(truth, answer, options) for truth in truths for answer in answers}
    return True if True in said else None if None in said else False


def _equal(truth: Node, answer: Node, options: MathOptions) -> bool | None:
    """Whether two trees are equal to sympy; collections member by member."""
    match truth, answer:
        case Relation((Symbol(), right), ("=",)), _ if not isinstance(answer, Relation):
            return _equal(right, answer, options)
        case _, Relation((Symbol(), right), ("=",)) if not isinstance(truth, Relation):
            return _equal(truth, right, options)
        case Relation((Symbol(one), right), ("=",)), Relation((Symbol(other), found), ("=",)):
            return _equal(right, found, options) if one == other else None
        case (Tuple(), Tuple()) if (truth.opening, truth.closing) != (answer.opening, answer.closing):
            return None
        case (Tuple(), Tuple()):
            said = _all_equal(truth.items, answer.items, options)
            return None if said is False and options.order == "any" else said
        case (Set(), Set()):
            return _same_members(truth.items, answer.items, options)
        case (Listing(), Listing()) if options.order == "strict":
            return _all_equal(truth.items, answer.items, options)
        case (Listing(), Listing()):
            return _same_members(truth.items, answer.items, options)
        case (Matrix(rows), Matrix(others)) if [len(row) for row in rows] == [len(row) for row in others]:
            return _all_equal(sum(rows, ()), sum(others, ()), options)
    if is_complex(truth) != is_complex(answer):
        return None
    try:
        return _same_value(_to_sympy(truth, options), _to_sympy(answer, options), truth, options)
    except (
        _Unknown,
        ArithmeticError,
        AttributeError,
        LookupError,
        NotImplementedError,
        TypeError,
        ValueError,
    ):
        return None


def _same_value(expected: Any, found: Any, truth: Node, options: MathOptions) -> bool | None:
    if expected == found:
        return True
    if expected.is_infinite or found.is_infinite or expected.free_symbols != found.free_symbols:
        return None  # among them: a constant of integration by another name
    # `equals` tries to prove either; its numeric tests use random points, at 2 and more digits.
    said = (expected - found).equals(0)
    if said is False and options.decimals == "rounded" and isinstance(truth, Number) and truth.places:
        return None  # a rule of ours, not of arithmetic
    return said if said is None else bool(said)


def _all_equal(truths: tuple[Node, ...], answers: tuple[Node, ...], options: MathOptions) -> bool | None:
    if len(truths) != len(answers):
        return False
    said = {_equal(truth, answer, options) for truth, answer in zip(truths, answers, strict=True)}
    return False if False in said else None if None in said else True


def _same_members(truths: tuple[Node, ...], answers: tuple[Node, ...], options: MathOptions) -> bool | None:
    """Whether each member of either side is among the other's; None where only repeats tell them apart."""
    for some, others in ((truths, answers), (answers, truths)):
        for one in some:
            said = {_equal(one, other, options) for other in others}
            if True not in said:
                return None if None in said else False
    return True if len(truths) == len(answers) else None


def _to_sympy(node: Node, options: MathOptions, bound: dict[str, Any] | None = None) -> Any:
    """The sympy expression of a tree, built node by node. Raises `_Unknown` for what has none."""
    names = bound or {}

    def convert(child: Node) -> Any:
        return _to_sympy(child, options, names)

    match node:
        case Number(numerator, denominator):
            return sympy.Rational(numerator, denominator)
        case Symbol(name):
            kind = options.assume.get(name, "real")
            return names.get(name) or sympy.Symbol(name, **_ASSUMPTIONS[kind])
        case Constant(name):
            return _CONSTANTS[name]
        case Sum(terms):
            return sympy.Add(*map(convert, terms))
        case Product(factors):
            return sympy.Mul(*map(convert, factors))
        case Quotient(top, bottom):
            return _finite(convert(top) / convert(bottom))
        case Power(base, exponent):
            return convert(base) ** convert(exponent)
        case Call("root", (radicand, index)):
            value = convert(radicand)
            if not value.is_extended_real:
                raise _Unknown("which of its roots depends on the convention")
            return sympy.real_root(value, convert(index))
        case Call("log", (value,)):
            return sympy.log(convert(value), sympy.E if options.log_base == "e" else int(options.log_base))
        case Call("log", (value, base)):
            return sympy.log(convert(value), convert(base))
        case Call(name, arguments) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*map(convert, arguments))
        case Bounded():
            return _operator(node, options, names)
    raise _Unknown(type(node).__name__)


def _operator(node: Bounded, options: MathOptions, names: dict[str, Any]) -> Any:
    if node.lower is None or (node.upper is None and node.kind != "lim"):
        raise _Unknown("an operator without bounds")
    whole = node.kind in {"sum", "prod"}
    variable = sympy.Symbol(node.variable, **_ASSUMPTIONS["integer" if whole else "real"])
    body = _to_sympy(node.body, options, {**names, node.variable: variable})
    lower = _to_sympy(node.lower, options, names)
    if node.kind == "lim":
        return sympy.limit(body, variable, lower, "+-" if lower.is_finite else "+")
    upper = _to_sympy(node.upper, options, names) if node.upper is not None else None
    operator = {"sum": sympy.Sum, "prod": sympy.Product, "int": sympy.Integral}[node.kind]
    return operator(body, (variable, lower, upper)).doit()


def _finite(value: Any) -> Any:
    if value.has(sympy.zoo, sympy.nan):
        raise _Unknown("a division by zero")
    return value
