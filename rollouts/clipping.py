"""Clipped policy-gradient terms, per token (PPO, GRPO, DAPO) and per sequence (GSPO).

The ratio is always current policy over old policy, the one that generated the tokens (`generator_version`);
the reference policy never is its denominator.
"""

from __future__ import annotations

from typing import Any

from rollouts._arrays import Array, Backend, require_same_shape, require_shape
from rollouts._parameters import real

__all__ = ["clip_activity", "clipped_terms", "gspo_surrogate_term", "sequence_importance_ratio"]


def clipped_terms(
    ratios: Array,
    advantages: Array,
    eps_low: float = 0.2,
    eps_high: float | None = None,
    *,
    check_values: bool = True,
) -> Array:
    """`min(r * A, clip(r, 1 - eps_low, 1 + eps_high) * A)`, to be maximised.

    Sources: PPO (arXiv 1707.06347); an `eps_high` of its own is DAPO's Clip-Higher (arXiv 2503.14476).
    ratios, advantages: `[N]`; ratios above 0. eps_low: within [0, 1]. eps_high: None means `eps_low`.
    Returns `[N]`; never above `(1 + eps_high) * A` for A > 0 nor above `(1 - eps_low) * A` for A < 0.
    Raises ValueError for inputs that are not 1-D, empty, of different shapes or not finite, for ratios of 0
    or less, and for bounds out of range.
    """
    backend, ratios, advantages, low, high = _clip_inputs(ratios, advantages, eps_low, eps_high, check_values)
    return clipped(backend.xp, ratios, advantages, low, high)


def clip_activity(
    ratios: Array,
    advantages: Array,
    eps_low: float = 0.2,
    eps_high: float | None = None,
    *,
    check_values: bool = True,
) -> Array:
    """Where clipping holds the term of `clipped_terms` fast: its derivative by the ratio is 0 there.

    That is `A > 0` and `r > 1 + eps_high`, or `A < 0` and `r < 1 - eps_low`.
    Inputs and errors as `clipped_terms`. Returns booleans `[N]`.
    """
    _, ratios, advantages, low, high = _clip_inputs(ratios, advantages, eps_low, eps_high, check_values)
    return ((advantages > 0) & (ratios > 1.0 + high)) | ((advantages < 0) & (ratios < 1.0 - low))


def sequence_importance_ratio(
    new_logp: Array, old_logp: Array, mask: Array | None = None, *, check_values: bool = True
) -> Any:
    """`exp(mean(new_logp - old_logp))` over the active tokens: the geometric mean of the token ratios.

    Source: GSPO (arXiv 2507.18071), equation 7. It does not depend on the length of the response.
    new_logp, old_logp: `[T]`, in nats, of the sampled tokens under the current and the old policy.
    mask: `[T]`, 0 for tokens that are no actions; their log-probabilities may be NaN.
    Returns a float (a 0-d array of another library); beyond the largest float it stops there.
    Raises ValueError for inputs that are not 1-D, empty, of different shapes or not finite where active, and
    for a mask of other values than 0 and 1 or without an active token.
    """
    backend, log_ratio = _mean_log_ratio(new_logp, old_logp, mask, check_values)
    return backend.scalar(backend.exp(log_ratio))


def gspo_surrogate_term(  # noqa: PLR0913, PLR0917 - the signature of the course
    new_logp: Array,
    old_logp: Array,
    advantage: float,
    eps_low: float = 3e-4,
    eps_high: float = 4e-4,
    mask: Array | None = None,
    *,
    check_values: bool = True,
) -> Any:
    """GSPO's term for one response: the clipped term of `sequence_importance_ratio`, to be maximised.

    Source: GSPO (arXiv 2507.18071), equation 5; the default bounds are those of its section 5.
    advantage: one finite number. The rest as `sequence_importance_ratio` and `clipped_terms`.
    Returns a float (a 0-d array of another library). Raises as those two.
    """
    low, high = clip_bounds(eps_low, eps_high)
    if not hasattr(advantage, "shape"):
        advantage = real("advantage", advantage)
    backend, log_ratio = _mean_log_ratio(new_logp, old_logp, mask, check_values)
    weight = backend.xp.reshape(backend.floats("advantage", advantage), (-1,))
    if weight.shape != (1,):
        raise ValueError(f"advantage must be one number, not shape {list(weight.shape)}")
    backend.require((backend.xp.isfinite(weight), "advantage must be finite"))
    return backend.scalar(clipped(backend.xp, backend.exp(log_ratio), weight[0], low, high))


def clip_bounds(eps_low: float, eps_high: float | None) -> tuple[float, float]:
    """The two clip distances, checked."""
    low = real("eps_low", eps_low, low=0.0, high=1.0)
    return low, low if eps_high is None else real("eps_high", eps_high, low=0.0)


def clipped(xp: Any, ratios: Array, advantages: Array, eps_low: float, eps_high: float) -> Array:
    """The formula of `clipped_terms` on checked arrays that broadcast."""
    bounded = xp.clip(ratios, 1.0 - eps_low, 1.0 + eps_high)
    return xp.minimum(ratios * advantages, bounded * advantages)


def _clip_inputs(
    ratios: Array, advantages: Array, eps_low: float, eps_high: float | None, check_values: bool
) -> tuple[Backend, Array, Array, float, float]:
    low, high = clip_bounds(eps_low, eps_high)
    backend = Backend(ratios, advantages, check_values=check_values)
    xp = backend.xp
    ratios, advantages = backend.floats("ratios", ratios), backend.floats("advantages", advantages)
    require_shape("ratios", ratios, "N")
    require_same_shape("ratios", ratios, "advantages", advantages)
    backend.require(
        (xp.isfinite(ratios) & (ratios > 0), "ratios must be finite and above 0"),
        (xp.isfinite(advantages), "advantages must be finite"),
    )
    return backend, ratios, advantages, low, high


def _mean_log_ratio(
    new_logp: Array, old_logp: Array, mask: Array | None, check_values: bool
) -> tuple[Backend, Array]:
    backend = Backend(new_logp, old_logp, mask, check_values=check_values)
    xp = backend.xp
    new_logp, old_logp = backend.floats("new_logp", new_logp), backend.floats("old_logp", old_logp)
    require_shape("new_logp", new_logp, "T")
    require_same_shape("new_logp", new_logp, "old_logp", old_logp)
    active, is_mask = backend.mask("mask", mask, new_logp.shape)
    backend.require(
        (is_mask, "mask must hold 0 and 1 only"),
        (xp.any(active), "mask must have an active token"),
        (xp.isfinite(new_logp) | ~active, "new_logp must be finite where active"),
        (xp.isfinite(old_logp) | ~active, "old_logp must be finite where active"),
    )
    difference = xp.where(active, new_logp, 0.0) - xp.where(active, old_logp, 0.0)
    return backend, xp.sum(difference) / xp.sum(xp.astype(active, difference.dtype))
