"""Checks of plain parameters: the wrong kind is a TypeError, the wrong value a ValueError, both by name."""

from __future__ import annotations

import math
from numbers import Integral, Real


def boolean(name: str, value: object) -> bool:
    """A real boolean, so that a misplaced number is not read as a switch."""
    if value is True or value is False:
        return bool(value)
    # NumPy's own booleans are neither of the two singletons.
    if type(value).__name__ in {"bool", "bool_"}:
        return bool(value)
    raise TypeError(f"{name} must be True or False, not {value!r}")


def integer(name: str, value: object, *, low: int, high: int | None = None) -> int:
    """An integer within `[low, high]`; a boolean is not one."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    number = int(value)
    if number < low or (high is not None and number > high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise ValueError(f"{name} must be {bounds}, not {number}")
    return number


def real(
    name: str,
    value: object,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
) -> float:
    """A finite real number within `[low, high]` (`(low, high]` with `open_low`); a boolean is not one."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number, not {value!r}")
    number = float(value)
    too_low = number <= low if open_low else number < low
    if not math.isfinite(number) or too_low or number > high:
        raise ValueError(
            f"{name} must be finite and in {'(' if open_low else '['}{low}, {high}], not {number}"
        )
    return number
