"""Next-token distributions after one processor: temperature, top-k, top-p, min-p, and what cutting costs."""

from __future__ import annotations

import math
from typing import Any

from rollouts._arrays import Array, Backend
from rollouts._parameters import integer, real
from rollouts.log_probs import row_log_softmax

__all__ = [
    "min_p_distribution",
    "retained_mass_correction",
    "temperature_distribution",
    "top_k_distribution",
    "top_p_distribution",
]


def temperature_distribution(logits: Array, temperature: float, *, check_values: bool = True) -> Array:
    """`softmax(logits / T)`: flatter above 1, sharper below.

    logits: `[..., V]`, finite. temperature: above 0. Returns probabilities `[..., V]`.
    Raises ValueError for logits that are empty or not finite and for a temperature of 0 or less.
    """
    temperature = real("temperature", temperature, low=0.0, open_low=True)
    backend, logits = _checked_logits(logits, check_values)
    xp = backend.xp
    # Measured from the largest, and no further than can be divided: no finite input overflows.
    below = logits * 0.5 - xp.max(logits, axis=-1, keepdims=True) * 0.5
    limit = -float(xp.finfo(logits.dtype).max) * min(temperature, 1.0) / 4.0
    return xp.exp(row_log_softmax(xp, xp.where(below < limit, limit, below) / temperature * 2.0))


def top_k_distribution(logits: Array, k: int, *, check_values: bool = True) -> Array:
    """The k most likely tokens, renormalised; of equal ones the smaller ids. The rest is exactly 0.

    Source: Fan et al. (arXiv 1805.04833). logits: `[..., V]`, finite. k: within 1..V.
    Returns probabilities `[..., V]`. Raises ValueError for bad logits or k; TypeError for a k that is no
    integer.
    """
    backend, logits = _checked_logits(logits, check_values)
    k = integer("k", k, low=1, high=logits.shape[-1])
    return kept_softmax(backend.xp, logits, top_k_kept(backend.xp, logits, k))


def top_p_distribution(
    logits: Array, top_p: float, *, min_tokens_to_keep: int = 1, check_values: bool = True
) -> Array:
    """The nucleus: the fewest most likely tokens whose mass reaches `top_p`, renormalised.

    The token that reaches it stays. It counts as reached within 1e-12 (in narrower floats 8 epsilon), since
    the sum of the float probabilities may fall an ulp short. Ties: the smaller id goes first.
    Source: Holtzman et al. (arXiv 1904.09751). logits: `[..., V]`, finite. top_p: within (0, 1]; 1 keeps all.
    min_tokens_to_keep: within 1..V. Returns probabilities `[..., V]`, exactly 0 outside the nucleus.
    Raises ValueError for bad logits or parameters.
    """
    top_p = real("top_p", top_p, low=0.0, high=1.0, open_low=True)
    backend, logits = _checked_logits(logits, check_values)
    keep = integer("min_tokens_to_keep", min_tokens_to_keep, low=1, high=logits.shape[-1])
    return kept_softmax(backend.xp, logits, top_p_kept(backend.xp, logits, top_p, keep))


def min_p_distribution(
    logits: Array, min_p: float, *, min_tokens_to_keep: int = 1, check_values: bool = True
) -> Array:
    """Tokens at least `min_p` times as likely as the most likely one, renormalised; the rest is exactly 0.

    Source: Nguyen et al. (arXiv 2407.01082). logits: `[..., V]`, finite. min_p: within [0, 1]; 0 keeps all.
    The threshold counts as reached within a relative 1e-12 (in narrower floats 8 epsilon).
    min_tokens_to_keep: within 1..V, the most likely ones. Raises ValueError for bad logits or parameters.
    """
    min_p = real("min_p", min_p, low=0.0, high=1.0)
    backend, logits = _checked_logits(logits, check_values)
    keep = integer("min_tokens_to_keep", min_tokens_to_keep, low=1, high=logits.shape[-1])
    return kept_softmax(backend.xp, logits, min_p_kept(backend.xp, logits, min_p, keep))


