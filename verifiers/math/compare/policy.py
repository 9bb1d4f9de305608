"""The choices that values are compared under."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Assumption = Literal["real", "positive", "integer", "positive_integer", "complex"]


@dataclass(frozen=True, slots=True)
class Policy:
    """How letters and functions are read.

    complex_letters: letters take complex values and roots and powers their principal branch.
    log_base: base of `log` written without one.
    assume: what each letter named here stands for.
    rounded: a decimal ground truth accepts every value that rounds to it at its digits.
    units, percent: see `docs/math.md`.
    """

    complex_letters: bool = False
    log_base: Literal["10", "e", "2"] = "10"
    assume: tuple[tuple[str, Assumption], ...] = ()
    rounded: bool = False
    units: Literal["optional", "required", "ignore"] = "optional"
    percent: Literal["sign_optional", "value"] = "sign_optional"
    order: Literal["by_kind", "any", "strict"] = "by_kind"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether two answers are equal, the step that decided it, and what should be known about it."""

    equal: bool
    route: str
    flags: frozenset[str] = field(default_factory=frozenset)
    reason: str = ""
    """Reason of a refusal that is more than `different`."""
