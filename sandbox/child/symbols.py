"""Expressions and matrices of sympy between processes: classes of its own and their arguments, never texts.

Its constructors evaluate texts, so the only text that is taken is the name of a symbol.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

Element = Any
_PACKAGE = "sympy"


def contents(value: Any) -> Element | None:
    """The element of an expression or a matrix; None for every other value."""
    sympy = sys.modules.get(_PACKAGE)
    if sympy is None or not type(value).__module__.startswith("sympy."):
        return None
    try:
        return _told(sympy, value)
    except (TypeError, AttributeError):
        return None  # of a class that is not made out of its arguments


def _told(sympy: Any, value: Any) -> Element:
    kind = type(value)
    if isinstance(value, sympy.MatrixBase):
        return [
            "matrix",
            kind.__module__,
            kind.__name__,
            *value.shape,
            [_told(sympy, item) for item in value],
        ]
    if kind is sympy.Symbol:
        return ["symbol", value.name, dict(value._assumptions_orig)]  # noqa: SLF001
    if kind is sympy.Float:
        sign, mantissa, exponent, _ = value._mpf_
        return ["float", int(sign), format(int(mantissa), "x"), int(exponent), value._prec]  # noqa: SLF001
    if isinstance(value, sympy.Rational) and value.is_finite:
        return ["rational", format(int(value.p), "x"), format(int(value.q), "x")]
    if isinstance(kind, type(sympy.Function("f"))):
        return ["function", kind.__name__, [_told(sympy, item) for item in value.args]]
    if not isinstance(value, sympy.Basic) or (not value.args and not _is_single(value)):
        raise TypeError(f"a {kind.__name__} of sympy")
    return ["made", kind.__module__, kind.__name__, [_told(sympy, item) for item in value.args]]


def _is_single(value: Any) -> bool:
    return type(value)() is value


def make(element: list[Any]) -> Any:
    """The expression again; raises KeyError, TypeError or ValueError, and what sympy raises."""
    # Offered to programs, not needed by the sandbox: it is here only where a program used it.
    return _made(importlib.import_module(_PACKAGE), element)


def _made(sympy: Any, element: list[Any]) -> Any:
    what, *told = element
    if what == "symbol":
        name, assumptions = told
        return sympy.Symbol(str(name), **{str(key): bool(value) for key, value in assumptions.items()})
    if what == "float":
        sign, mantissa, exponent, precision = told
        mpf = (int(sign), int(mantissa, 16), int(exponent), int(mantissa, 16).bit_length())
        return sympy.Float._new(mpf, int(precision))  # noqa: SLF001
    if what == "rational":
        return sympy.Rational(int(told[0], 16), int(told[1], 16))
    items = [_made(sympy, item) for item in told[-1]]
    if what == "function":
        return sympy.Function(str(told[0]))(*items)
    kind = _class(sympy, str(told[0]), str(told[1]))
    if what == "matrix":
        return kind(int(told[2]), int(told[3]), items)
    return kind(*items)


def _class(sympy: Any, module: str, name: str) -> Any:
    """A class of sympy that is loaded with it."""
    found = vars(sys.modules[module]).get(name) if module.startswith("sympy.") else None
    if not isinstance(found, type) or not issubclass(found, (sympy.Basic, sympy.MatrixBase)):
        raise KeyError(f"{module}.{name}")
    return found