def retained_mass_correction(base_logprob: float, retained_mass: float) -> tuple[float, float]:
    """Log-probability of a token after cutting and renormalising, and how much it gained.

    `(base_logprob - log(retained_mass), -log(retained_mass))`, in nats. A trainer that compares its full
    softmax with an engine's cut one sees this gain at every position: it multiplies along the response.
    base_logprob: of the token before cutting, at most 0. retained_mass: within (0, 1], and at least the
    token's own probability. Raises ValueError otherwise.
    """
    base_logprob = real("base_logprob", base_logprob, high=0.0)
    retained_mass = real("retained_mass", retained_mass, low=0.0, high=1.0, open_low=True)
    gain = -math.log(retained_mass)
    if base_logprob + gain > 1e-9:
        raise ValueError("retained_mass is smaller than the probability of the token that was kept")
    return base_logprob + gain, gain


def top_k_kept(xp: Any, logits: Array, k: int) -> Array:
    """Which tokens are the k most likely."""
    if k >= logits.shape[-1]:
        return xp.ones_like(logits, dtype=xp.bool)
    return _ranks(xp, _order(xp, logits)) < k


def top_p_kept(xp: Any, logits: Array, top_p: float, min_tokens_to_keep: int = 1) -> Array:
    """Which tokens are in the nucleus."""
    if top_p >= 1.0:
        return xp.ones_like(logits, dtype=xp.bool)
    order = _order(xp, logits)
    ordered = xp.exp(row_log_softmax(xp, xp.take_along_axis(logits, order, axis=-1)))
    mass_before = xp.cumulative_sum(ordered, axis=-1) - ordered
    places = xp.arange(logits.shape[-1], device=_device(logits))
    kept = (mass_before < top_p - _slack(xp, logits)) | (places < min_tokens_to_keep)
    return xp.take_along_axis(kept, _ranks(xp, order), axis=-1)


def min_p_kept(xp: Any, logits: Array, min_p: float, min_tokens_to_keep: int = 1) -> Array:
    """Which tokens are at least `min_p` times as likely as the most likely one."""
    if min_p == 0.0:
        return xp.ones_like(logits, dtype=xp.bool)
    below = logits - xp.max(logits, axis=-1, keepdims=True)
    kept = below >= math.log(min_p) - _slack(xp, logits)
    return kept if min_tokens_to_keep == 1 else kept | top_k_kept(xp, logits, min_tokens_to_keep)


def kept_softmax(xp: Any, logits: Array, kept: Array) -> Array:
    """Softmax over the kept tokens; exactly 0 elsewhere."""
    top = xp.max(xp.where(kept, logits, -xp.inf), axis=-1, keepdims=True)
    weights = xp.where(kept, xp.exp(xp.where(kept, logits - top, 0.0)), 0.0)
    return weights / xp.sum(weights, axis=-1, keepdims=True)


def _order(xp: Any, logits: Array) -> Array:
    """Ids from most to least likely; a stable sort leaves equal ones in the order of their ids."""
    return xp.argsort(-logits, axis=-1, stable=True)


def _ranks(xp: Any, order: Array) -> Array:
    """The place of each id in `order`: the inverse permutation."""
    return xp.argsort(order, axis=-1, stable=True)


def _slack(xp: Any, logits: Array) -> float:
    return max(1e-12, 8.0 * float(xp.finfo(logits.dtype).eps))


def _device(array: Array) -> Any:
    return getattr(array, "device", None)


def _checked_logits(logits: Array, check_values: bool) -> tuple[Backend, Array]:
    backend = Backend(logits, check_values=check_values)
    logits = backend.floats("logits", logits)
    if logits.ndim == 0 or 0 in logits.shape:
        raise ValueError(f"logits must be a non-empty [..., V] array, not shape {list(logits.shape)}")
    backend.require((backend.xp.isfinite(logits), "logits must be finite"))
    return backend, logits
