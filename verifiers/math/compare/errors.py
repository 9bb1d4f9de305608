"""Why a comparison came to no verdict.

ComparisonError
|- Undefined       a division by zero or an argument outside the domain
|- TooCostly       over a fixed budget of bits, terms, steps or precision: never of time
`- NotComparable   nothing here decides it
   `- Unclear      a ball straddles the edge of a domain: more precision may help
"""

from __future__ import annotations


class ComparisonError(Exception):
    """No verdict."""


class TooCostly(ComparisonError):
    """The tree asks for more work than the budget; `blame` says whose tree."""


class NotComparable(ComparisonError):
    """The steps of the ladder are used up."""


class Undefined(ComparisonError):
    """A division by zero or an argument outside the domain."""


class Unclear(NotComparable):
    """A ball straddles the edge of a domain."""
