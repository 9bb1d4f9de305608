"""Reward shaping by length."""

from __future__ import annotations

from rollouts._arrays import Array, Backend
from rollouts._parameters import integer

__all__ = ["soft_overlong_penalty"]


def soft_overlong_penalty(
    lengths: Array, *, max_length: int, cache_length: int, check_values: bool = True
) -> Array:
    """0 up to `max_length - cache_length`, then linear to -1 at `max_length`, and -1 beyond.

    Source: DAPO (arXiv 2503.14476), equation 13. lengths: any shape, in tokens, at least 0.
    max_length, cache_length: in tokens; `0 < cache_length <= max_length`.
    Returns the shape of `lengths`, within [-1, 0], to be weighted and added to the reward.
    Raises ValueError for values out of range; TypeError for lengths or limits that are no integers.
    """
    max_length = integer("max_length", max_length, low=1)
    cache_length = integer("cache_length", cache_length, low=1, high=max_length)
    backend = Backend(lengths, check_values=check_values)
    xp = backend.xp
    counts = backend.integers("lengths", lengths)
    backend.require((counts >= 0, "lengths must be at least 0"))
    soft_limit = max_length - cache_length
    over = xp.clip(xp.astype(counts, backend.dtype) - soft_limit, 0.0, float(cache_length))
    return 0.0 - over / cache_length
