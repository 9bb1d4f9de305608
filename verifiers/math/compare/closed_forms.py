"""Limits, infinite sums and improper integrals in closed form, by sympy under a budget.

The last resort of the ladder: where no enclosure can be had, the operator is replaced by what sympy makes of
it and the ladder starts again. Sympy gets trees, never text. It is imported on first use, by the worker that
needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from verifiers.math.compare import budget
from verifiers.math.compare.errors import NotComparable, TooCostly, Undefined
from verifiers.math.compare.rational import NotRational, exact
from verifiers.math.traverse import rebuild, walk
from verifiers.math.tree import (
    Bounded,
    Call,
    Constant,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    Symbol,
)

MAX_CALLS = 400_000
"""Python calls that sympy may make for one operator; a count, not a clock."""
MAX_BUILTIN_CALLS = 4_000_000
"""Calls of built-in functions, which loops over long polynomials make."""
MAX_NODES = 60
MAX_EXPONENT = 100

_FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "cot": "cot", "sec": "sec", "csc": "csc", "asin": "asin",
    "acos": "acos",
    "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "ln": "log", "abs": "Abs",
    "factorial": "factorial",
    "binomial": "binomial", "erf": "erf",
}  # fmt: skip
_BACK = {sympy_name: name for name, sympy_name in _FUNCTIONS.items()}


class _OutOfBudget(BaseException):
    """Not an `Exception`, so that no broad handler in between swallows it."""


def has_open_operator(node: Node) -> bool:
    """Whether an operator occurs that enclosures cannot evaluate."""
    return any(isinstance(part, Bounded) and _is_open(part) for part in walk(node))


def has_integral(node: Node) -> bool:
    """Whether a definite integral occurs."""
    return any(isinstance(part, Bounded) and _is_definite(part) for part in walk(node))


def _is_definite(node: Bounded) -> bool:
    return node.kind == "int" and node.lower is not None and node.upper is not None


def _is_open(node: Bounded) -> bool:
    bounds = (node.lower, node.upper)
    infinite = any(Constant("oo") in walk(bound) for bound in bounds if bound is not None)
    return node.kind == "lim" or (infinite and node.kind != "prod")


def closed(node: Node) -> Node:
    """`node` with every such operator, and every definite integral, in closed form.

    Raises `NotComparable`, `TooCostly`.
    """
    node = rebuild(node, closed)
    if isinstance(node, Bounded) and (_is_open(node) or _is_definite(node)):
        return _closed(node)
    return node


def _closed(node: Bounded) -> Node:
    if len(walk(node)) > MAX_NODES:
        raise TooCostly("an operator over too large an expression")
    _require_small_powers(node)
    budget.spend(budget.UNITS // 4)
    import sympy
    from sympy.core.cache import clear_cache

    clear_cache()  # so that the number of calls does not hang on what came before
    return _from_sympy(_limited(lambda: _evaluate(sympy, node)))


def _require_small_powers(node: Node) -> None:
    for part in walk(node):
        exponent = part.exponent if isinstance(part, Power) else None
        if isinstance(part, Call) and part.name in {"factorial", "binomial"}:
            exponent = part.arguments[0]
        if exponent is None:
            continue
        try:
            if abs(exact(exponent)) > MAX_EXPONENT:
                raise TooCostly("a power of too many digits")
        except (NotRational, Undefined):
            continue


def _limited(run: Callable[[], Any]) -> Any:
    """The result of `run`, unless it makes more than `MAX_CALLS` calls, or `MAX_BUILTIN_CALLS` of built-ins.

    A profile function that raises is removed. Where its exception is only reported, as in a generator that is
    being closed, it is put back, so that what runs on has no more calls left.
    """
    left, built_in = MAX_CALLS, MAX_BUILTIN_CALLS

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal left, built_in
        if event == "call":
            left -= 1
        elif event == "c_call":
            built_in -= 1
        else:
            return
        if left < 0 or built_in < 0:
            raise _OutOfBudget

    def put_back(reported: sys.UnraisableHookArgs) -> None:
        if issubclass(reported.exc_type, _OutOfBudget):
            sys.setprofile(count)
        else:
            report(reported)

    before, report = sys.getprofile(), sys.unraisablehook
    sys.unraisablehook = put_back
    sys.setprofile(count)
    try:
        return run()
    except _OutOfBudget:
        raise TooCostly("more calls than sympy may make") from None
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        NotImplementedError,
        TypeError,
        ValueError,
    ) as fault:
        raise NotComparable(f"sympy has no closed form: {type(fault).__name__}") from None
    finally:
        built_in, left = MAX_BUILTIN_CALLS, MAX_CALLS
        sys.setprofile(before)
        sys.unraisablehook = report


def _evaluate(sympy: Any, node: Bounded) -> Any:
    variable = sympy.Symbol(node.variable, real=True, integer=True if node.kind == "sum" else None)
    body = _to_sympy(sympy, node.body, {node.variable: variable})
    lower, upper = (
        _to_sympy(sympy, bound, {}) if bound is not None else None for bound in (node.lower, node.upper)
    )
    if node.kind == "lim":
        return sympy.limit(body, variable, lower)
    operator = sympy.Sum if node.kind == "sum" else sympy.Integral
    return sympy.simplify(operator(body, (variable, lower, upper)).doit())


def _to_sympy(sympy: Any, node: Node, bound: dict[str, Any]) -> Any:
    def convert(child: Node) -> Any:
        return _to_sympy(sympy, child, bound)

    match node:
        case Number(numerator, denominator):
            return sympy.Rational(numerator, denominator)
        case Symbol(name):
            return bound.get(name) or sympy.Symbol(name, positive=True)
        case Constant(name):
            return {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "oo": sympy.oo}[name]
        case Sum(terms):
            return sympy.Add(*map(convert, terms))
        case Product(factors):
            return sympy.Mul(*map(convert, factors))
        case Quotient(top, bottom):
            return convert(top) / convert(bottom)
        case Power(base, exponent):
            return convert(base) ** convert(exponent)
        case Call("root", (radicand, index)):
            return sympy.real_root(convert(radicand), convert(index))
        case Call(name, arguments) if name in _FUNCTIONS:
            return getattr(sympy, _FUNCTIONS[name])(*map(convert, arguments))
    raise NotComparable(f"nothing for sympy: {type(node).__name__}")


def _from_sympy(expression: Any) -> Node:
    """A closed form as a tree. Raises `NotComparable` when it is none."""
    if expression.is_Rational:
        return Number(int(expression.p), int(expression.q))
    if expression.is_Symbol:
        return Symbol(expression.name)
    name = type(expression).__name__
    arguments = tuple(map(_from_sympy, expression.args))
    match name, arguments:
        case (("Pi" | "Exp1" | "ImaginaryUnit" | "Infinity"), ()):
            return Constant({"Pi": "pi", "Exp1": "e", "ImaginaryUnit": "i", "Infinity": "oo"}[name])  # type: ignore[arg-type]
        case "NegativeInfinity", ():
            return Product((Number(-1), Constant("oo")))
        case "Add", _:
            return Sum(arguments)
        case "Mul", _:
            return Product(arguments)
        case "Pow", (base, exponent):
            return Power(base, exponent)
        case "exp", (argument,):
            return Power(Constant("e"), argument)
        case _ if name in _BACK and arguments:
            return Call(_BACK[name], arguments)
    raise NotComparable(f"no closed form: {name}")
