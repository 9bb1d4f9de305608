"""What one token of each response weighs in the policy gradient, under three normalisations.

Each variant comes twice: ragged, one array per response, and padded `[G, T]` for arrays of any library. They
answer who decides the size of an update, a response or its tokens: GRPO shortens the weight of every token of
a long response, Dr. GRPO and DAPO do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rollouts._arrays import Array, Backend, require_same_shape, require_shape
from rollouts._parameters import integer
from rollouts.advantages import group_relative_advantages

__all__ = [
    "dapo_token_weights",
    "dr_grpo_token_weights",
    "original_grpo_token_weights",
    "padded_dapo_token_weights",
    "padded_dr_grpo_token_weights",
    "padded_original_grpo_token_weights",
    "response_contributions",
]

Ragged = list[np.ndarray[Any, np.dtype[np.float64]]]


def original_grpo_token_weights(rewards: Array, lengths: Array, *, eps: float = 1e-8) -> Ragged:
    """`A_i / (G * len_i)` for each token of response i: every response has the same say.

    Source: DeepSeekMath (arXiv 2402.03300); `A` by `group_relative_advantages`.
    rewards: `[G]`. lengths: `[G]`, in tokens. Returns one 1-D float64 array of `len_i` per response.
    Raises ValueError for empty, differently shaped or non-finite inputs and for lengths below 1; TypeError
    for lengths that are no integers.
    """
    rewards, lengths = _rewards_and_lengths(rewards, lengths)
    coefficients = group_relative_advantages(rewards, eps=eps) / (len(lengths) * lengths)
    return _spread(coefficients, lengths)


def dr_grpo_token_weights(rewards: Array, lengths: Array, *, fixed_length: int) -> Ragged:
    """`(r_i - mean) / (G * L)` for each token of response i: no length decides a token's say.

    Source: Dr. GRPO (arXiv 2503.20783). fixed_length: `L`, in tokens, the same for the whole run (usually the
    limit on a response). Shapes, result and errors as `original_grpo_token_weights`.
    """
    fixed_length = integer("fixed_length", fixed_length, low=1)
    rewards, lengths = _rewards_and_lengths(rewards, lengths)
    coefficients = group_relative_advantages(rewards, scale=False) / (len(lengths) * fixed_length)
    return _spread(coefficients, lengths)


def dapo_token_weights(rewards: Array, lengths: Array, *, scale_rewards: bool = True) -> Ragged:
    """`A_i / sum(len)` for each token of response i: every token of the group has the same say.

    Source: DAPO (arXiv 2503.14476). scale_rewards: divide by the group's standard deviation.
    Shapes, result and errors as `original_grpo_token_weights`.
    """
    rewards, lengths = _rewards_and_lengths(rewards, lengths)
    coefficients = group_relative_advantages(rewards, scale_rewards) / lengths.sum()
    return _spread(coefficients, lengths)


def padded_original_grpo_token_weights(
    rewards: Array, mask: Array, *, eps: float = 1e-8, check_values: bool = True
) -> Array:
    """`original_grpo_token_weights` as one padded array of any library.

    rewards: `[G]`. mask: `[G, T]`, 1 for the tokens of a response, anywhere in its row; at least one each.
    Returns `[G, T]`, exactly 0 where the mask is 0. Raises as the ragged twin.
    """
    backend, rewards, active, lengths = _rewards_and_mask(rewards, mask, check_values)
    advantages = group_relative_advantages(rewards, eps=eps, check_values=False)
    return _pad(backend, advantages / (lengths.shape[0] * lengths), active)


def padded_dr_grpo_token_weights(
    rewards: Array, mask: Array, *, fixed_length: int, check_values: bool = True
) -> Array:
    """`dr_grpo_token_weights` as one padded array; see `padded_original_grpo_token_weights`."""
    fixed_length = integer("fixed_length", fixed_length, low=1)
    backend, rewards, active, lengths = _rewards_and_mask(rewards, mask, check_values)
    advantages = group_relative_advantages(rewards, scale=False, check_values=False)
    return _pad(backend, advantages / (lengths.shape[0] * fixed_length), active)


def padded_dapo_token_weights(
    rewards: Array, mask: Array, *, scale_rewards: bool = True, check_values: bool = True
) -> Array:
    """`dapo_token_weights` as one padded array; see `padded_original_grpo_token_weights`."""
    backend, rewards, active, lengths = _rewards_and_mask(rewards, mask, check_values)
    advantages = group_relative_advantages(rewards, scale_rewards, check_values=False)
    return _pad(backend, advantages / backend.xp.sum(lengths), active)


def response_contributions(token_weights: Array | Ragged) -> Array:
    """The whole weight of each response: the sum over its tokens.

    token_weights: one 1-D array per response, or padded `[G, T]`. Returns `[G]`.
    Raises ValueError when there is no response, an array is not 1-D, or a weight is not finite.
    """
    if isinstance(token_weights, (list, tuple)):
        if not token_weights:
            raise ValueError("token_weights must hold at least one response")
        sums = []
        for weights in token_weights:
            row = Backend().floats("token_weights", weights)
            require_shape("token_weights", row, "T")
            sums.append(row.sum())
        result = np.asarray(sums)
        if not np.isfinite(result).all():
            raise ValueError("token_weights must be finite")
        return result
    backend = Backend(token_weights)
    weights = backend.floats("token_weights", token_weights)
    require_shape("token_weights", weights, "G", "T")
    result = backend.xp.sum(weights, axis=1)
    backend.require((backend.xp.isfinite(result), "token_weights must be finite"))
    return result


def _rewards_and_lengths(rewards: Array, lengths: Array) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    on_rewards, on_lengths = Backend(rewards), Backend(lengths)
    host_rewards = on_rewards.to_host(on_rewards.floats("rewards", rewards)).astype(np.float64)
    host_lengths = on_lengths.to_host(on_lengths.integers("lengths", lengths))
    require_shape("rewards", host_rewards, "G")
    require_same_shape("rewards", host_rewards, "lengths", host_lengths)
    if (host_lengths < 1).any():
        raise ValueError("lengths must be at least 1")
    return host_rewards, host_lengths


def _spread(coefficients: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any]) -> Ragged:
    return [np.full(length, value) for value, length in zip(coefficients, lengths, strict=True)]


def _rewards_and_mask(rewards: Array, mask: Array, check_values: bool) -> tuple[Backend, Array, Array, Array]:
    backend = Backend(rewards, mask, check_values=check_values)
    xp = backend.xp
    rewards = backend.floats("rewards", rewards)
    require_shape("rewards", rewards, "G")
    shape = getattr(mask, "shape", None) or np.shape(mask)
    if len(shape) != 2 or shape[0] != rewards.shape[0] or shape[1] == 0:
        raise ValueError(
            f"mask must be a non-empty [G, T] array with G = {rewards.shape[0]}, not {list(shape)}"
        )
    active, is_mask = backend.mask("mask", mask, tuple(shape))
    lengths = xp.count_nonzero(active, axis=1)
    backend.require(
        (is_mask, "mask must hold 0 and 1 only"),
        (lengths > 0, "mask must have an active token in every row"),
        (xp.isfinite(rewards), "rewards must be finite"),
    )
    return backend, rewards, active, xp.astype(lengths, rewards.dtype)


def _pad(backend: Backend, coefficients: Array, active: Array) -> Array:
    return backend.xp.where(active, coefficients[:, None], 0.0)
