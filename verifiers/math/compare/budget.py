"""The work one comparison may do, counted in units and never in time: verdicts do not hang on the machine.

One unit is about five microseconds of a 2024 core. The count is the process's own, as FLINT's precision is:
a worker judges one item at a time.
"""

from __future__ import annotations

from verifiers.math.compare.errors import TooCostly

UNITS = 200_000
"""Units that one comparison may spend: about a second."""

_left = UNITS


def renew() -> None:
    """Begin a comparison."""
    global _left
    _left = UNITS


def spend(units: int) -> None:
    """Count work. Raises `TooCostly` once the budget is used up."""
    global _left
    _left -= units
    if _left < 0:
        raise TooCostly("more work than one comparison may do")
