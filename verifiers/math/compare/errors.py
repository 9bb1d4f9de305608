"""Why a comparison came to no verdict.

ComparisonError
|- TooCostly       over a fixed budget of bits, terms, steps or precision: never of time
`- NotComparable   nothing here decides it
"""

from __future__ import annotations


class ComparisonError(Exception):
    """No verdict."""


class TooCostly(ComparisonError):  # noqa: N818 - names for what was found
    """The tree asks for more work than the budget; `blame` says whose tree."""


class NotComparable(ComparisonError):  # noqa: N818
    """The steps of the ladder are used up."""
