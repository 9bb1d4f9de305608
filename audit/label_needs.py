"""How many labels a question needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from audit.beta import beta_cdf
from audit.intervals import CONFIDENCE, wilson

MOST_LABELS: Final = 10**9
"""Beyond it the answer is: too many."""


def for_half_width(rate: float, half_width: float, confidence: float = CONFIDENCE) -> int | None:
    """Labels until a rate of about `rate` is known to within `half_width` (Wilson's interval).

    None: more than `MOST_LABELS`.
    """

    def is_enough(labels: int) -> bool:
        lower, upper = wilson(rate * labels, labels, confidence)
        return (upper - lower) / 2.0 <= half_width

    return _least(is_enough)


def to_find(errors: int, rate: float, share: float = 1.0, probability: float = CONFIDENCE) -> int | None:
    """Labels until at least `errors` errors are found with `probability`.

    They are drawn from a side (or stratum) of which a part, unknown and of size `share`, is wrong in `rate`
    of its verdicts, and the rest is right. None: more than `MOST_LABELS`.
    """
    chance = rate * share

    def is_enough(labels: int) -> bool:
        return probability_to_find(errors, chance, labels) >= probability

    return _least(is_enough)


def probability_to_find(errors: int, chance: float, labels: int) -> float:
    """With which probability `labels` labels find at least `errors` errors, each being one with `chance`."""
    if errors <= 0:
        return 1.0
    return beta_cdf(chance, errors, labels - errors + 1.0) if labels >= errors else 0.0


def design_effect(members: float, correlation: float) -> float:
    """By which factor more labels are needed when whole groups of correlated responses are labelled.

    members: labels per group; correlation: of being wrong, within a group.
    """
    return 1.0 + (members - 1.0) * correlation


def _least(is_enough: Callable[[int], bool]) -> int | None:
    """The least number of labels that is enough; more than enough is enough too."""
    most = 1
    while not is_enough(most):
        most *= 2
        if most > MOST_LABELS:
            return None
    least = most // 2
    while least + 1 < most:
        middle = (least + most) // 2
        if is_enough(middle):
            most = middle
        else:
            least = middle
    return most
