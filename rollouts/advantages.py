"""Group-relative advantages: a response is judged against its siblings, so no critic is needed.

A baseline there still is, the group's mean; what is missing is credit for single tokens.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from rollouts._arrays import Array, Backend, require_shape
from rollouts._parameters import boolean, real

__all__ = ["group_advantages", "group_relative_advantages"]


def group_relative_advantages(
    rewards: Array,
    scale: bool = True,
    eps: float = 1e-8,
    *,
    mask: Array | None = None,
    check_values: bool = True,
) -> Array:
    """Advantages of one group of responses to one prompt.

    `(r - mean) / (std + eps)` with the population standard deviation, or `r - mean` with `scale=False`.
    Sources: DeepSeekMath (arXiv 2402.03300); without scaling, Dr. GRPO (arXiv 2503.20783).

    rewards: `[G]`, in any unit. Equal rewards give exact zeros, whatever rounding does to their mean.
    mask: `[G]`, 1 for members that count. The others may be NaN, are left out of mean and deviation, and get
    0.
    Returns `[G]`; it sums to 0, and adding a constant to the rewards does not change it.
    Raises ValueError for rewards that are not 1-D, empty or not finite, an empty mask, a negative `eps`;
    TypeError for a `scale` that is no boolean or rewards that are no numbers.
    """
    scale, eps = boolean("scale", scale), real("eps", eps, low=0.0)
    backend = Backend(rewards, mask, check_values=check_values)
    xp = backend.xp
    rewards = backend.floats("rewards", rewards)
    require_shape("rewards", rewards, "G")
    active, is_mask = backend.mask("mask", mask, rewards.shape)
    backend.require(
        (is_mask, "mask must hold 0 and 1 only"),
        (xp.any(active), "mask must have an active member"),
        (xp.isfinite(rewards) | ~active, "rewards must be finite"),
    )
    # Halves cannot overflow when subtracted, and halving is exact.
    halves = xp.where(active, rewards, 0.0) * 0.5
    low = xp.min(xp.where(active, halves, xp.inf))
    span = xp.max(xp.where(active, halves, -xp.inf)) - low
    unit = xp.where(active, (halves - low) / xp.where(span > 0, span, 1.0), 0.0)
    count = xp.sum(xp.astype(active, unit.dtype))
    centred = xp.where(active, unit - xp.sum(unit) / count, 0.0)
    if not scale:
        return xp.where(span > 0, centred * span * 2.0, 0.0)
    deviation = xp.sqrt(xp.sum(centred * centred) / count) * span + eps * 0.5
    return xp.where(span > 0, centred * span / xp.where(deviation > 0, deviation, 1.0), 0.0)


def group_advantages(  # noqa: PLR0913 - those of one group, and the ids
    rewards: Array,
    group_ids: Array | Sequence[Hashable],
    scale: bool = True,
    eps: float = 1e-8,
    *,
    mask: Array | None = None,
    check_values: bool = True,
) -> Array:
    """`group_relative_advantages` of every group of a ragged batch at once.

    rewards: `[N]`. group_ids: `[N]` integers or other hashable labels; members of a group need not be
    neighbours, groups may have any size, and a group of one gets 0.
    mask: `[N]`, 1 for members that count, as in `group_relative_advantages`; a group without any gets zeros.
    Returns `[N]`, in the library and on the device of `rewards`. The sums are taken on the host, in float64.
    Raises as `group_relative_advantages`, and ValueError when lengths differ.
    """
    scale, eps = boolean("scale", scale), real("eps", eps, low=0.0)
    backend = Backend(rewards, mask, check_values=check_values)
    given = backend.floats("rewards", rewards)
    require_shape("rewards", given, "N")
    active, is_mask = backend.mask("mask", mask, given.shape)
    backend.require(
        (is_mask, "mask must hold 0 and 1 only"),
        (backend.xp.isfinite(given) | ~active, "rewards must be finite"),
    )
    index, groups = _group_index(group_ids, given.shape[0])
    values = np.asarray(backend.to_host(given), dtype=np.float64)
    if mask is None:
        result = _centre(values, index, groups, eps if scale else None)
    else:
        chosen = backend.to_host(active)
        result = np.zeros_like(values)
        result[chosen] = _centre(values[chosen], index[chosen], groups, eps if scale else None)
    return backend.from_host(result, given.dtype)


def _centre(
    values: np.ndarray[Any, Any], index: np.ndarray[Any, Any], groups: int, eps: float | None
) -> np.ndarray[Any, Any]:
    """Centre, and scale unless `eps` is None, within each group. values, index: `[N]`."""
    # Measured from one member of the group, equal rewards are exact zeros.
    origin = np.empty(groups)
    origin[index] = values
    centred = values - origin[index]
    count = np.bincount(index, minlength=groups)
    count[count == 0] = 1
    centred -= (np.bincount(index, centred, groups) / count)[index]
    if eps is None:
        return np.asarray(centred)
    deviation = np.sqrt(np.bincount(index, centred * centred, groups) / count) + eps
    deviation[deviation == 0.0] = 1.0
    scaled: np.ndarray[Any, Any] = centred / deviation[index]
    return scaled


def _group_index(group_ids: Array | Sequence[Hashable], length: int) -> tuple[np.ndarray[Any, Any], int]:
    """Number the groups: the index `[N]` of each member's group, and an upper bound of the indices."""
    if isinstance(group_ids, (list, tuple)):
        labels = np.empty(len(group_ids), dtype=object)
        labels[:] = group_ids
        if all(type(label) is int for label in group_ids):
            labels = np.asarray(group_ids)
    else:
        labels = Backend(group_ids).to_host(group_ids)
    if labels.shape != (length,):
        raise ValueError(f"group_ids must have shape [{length}] like rewards, not {list(labels.shape)}")
    if labels.dtype.kind in "bfc" or any(isinstance(label, (bool, float)) for label in labels[:1].tolist()):
        raise TypeError("group_ids must hold integers or other labels, not booleans or floats")
    if labels.dtype.kind not in "iu":
        numbers: dict[Hashable, int] = {}
        return np.asarray([numbers.setdefault(label, len(numbers)) for label in labels.tolist()]), len(
            numbers
        )
    low, high = int(labels.min()), int(labels.max())
    if high - low < 2 * length + 1024:
        return (labels - low).astype(np.intp, copy=False), high - low + 1
    found, index = np.unique(labels, return_inverse=True)
    return index, len(found)
