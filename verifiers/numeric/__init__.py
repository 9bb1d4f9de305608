"""One number in the response against one number as ground truth."""

from __future__ import annotations

from verifiers.numeric.compare import difference, make_rule, within
from verifiers.numeric.verifier import (
    NumericOptions,
    NumericVerifier,
    find_answer,
    read_ground_truth,
    written,
)

__all__ = ["NumericOptions", "NumericVerifier", "verify_numeric_answer"]


def verify_numeric_answer(response: str, gold: str | float, rtol: float = 1e-6, atol: float = 1e-9) -> int:
    """1 if the response answers `gold` within tolerance, else 0; an unusable `gold` is 0 too.

    Accepted when `abs(a - g) <= atol + rtol * max(1, abs(g))` in exact arithmetic, tolerances read as the
    decimals that `repr` writes. Raises `ValueError` for a negative or non-finite tolerance and `TypeError`
    for a response that is no string.
    """
    if not isinstance(response, str):
        raise TypeError(f"response must be a string, not {type(response).__name__}")
    rule = make_rule(written(rtol), written(atol))
    target = read_ground_truth(gold, rule)
    answer = find_answer(response)
    if isinstance(target, str) or isinstance(answer.value, str):
        return 0
    return int(within(difference(answer.value, target.value), target.tolerance))
