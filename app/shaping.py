"""Reward components beside the verdict, which they never touch: a penalty on length, truncated responses."""

from __future__ import annotations

from app.contracts import Overlong, Shaping
from rollouts.stop import ResolvedStop


def reward_components(
    correctness: float, shaping: Shaping | None, stop: ResolvedStop, num_tokens: int | None
) -> dict[str, float]:
    """The weighted parts of a scored response's reward, by name; the reward is their sum.

    `correctness` always; `truncation` = -correctness under policy `zero` when the response is truncated;
    `overlong` when its penalty is configured, and then `num_tokens` must be known.
    """
    components = {"correctness": correctness}
    if shaping is None:
        return components
    if shaping.get("truncation") == "zero" and stop.truncated:
        components["truncation"] = 0.0 - correctness  # and not -0.0
    overlong = shaping.get("overlong")
    if overlong is not None:
        if num_tokens is None:
            raise ValueError("an overlong penalty needs num_tokens")
        components["overlong"] = overlong_penalty(overlong, num_tokens)
    return components


def overlong_penalty(overlong: Overlong, num_tokens: int) -> float:
    """DAPO's soft overlong punishment (arXiv 2503.14476, eq. 13), in [-weight, 0]."""
    excess = num_tokens - (overlong["max_length"] - overlong["cache_length"])
    if excess <= 0:
        return 0.0
    weight = overlong.get("weight")
    penalty = min(excess / overlong["cache_length"], 1.0) * (1.0 if weight is None else weight)
    return 0.0 - penalty  # and not -0.0


def masked(shaping: Shaping | None, stop: ResolvedStop) -> bool:
    """Whether the caller wants this truncated response left out of the loss."""
    return shaping is not None and shaping.get("truncation") == "mask" and stop.truncated is True
