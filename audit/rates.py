"""From what reviewers see, errors among accepts and among rejects, to what a channel does to right and wrong.

q: share accepted; F: false-discovery rate, wrong among accepts; O: false-omission rate, right among rejects.
"""

from __future__ import annotations

from collections.abc import Callable

from audit.intervals import Bounded


def prevalence(q: float, f: float, o: float) -> float:
    """Share of right answers."""
    return q * (1.0 - f) + (1.0 - q) * o


def false_positive_rate(q: float, f: float, o: float) -> float | None:
    """Accepted among wrong answers; None where no answer is wrong."""
    wrong = q * f + (1.0 - q) * (1.0 - o)
    return q * f / wrong if wrong > 0.0 else None


def false_negative_rate(q: float, f: float, o: float) -> float | None:
    """Rejected among right answers; None where no answer is right."""
    right = prevalence(q, f, o)
    return (1.0 - q) * o / right if right > 0.0 else None


Rate = Callable[[float, float, float], float | None]


def corners(rate: Rate, q: Bounded, f: Bounded, o: Bounded) -> Bounded | None:
    """`rate` at the estimates, and its extremes over the box that the bounds of q, F and O span.

    Each of the three is monotone in each of its arguments, so the extremes lie at corners; where one is
    undefined, it could be anything. None: undefined at the estimates.

    The interval is conservative: it holds its level if the three together do.
    """
    estimate = rate(q.estimate, f.estimate, o.estimate)
    if estimate is None:
        return None
    values: list[float] = []
    for q_end in (q.lower, q.upper):
        for f_end in (f.lower, f.upper):
            for o_end in (o.lower, o.upper):
                value = rate(q_end, f_end, o_end)
                values += [0.0, 1.0] if value is None else [value]
    return Bounded(estimate, min(values), max(values))


def informedness(positive: Bounded, negative: Bounded) -> Bounded:
    """Youden's J, 1 - FPR - FNR: while it is above 0, the reward still points the right way."""
    return Bounded(
        1.0 - positive.estimate - negative.estimate,
        1.0 - positive.upper - negative.upper,
        1.0 - positive.lower - negative.lower,
    )
